"""Scenarios, and what is done with them."""

from __future__ import annotations

import json
import operator
import os
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

import pandas as pd

from convsim import _convsim
from convsim._results import rows_frame, warn_of, with_interval
from convsim._timeline import Timeline
from convsim._words import run_words, several

#: Called now and then with the replications done and the replications in all.
Progress = Callable[[int, int], object]


class Scenario:
    """A scenario file with changes. It never changes: :meth:`set` gives another one.

    Made by :func:`load`. A change reads the file again, so that what is wrong is shown in its lines.
    """

    def __init__(
        self,
        path: str | os.PathLike[str],
        changes: dict[str, Any],
        folder: str | None = None,
    ) -> None:
        name = os.fsdecode(path)
        #: Where a relative path starts from: the program may go to other folders later.
        self._folder = os.getcwd() if folder is None else folder
        self._name = name
        self._changes = changes
        self._loaded = _convsim.load(["convsim", "run", *run_words(self._path, **changes)])

    @property
    def _path(self) -> str:
        """The file, called as it was at first as long as that means the same."""
        moved = os.getcwd() != self._folder
        return os.path.join(self._folder, self._name) if moved else self._name

    def __repr__(self) -> str:
        points = len(self._loaded)
        return f"<Scenario {self.name!r}: {points} points x {self.replications} replications>"

    def __reduce__(self) -> tuple[Any, ...]:
        return (Scenario, (os.path.join(self._folder, self._name), self._changes))

    def set(self, path: str, value: Any) -> Scenario:
        """The scenario with a parameter set in every configuration, as ``--set path=value`` does.

        :param path: such as ``orchagent.pop_batch_size`` or ``run.seed``.
        :param value: a number, a text with its unit (``"40 ms"``), a list, a dictionary.

        >>> import convsim
        >>> scenario = convsim.load("scenarios/chassis-packet-pop-batch.json")
        >>> slower = scenario.set("orchagent.teamd.reaction", "80 ms").set("run.seed", 2)
        >>> slower.seed, scenario.seed
        (2, 1)
        """
        fixed = dict(self._changes.get("set") or {})
        fixed.pop(path, None)
        return self._changed(set={**fixed, path: value})

    def _changed(self, **changes: Any) -> Scenario:
        wanted = {name: value for name, value in changes.items() if value is not None}
        if not wanted:
            return self
        if "set" in wanted:
            wanted["set"] = {**(self._changes.get("set") or {}), **wanted["set"]}
        return Scenario(self._name, {**self._changes, **wanted}, self._folder)

    @property
    def path(self) -> Path:
        """The file it was read from."""
        return Path(self._path)

    @property
    def files(self) -> list[Path]:
        """Every file it was read from: that one, those it extends, recordings."""
        return [Path(file) for file in self._loaded.files]

    @property
    def name(self) -> str:
        """Its name."""
        return self._loaded.name

    @property
    def description(self) -> str:
        """What question it answers."""
        return self._loaded.description

    @property
    def sources(self) -> list[str]:
        """Where its figures come from."""
        return self._loaded.sources

    @property
    def warnings(self) -> list[str]:
        """Legal but hopeless settings, a sentence each."""
        return self._loaded.warnings

    @property
    def seed(self) -> int:
        """The master seed of all random streams."""
        return self._loaded.seed

    @property
    def replications(self) -> int:
        """Replications of each point; with a stopping rule, the fewest."""
        return self._loaded.replications

    @property
    def confidence(self) -> float:
        """Confidence of its intervals."""
        return self._loaded.confidence

    @property
    def configurations(self) -> list[str]:
        """Names of its points: the configurations, then the grid of the sweep."""
        return self._loaded.configurations

    @property
    def resolved(self) -> dict[str, Any]:
        """The whole file after ``extends`` and changes."""
        return json.loads(self._loaded.resolved())

    @property
    def metrics(self) -> pd.DataFrame:
        """A row for each metric: ``unit``, whether it is a ``headline``, the metric that it is a
        ``part_of``, and what it means (``summary``)."""
        columns = ["metric", "unit", "headline", "part_of", "summary"]
        return pd.DataFrame(self._loaded.metrics(), columns=columns).set_index("metric")

    def _plan(self) -> dict[str, Any]:
        return json.loads(self._loaded.plan())


