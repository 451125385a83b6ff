"""The extension module: plain values. Use the package ``convsim``, which makes frames of them."""

from collections.abc import Callable, Mapping, Sequence
from os import PathLike
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

__version__: str

_Progress = Callable[[int, int], object] | None
_Figure = list[float]
_Entry = tuple[str, str, str, float, float, float]
#: How many replications failed, of how many, and what became of the first of them.
_Failures = tuple[int, int, str] | None

class ConvsimError(Exception): ...

class ScenarioError(ConvsimError):
    problems: list[dict[str, str]]

def execute(
    words: Sequence[str], signals: bool = False, files: Mapping[str, bytes] | None = None
) -> tuple[int, str]: ...
def load(words: Sequence[str]) -> Loaded: ...
def solve(words: Sequence[str], progress: _Progress = None) -> tuple[str, _Failures]: ...
def summarise(
    values: NDArray[np.float64], confidence: float, group: int, probability: bool
) -> tuple[int, _Figure, float, float, _Figure, _Figure, _Figure, float]: ...

@final
class Loaded:
    name: str
    description: str
    sources: list[str]
    warnings: list[str]
    files: list[PathLike[str]]
    seed: int
    replications: int
    confidence: float
    group: int
    threads: int
    configurations: list[str]
    def __len__(self) -> int: ...
    def resolved(self) -> str: ...
    def points(self) -> str: ...
    def plan(self) -> str: ...
    def metrics(self) -> list[tuple[str, str, bool, str | None, str]]: ...
    def run(self, threads: int, progress: _Progress = None) -> dict[str, Any]: ...
    def check(
        self, threads: int, progress: _Progress = None
    ) -> tuple[list[dict[str, Any]], _Failures]: ...
    def compare(
        self,
        first: str,
        second: str,
        metrics: list[str] | None,
        threads: int,
        progress: _Progress = None,
    ) -> tuple[
        list[tuple[str, list[int], _Figure, _Figure, _Figure, _Figure, float]], _Failures
    ]: ...
    def trace(self, configuration: str | None, replication: int) -> Trace: ...
    def refuse_others(self, folder: str | PathLike[str]) -> None: ...
    def has_part(self, folder: str | PathLike[str], part: str) -> bool: ...

@final
class Trace:
    status: str
    configuration: str
    replication: int
    failures: _Failures
    def spans(self) -> list[_Entry]: ...
    def instants(self) -> list[_Entry]: ...
    def levels(self) -> list[_Entry]: ...
    def text(self) -> str: ...
    def explain(self, chains: int) -> str: ...
    def write_chrome(self, path: str | PathLike[str]) -> None: ...
