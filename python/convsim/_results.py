"""Rows as data frames."""

from __future__ import annotations

import difflib
import json
import warnings
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import pandas as pd

from convsim import _convsim
from convsim._convsim import ConvsimError

#: Columns before the metrics, as in ``results.csv``; swept parameters come after ``configuration``.
FIRST_COLUMNS = (
    "point", "configuration", "replication", "status", "end_time", "events", "fingerprint",
)  # fmt: skip
#: Columns after the metrics.
LAST_COLUMNS = ("message", "precision_reached")
# How a replication ends that was cut off.
CUT_OFF = ("horizon", "event_budget")


class ModelFailureWarning(UserWarning):
    """A model failed in some replications; their rows say how, the others stand."""


def warn_of(failures: tuple[int, int, str] | None, *, stacklevel: int) -> None:
    """Says what failed, whenever the command line would end with code 3."""
    if failures is None:
        return
    failed, count, first = failures
    text = f"a model failed in {failed} of {count} replications, first in {first}"
    warnings.warn(text, ModelFailureWarning, stacklevel=stacklevel + 1)


def rows_frame(columns: dict[str, Any], points: list[list[Any]]) -> pd.DataFrame:
    """The frame of a run; every column is an array that came as a whole.

    :param points: of each its identity, its name and the values that are swept, by path.
    """
    ids, names, swept = zip(*points, strict=True) if points else ((), (), ())
    point = columns["point"]
    count = len(point)
    data: dict[str, Any] = {
        "point": _labels(point, ids),
        "configuration": _labels(point, names),
    }
    for path in dict.fromkeys(path for axes in swept for path in axes):
        values = _axis_values([axes.get(path) for axes in swept])
        data[path] = values[point]
    data["replication"] = columns["replication"]
    data["status"] = pd.Categorical.from_codes(columns["status"], columns["statuses"])
    for name in ("end_time", "events", "fingerprint"):
        data[name] = columns[name]
    data.update(columns["figures"])
    messages = np.full(count, None, dtype=object)
    for row, text in columns["messages"]:
        messages[row] = text
    reached = np.empty(len(points), dtype=object)
    reached[:] = columns["reached"]
    data |= dict(zip(LAST_COLUMNS, (messages, reached[point]), strict=True))
    return pd.DataFrame(data, copy=False)


def _labels(codes: np.ndarray, names: Sequence[str]) -> pd.Categorical:
    """Two points may have one name, or be the same."""
    known = list(dict.fromkeys(names))
    if len(known) < len(names):
        codes = np.array([known.index(name) for name in names])[codes]
    return pd.Categorical.from_codes(codes, known)


def _axis_values(values: list[Any]) -> np.ndarray:
    """Numbers as numbers, everything else as it is written in the file."""
    present = [value for value in values if value is not None]
    if present and all(type(value) in (int, float) for value in present):
        if len(present) == len(values):
            return np.array(values)
        return np.array([np.nan if value is None else value for value in values], dtype=float)
    if present and all(type(value) is bool for value in values):
        return np.array(values)
    texts = np.empty(len(values), dtype=object)
    texts[:] = [v if v is None or isinstance(v, str) else json.dumps(v) for v in values]
    return texts


