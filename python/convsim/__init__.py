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
threads go on. What is wrong is raised as :class:`ScenarioError`, with the text of the command line.
"""

from convsim._convsim import ConvsimError, ScenarioError, __version__
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
