"""From Python values to the words of the command line, which say what is run."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

# A text that means itself on the command line: no JSON, no comma, no range.
_PLAIN = re.compile(r"[A-Za-z0-9_.][A-Za-z0-9_. /%-]*")
_JSON_WORDS = {"true", "false", "null"}


def value_text(value: Any) -> str:
    """``value`` as it is written after ``path=``.

    >>> value_text(128), value_text("40 ms"), value_text([1, 2])
    ('128', '40 ms', '[1, 2]')
    >>> value_text({"distribution": "constant", "value": "1 s"})
    '{"distribution": "constant", "value": "1 s"}'
    """
    if isinstance(value, str) and _means_itself(value):
        return value
    try:
        return json.dumps(value, allow_nan=False, ensure_ascii=False, default=_plain)
    except ValueError:
        raise ValueError(f"{value!r} has no text in a scenario: numbers are finite") from None


def _means_itself(text: str) -> bool:
    if not _PLAIN.fullmatch(text) or text in _JSON_WORDS or ".." in text:
        return False
    try:
        float(text)
    except ValueError:
        return not text.lower().startswith("0x")
    return False


def _plain(value: Any) -> Any:
    """What JSON knows of a NumPy scalar or array."""
    for method in ("tolist", "item"):
        if hasattr(value, method):
            return getattr(value, method)()
    raise TypeError(f"{value!r} is no value of a scenario: use numbers, texts, lists, dictionaries")


def axis_text(values: Any) -> str:
    """The values of a swept parameter as they are written after ``path=``.

    >>> axis_text("32..4096:log2"), axis_text([32, 64]), axis_text(range(3))
    ('32..4096:log2', '32,64', '0,1,2')
    """
    if isinstance(values, str):
        return values
    if not isinstance(values, Iterable) or isinstance(values, Mapping):
        raise TypeError(f"{values!r} is no list of values, and no range such as '32..4096:log2'")
    return ",".join(value_text(value) for value in values)


def vary_text(path: str, values: Any) -> str:
    """``path=values`` of a swept parameter, or of several that advance together.

    >>> vary_text("o.batch", [32, 64])
    'o.batch=32,64'
    >>> vary_text("o.batch,o.era", [[32, 64], ["b1", "b2"]])
    'o.batch,o.era=32,64;b1,b2'
    """
    with _named(path):
        if "," in path and not isinstance(values, str):
            return f"{path}=" + ";".join(axis_text(each) for each in values)
        return f"{path}={axis_text(values)}"


@contextmanager
def _named(path: str) -> Iterator[None]:
    """Says at which path a value was refused."""
    try:
        yield
    except (TypeError, ValueError) as error:
        raise type(error)(f"{path}: {error}") from None


def set_words(values: Mapping[str, Any]) -> list[str]:
    """The words that fix parameters.

    >>> set_words({"o.batch": 2})
    ['--set=o.batch=2']
    """
    words = []
    for path, value in values.items():
        with _named(path):
            words.append(f"--set={path}={value_text(value)}")
    return words


def replications_text(replications: int | Sequence[int]) -> str:
    """A number of replications, or the fewest and the most.

    >>> replications_text(20), replications_text((20, 200))
    ('20', '20..200')
    """
    if isinstance(replications, str) or not isinstance(replications, Sequence):
        return str(replications)
    if len(replications) != 2:
        raise ValueError(
            f"replications are {replications!r}: give a number, or the fewest and the most"
        )
    return "{}..{}".format(*replications)


def several(texts: str | Iterable[str] | None) -> list[str]:
    """One text, several, or none, as a list."""
    if texts is None:
        return []
    return [texts] if isinstance(texts, str) else list(texts)


def run_words(
    path: str | os.PathLike[str],
    *,
    set: Mapping[str, Any] | None = None,
    vary: Mapping[str, Any] | None = None,
    design: str | None = None,
    where: str | Iterable[str] | None = None,
    configurations: str | Iterable[str] | None = None,
    replications: int | tuple[int, int] | None = None,
    until: str | None = None,
    seed: int | None = None,
    horizon: str | None = None,
    threads: int | None = None,
    max_points: int | None = None,
) -> list[str]:
    """The words of ``convsim run`` that ask for this.

    >>> run_words("a.json", set={"o.batch": 2}, vary={"o.x": [1, 2]}, replications=(10, 100))
    ['--set=o.batch=2', '--vary=o.x=1,2', '--replications=10..100', 'a.json']
    """
    words = set_words(set or {})
    words += [f"--vary={vary_text(name, values)}" for name, values in (vary or {}).items()]
    words += [f"--design={design}"] if design else []
    words += [f"--where={condition}" for condition in several(where)]
    words += [f"--configuration={name}" for name in several(configurations)]
    if replications is not None:
        words.append(f"--replications={replications_text(replications)}")
    options = {"until": until, "seed": seed, "horizon": horizon, "threads": threads}
    options["max-points"] = max_points
    words += [f"--{name}={value}" for name, value in options.items() if value is not None]
    # A file whose name begins with a hyphen is still a file.
    name = os.fsdecode(path)
    return [*words, *(["--"] if name.startswith("-") else []), name]