def summary(
    rows: pd.DataFrame,
    metrics: str | Iterable[str] | None = None,
    *,
    by: str | list[str] = "configuration",
    confidence: float | None = None,
    group: int | None = None,
) -> pd.DataFrame:
    """Figures over the replications, with their intervals: those of ``summary.csv``, to the bit,
    except where replications were cut off at the horizon or by the event budget. Their figures are
    of what had happened until then; ``summary.csv`` takes them as bounds, this function as they
    are, with a warning.

    How the rows were run stands in ``rows.attrs``, where :func:`run` puts it: the confidence of the
    scenario, and how many replications belong together. Some operations of pandas lose it, such as
    :meth:`~pandas.DataFrame.merge`; a warning then says what is taken instead.

    A row for each group of ``by`` and metric; the columns are ``count`` (replications that have
    the figure), ``mean`` with ``mean_low`` and ``mean_high`` (Student's t; Wilson for a metric that is
    0 or 1 in each replication, of which ``rows.attrs`` has the names), ``standard_deviation``,
    ``min``, ``p50``, ``p95``, ``p99`` with ``_low`` and ``_high`` (order statistics; infinite where
    there are too few replications for that end), ``max``.

    :param rows: what :func:`run` gave, or some of its rows.
    :param metrics: names of columns; all metrics by default.
    :param by: what tells the groups apart.
    :param confidence: of all intervals, between 0 and 1; that of the scenario by default.
    :param group: how many successive replications belong together: 2 for antithetic pairs.
    :raises ConvsimError: if the rows lack a column that is asked for.

    >>> import convsim
    >>> rows = convsim.run("scenarios/chassis-packet-pop-batch.json", replications=50,
    ...                    configurations="pop 128")
    >>> figures = convsim.summary(rows, "packet_loss_duration").iloc[0]
    >>> bool(figures["mean_low"] < figures["mean"] < figures["mean_high"])
    True
    """
    confidence = _as_run(rows, "confidence", confidence, 0.95)
    # Replications in antithetic pairs: the pairs are independent, not the two of a pair.
    group = _as_run(rows, "group", group, 1)
    if not 0 < confidence < 1:
        raise ValueError(f"confidence is {confidence}: allowed is above 0 and below 1")
    if metrics is None:
        first = list(rows.columns).index("fingerprint") + 1
        metrics = [name for name in rows.columns[first:] if name not in LAST_COLUMNS]
    elif isinstance(metrics, str):
        metrics = [metrics]
    probabilities = rows.attrs.get("probabilities", ())
    _warn_of_cut_rows(rows)
    entries = []
    metrics, keys = list(metrics), [by] if isinstance(by, str) else list(by)
    for name in [*metrics, *keys]:
        if name not in rows.columns:
            raise ConvsimError(_unknown(name, [str(column) for column in rows.columns]))
    for names, part in rows.groupby(keys, observed=True, sort=False):
        for metric in metrics:
            values = part[metric].to_numpy(dtype=np.float64)
            entry = dict(zip(keys, names, strict=True)) | {"metric": metric}
            entries.append(entry | _figures(values, confidence, group, metric in probabilities))
    return pd.DataFrame(entries)


def _warn_of_cut_rows(rows: pd.DataFrame) -> None:
    if "status" not in rows.columns:
        return
    cut = int(rows["status"].isin(CUT_OFF).sum())
    if cut:
        text = (
            f"{cut} of {len(rows)} rows were cut off (status horizon or event_budget): what had not "
            "settled by then is a bound at best, and figures over it too; summary.csv and the "
            "command line mark it, a later horizon tells"
        )
        warnings.warn(text, UserWarning, stacklevel=3)


def _unknown(name: object, columns: list[str]) -> str:
    near = difflib.get_close_matches(str(name), columns, 1)
    hint = f'did you mean "{near[0]}"? ' if near else ""
    return f'the rows have no column "{name}": {hint}there are {", ".join(columns)}'


def _as_run(rows: pd.DataFrame, what: str, asked: Any, otherwise: Any) -> Any:
    """What is asked for, or else how the rows were run."""
    if asked is not None:
        return asked
    if what not in rows.attrs:
        text = (
            f"the rows do not say how they were run: {what}={otherwise} is taken; give it to summary, "
            "or keep rows.attrs of what run gave"
        )
        warnings.warn(text, UserWarning, stacklevel=3)
    return rows.attrs.get(what, otherwise)


def _figures(
    values: np.ndarray, confidence: float, together: int, probability: bool
) -> dict[str, float]:
    figures = _convsim.summarise(values, confidence, together, probability)
    count, mean, deviation, least, p50, p95, p99, most = figures
    return {
        "count": count,
        **with_interval("mean", mean),
        "standard_deviation": deviation,
        "min": least,
        **with_interval("p50", p50),
        **with_interval("p95", p95),
        **with_interval("p99", p99),
        "max": most,
    }


def with_interval(name: str, figure: list[float]) -> dict[str, float]:
    """A figure with both ends of its interval as three columns."""
    value, low, high = figure
    return {name: value, f"{name}_low": low, f"{name}_high": high}