def load(
    path: str | os.PathLike[str],
    *,
    set: Mapping[str, Any] | None = None,
    configurations: str | Iterable[str] | None = None,
    max_points: int | None = None,
) -> Scenario:
    """Reads and validates a scenario file.

    :param path: the file.
    :param set: parameters to set in every configuration, by path.
    :param configurations: only these, without the file's sweep.
    :param max_points: refuse a scenario with more points than this, instead of 100,000.
    :raises ScenarioError: with everything that is wrong, as the command line prints it.

    >>> import convsim
    >>> convsim.load("scenarios/dvr-arp-batch.json")
    <Scenario 'dvr-arp-batch': ... points x ... replications>
    >>> convsim.load("scenarios/dvr-arp-batch.json", set={"run.replications": 0})
    Traceback (most recent call last):
    ...
    convsim.ScenarioError: ...
    """
    changes: dict[str, Any] = {}
    if set:
        changes["set"] = dict(set)
    if configurations is not None:
        changes["configurations"] = several(configurations)
    if max_points is not None:
        changes["max_points"] = max_points
    return Scenario(path, changes)


def _scenario(scenario: Scenario | str | os.PathLike[str], **changes: Any) -> Scenario:
    """The scenario with changes; they are checked together, so that one does not need another."""
    if isinstance(scenario, Scenario):
        return scenario._changed(**changes)
    wanted = {name: value for name, value in changes.items() if value is not None}
    return Scenario(scenario, wanted)


def plan(
    scenario: Scenario | str | os.PathLike[str],
    *,
    vary: Mapping[str, Any] | None = None,
    design: str | None = None,
    where: str | Iterable[str] | None = None,
    set: Mapping[str, Any] | None = None,
    configurations: str | Iterable[str] | None = None,
    max_points: int | None = None,
) -> pd.DataFrame:
    """Every point that would be run, with the parameters in which they differ (``convsim plan``).

    >>> import convsim
    >>> points = convsim.plan("scenarios/chassis-packet-pop-batch.json", configurations="pop 1024",
    ...                       vary={"orchagent.flap.count": "2..14:linear:4"})
    >>> points["orchagent.flap.count"].tolist()
    [14, 2, 6, 10, 14]
    """
    scenario = _scenario(
        scenario, vary=vary, design=design, where=where, set=set, configurations=configurations,
        max_points=max_points,
    )  # fmt: skip
    points = [
        {"point": point["id"], "configuration": point["configuration"], "note": point["note"]}
        | point["parameters"]
        for point in scenario._plan()["points"]
    ]
    return pd.DataFrame(points)


def run(
    scenario: Scenario | str | os.PathLike[str],
    *,
    vary: Mapping[str, Any] | None = None,
    design: str | None = None,
    where: str | Iterable[str] | None = None,
    set: Mapping[str, Any] | None = None,
    configurations: str | Iterable[str] | None = None,
    replications: int | tuple[int, int] | None = None,
    until: str | None = None,
    seed: int | None = None,
    horizon: str | None = None,
    max_points: int | None = None,
    threads: int | None = None,
    progress: Progress | None = None,
) -> pd.DataFrame:
    """Runs every configuration of a scenario: a row for each and replication (``convsim run``).

    The columns are those of ``results.csv``, in its order, with its values; a figure that did not
    come about is NaN. ``fingerprint`` is a number, and swept parameters are columns named by their
    paths. Results are only returned: no file is written.

    :param scenario: a scenario or the path of its file.
    :param vary: swept parameters by path: a list of values or a range such as ``"32..4096:log2"``;
        several paths with a comma between them advance together through as many lists.
    :param design: fill the space of ranges instead of a grid: ``"sobol:64"``.
    :param where: leave out points of the sweep that do not meet a condition.
    :param set: parameters to set in every configuration, by path.
    :param configurations: only these, without the file's sweep.
    :param replications: of each point; with ``until`` a pair, the fewest and the most.
    :param until: more replications until a figure is known so well: ``"convergence_time.p95<=2%"``.
    :param seed: master seed of all random streams.
    :param horizon: virtual time at which a replication ends, such as ``"300 s"``.
    :param max_points: refuse a scenario with more points than this, instead of 100,000.
    :param threads: worker threads; all processors by default. Results do not depend on it.
    :param progress: called now and then with the replications done and in all.
    :raises ScenarioError: for what is wrong with the scenario or a change.

    >>> import convsim
    >>> rows = convsim.run("scenarios/chassis-packet-pop-batch.json", configurations="pop 1024",
    ...                    vary={"orchagent.pop_batch_size": [128, 1024]}, replications=30)
    >>> by_size = rows.groupby("orchagent.pop_batch_size")["packet_loss_duration"].mean()
    >>> bool(by_size[1024] > 5 * by_size[128])
    True
    """
    scenario = _scenario(
        scenario, vary=vary, design=design, where=where, set=set, configurations=configurations,
        replications=replications, until=until, seed=seed, horizon=horizon, max_points=max_points,
        threads=threads,
    )  # fmt: skip
    loaded = scenario._loaded
    columns = loaded.run(loaded.threads, progress)
    warn_of(columns["failures"], stacklevel=2)
    frame = rows_frame(columns, json.loads(loaded.points()))
    frame.attrs |= {
        "scenario": loaded.name, "confidence": loaded.confidence, "group": loaded.group,
        "probabilities": [name for name, unit, *_ in loaded.metrics() if unit == "probability"],
    }  # fmt: skip
    return frame


