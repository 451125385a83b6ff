"""Predicts how long a network control plane takes to converge, and how often its clients time out.

A scenario file goes in, a :class:`pandas.DataFrame` with a row for each configuration and
replication comes out; the figures are those of the command line, bit for bit.

>>> import convsim
>>> scenario = convsim.load("scenarios/chassis-packet-pop-batch.json")
>>> rows = convsim.run(scenario, configurations=["pop 1024", "pop 128"], replications=20)
>>> len(rows)
40
>>> rows.groupby("configuration", observed=True)["packet_loss_duration"].mean().round(0).to_dict()
{'pop 1024': 11.0, 'pop 128': 2.0}

Everything that is run can be stopped with Ctrl-C, runs on all processors, and lets other Python
threads go on. What is wrong is raised as :class:`ConvsimError` with the text of the command line: as
a :class:`ScenarioError`, which has the places as well, when it is in a file or in a change to one.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from convsim._convsim import ConvsimError, ScenarioError, __version__

if TYPE_CHECKING:
    from convsim._results import ModelFailureWarning, summary
    from convsim._scenario import Scenario, check, compare, load, plan, run, trace
    from convsim._solve import Solution, solve
    from convsim._timeline import Timeline

__all__ = [
    "ConvsimError",
    "ModelFailureWarning",
    "Scenario",
    "ScenarioError",
    "Solution",
    "Timeline",
    "__version__",
    "check",
    "compare",
    "load",
    "plan",
    "run",
    "solve",
    "summary",
    "trace",
]

#: Where the rest is. It needs pandas, which takes longer to import than the command line to answer.
_WHERE = {
    "_results": ("ModelFailureWarning", "summary"),
    "_scenario": ("Scenario", "check", "compare", "load", "plan", "run", "trace"),
    "_solve": ("Solution", "solve"),
    "_timeline": ("Timeline",),
}


def __getattr__(name: str) -> Any:
    for module, names in _WHERE.items():
        if name in names:
            value = getattr(import_module(f"convsim.{module}"), name)
            globals()[name] = value
            return value
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
