"""Goal seek: which value of a parameter meets a target, or which of several is best."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping
from typing import Any, Literal

import pandas as pd

from convsim import _convsim
from convsim._results import warn_of
from convsim._scenario import Progress, Scenario
from convsim._words import replications_text, set_words, several, vary_text

Goal = Literal["largest", "smallest", "minimise", "maximise"]


class Solution:
    """An answer, with everything that was looked at on the way."""

    def __init__(self, document: dict[str, Any]) -> None:
        #: What ``convsim solve --format json`` prints.
        self.document = document

    @property
    def value(self) -> Any:
        """The value that was asked for, or the name of the best; None when there is no sure answer.

        With ``along`` a dictionary: the answer for each value of the other parameter.
        """
        if "searches" not in self.document:
            return self.document["chosen"]
        answers = {
            _number(each["along"]): _number(each["answer"]["meets"])
            for each in self.document["searches"]
        }
        return answers[None] if list(answers) == [None] else answers

    @property
    def looked_at(self) -> pd.DataFrame:
        """A row for each value or candidate: its figure with the interval, and its replications."""
        if "searches" not in self.document:
            return pd.DataFrame(
                {"name": each["name"], **_figure(each["mean"]), "replications": each["replications"]}
                for each in self.document["candidates"]
            )
        return pd.DataFrame(
            ({"along": _number(search["along"])} if self.document["along"] else {})
            | {"value": _number(point["value"]), **_figure(point["figure"])}
            | {"replications": point["replications"], "meets": point["meets"]}
            for search in self.document["searches"]
            for point in search["points"]
        )

    def __repr__(self) -> str:
        return f"<Solution: {self.value!r}>"


def _number(text: str | None) -> Any:
    """A number as a number, everything else, such as "40 ms", as it is."""
    for kind in (int, float):
        try:
            return None if text is None else kind(text)
        except ValueError:
            pass
    return text


def _figure(figure: dict[str, Any]) -> dict[str, Any]:
    return {"figure": figure["value"], "low": figure["low"], "high": figure["high"]}


def solve(
    scenario: Scenario | str | os.PathLike[str],
    goal: Goal,
    parameter: Mapping[str, Any] | None = None,
    *,
    target: str | None = None,
    metric: str | None = None,
    indifference: str | None = None,
    along: Mapping[str, Any] | None = None,
    set: Mapping[str, Any] | None = None,
    configurations: str | Iterable[str] | None = None,
    replications: int | tuple[int, int] | None = None,
    confidence: float | None = None,
    seed: int | None = None,
    horizon: str | None = None,
    threads: int | None = None,
    progress: Progress | None = None,
) -> Solution:
    """The value of a parameter that meets a target, or the best of several (``convsim solve``).

    :param goal: ``"largest"`` or ``"smallest"`` value that meets ``target``; or ``"minimise"`` or
        ``"maximise"`` the mean of ``metric``.
    :param parameter: one path with its values, such as ``{"orchagent.pop_batch_size": "32..4096"}``.
    :param target: such as ``"packet_loss_duration.p99<=2s"``.
    :param metric: with minimise and maximise: whose mean.
    :param indifference: with minimise and maximise: the difference that matters, ``"100 ms"``.
    :param along: another path with its values: an answer for each.
    :param configurations: where to start from; with minimise and maximise the candidates.
    :param replications: of the first look at a value, and the most that it gets; one number for both.
    :param confidence: how sure the whole answer is, between 0 and 1.

    >>> import convsim
    >>> found = convsim.solve("scenarios/chassis-packet-pop-batch.json", "largest",
    ...                       {"orchagent.pop_batch_size": [64, 128, 256, 512]},
    ...                       target="packet_loss_duration<=2s", replications=(20, 200))
    >>> found.value
    128
    """
    words = [f"--{goal}" if metric is None else f"--{goal}={metric}"]
    for option, axis in (("parameter", parameter), ("along", along)):
        words += [f"--{option}={vary_text(path, values)}" for path, values in (axis or {}).items()]
    changes: dict[str, Any] = {}
    if isinstance(scenario, Scenario):
        changes, scenario = scenario._changes, scenario.path
    fixed = {**(changes.get("set") or {}), **(set or {})}
    words += set_words(fixed)
    chosen = several(configurations) or several(changes.get("configurations"))
    words += [f"--configuration={name}" for name in chosen]
    options = {"target": target, "indifference": indifference, "seed": seed, "horizon": horizon}
    options["threads"] = threads
    if replications is not None:
        options["replications"] = replications_text(replications)
    if confidence is not None:
        options["confidence"] = f"{100 * confidence}%"
    words += [f"--{name}={value}" for name, value in options.items() if value is not None]
    words += ["--", os.fsdecode(scenario)]
    answer, failures = _convsim.solve(["convsim", "solve", *words], progress)
    warn_of(failures, stacklevel=2)
    return Solution(json.loads(answer))