def check(
    scenario: Scenario | str | os.PathLike[str],
    *,
    set: Mapping[str, Any] | None = None,
    replications: int | None = None,
    seed: int | None = None,
    horizon: str | None = None,
    threads: int | None = None,
    progress: Progress | None = None,
) -> pd.DataFrame:
    """Runs what the scenario's expectations need and judges them (``convsim check``).

    A row for each expectation: what is expected, the figure (``value``) with its interval (``low``,
    ``high``), and the ``verdict``: held, missed, undecided, or skipped when its configuration is not
    run. Bounds and figures are in the metric's unit.

    >>> import convsim
    >>> convsim.check("scenarios/chassis-packet-pop-batch.json")["verdict"].unique().tolist()
    ['held']
    """
    scenario = _scenario(
        scenario, set=set, replications=replications, seed=seed, horizon=horizon, threads=threads
    )
    entries, failures = scenario._loaded.check(scenario._loaded.threads, progress)
    warn_of(failures, stacklevel=2)
    return pd.DataFrame(entries)


def compare(
    scenario: Scenario | str | os.PathLike[str],
    first: str,
    second: str,
    *,
    metrics: str | Iterable[str] | None = None,
    set: Mapping[str, Any] | None = None,
    replications: int | None = None,
    seed: int | None = None,
    horizon: str | None = None,
    threads: int | None = None,
    progress: Progress | None = None,
) -> pd.DataFrame:
    """Two configurations on common random numbers (``convsim compare``).

    A row for each headline metric, or each of ``metrics``: the means ``first`` and ``second``, their
    ``difference`` (the second less the first) and ``ratio`` over pairs of replications, each with
    its interval, and ``p_value``, corrected for the number of metrics (Holm). ``cut`` is how many
    replications of both were cut off, at the horizon or by the event budget, before the figure was
    final: then the figures are NaN, and the intervals are bounds of what whole replications have.

    >>> import convsim
    >>> table = convsim.compare("scenarios/chassis-packet-pop-batch.json", "pop 1024", "pop 128",
    ...                         replications=50).set_index("metric")
    >>> bool(table.loc["packet_loss_duration", "ratio_high"] < 0.2)
    True
    """
    scenario = _scenario(
        scenario, set=set, replications=replications, seed=seed, horizon=horizon, threads=threads
    )
    chosen = None if metrics is None else several(metrics)
    loaded = scenario._loaded
    compared, failures = loaded.compare(first, second, chosen, loaded.threads, progress)
    warn_of(failures, stacklevel=2)
    rows = []
    for metric, (pairs, cut), a, b, difference, ratio, p_value in compared:
        entry: dict[str, Any] = {"metric": metric, "pairs": pairs}
        for name, figure in zip(
            ("first", "second", "difference", "ratio"), (a, b, difference, ratio), strict=True
        ):
            entry |= with_interval(name, figure)
        rows.append(entry | {"p_value": p_value, "cut": cut})
    return pd.DataFrame(rows)


def trace(
    scenario: Scenario | str | os.PathLike[str],
    configuration: str | None = None,
    replication: int = 0,
    *,
    set: Mapping[str, Any] | None = None,
) -> Timeline:
    """One replication with a record of what happened when (``convsim trace``).

    :param configuration: its name; the first by default.
    :param replication: which, counted from 0.

    >>> import convsim
    >>> convsim.trace("scenarios/chassis-packet-pop-batch.json", "pop 1024")
    <Timeline of replication 0 of 'pop 1024': converged>
    """
    # A NumPy integer is one, too.
    replication = operator.index(replication)
    if not 0 <= replication < 1 << 64:
        raise ValueError(f"replication is {replication}: they are counted from 0")
    scenario = _scenario(scenario, set=set)
    traced = scenario._loaded.trace(configuration, replication)
    warn_of(traced.failures, stacklevel=2)
    return Timeline(traced)
