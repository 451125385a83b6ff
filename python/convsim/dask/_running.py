"""Parts on the workers of a Dask cluster, until each is here or has failed for good."""

from __future__ import annotations

import queue
import sys
import time
import uuid
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from distributed import Client, Future, KilledWorker

from convsim import ConvsimError, _convsim
from convsim.dask._task import PartError, travelling
from convsim.dask._workers import UnfitWorkers, how_to_install

if TYPE_CHECKING:
    from convsim.dask._sweep import Sweep

#: A scheduler that has not answered for so long is taken for lost, in seconds.
PATIENCE = 30.0
#: How often a quiet scheduler is asked whether it is there, in seconds.
ASK = 5.0
#: Files up to this many bytes travel with each part. Beyond, they are a task of their own, that parts
#: depend on: Dask then prefers the workers that have them, which spreads parts less evenly.
CARRIED = 1 << 16
#: A worker on which so many different parts failed is given none of them again while there are others:
#: it is the worker that is at fault, such as one with a full disk.
UNFIT = 3


class SchedulerLost(ConvsimError):
    """The scheduler went away; what had come back is kept."""


@dataclass
class Part:
    """A part on its way."""

    number: int
    #: How often it was given out.
    given: int = 0
    #: How often it failed, and on which workers as far as is known.
    failures: int = 0
    failed_on: set[str] = field(default_factory=set)
    #: How it failed the last time, in a line.
    last: str = ""
    #: The only workers that may have it; all if none are named.
    only: set[str] = field(default_factory=set)
    #: Since when none of these is there, if so.
    stranded: float | None = None


class Running:
    """Parts on their way."""

    def __init__(self, sweep: Sweep, client: Client, numbers: list[int]) -> None:
        self.sweep, self.client = sweep, client
        self.ended: queue.Queue[Future] = queue.Queue()
        self.total = len(numbers)
        self.started = time.monotonic()
        self.failed: dict[int, str] = {}
        self.deadly: dict[int, str] = {}
        # Keys of an earlier sweep may still be known to the scheduler, with how they ended.
        self.key = f"convsim-{sweep.loaded.name}-{uuid.uuid4().hex[:8]}"
        self.files = sweep.files()
        files_task, self.part_task = travelling()
        if sum(map(len, self.files.values())) > CARRIED:
            key = f"{self.key}-files"
            self.files = client.submit(files_task, self.files, key=key, pure=False)
        #: By worker the parts that failed on it.
        self.failures: dict[str, set[int]] = {}
        #: All workers that were ever there.
        self.known = self._workers()
        self.parts: dict[Future, Part] = {}
        for number in numbers:
            self._give(Part(number))

    def _give(self, part: Part, anyhow: bool = False) -> None:
        """Gives out a part; retries are counted here, as Dask would leave them to a worker that is
        free because it fails everything at once. One that failed on all that are there waits for
        another one, if there ever was one, unless it is to be run ``anyhow``."""
        sweep = self.sweep
        workers = self._workers() if part.failures else set()
        self.known |= workers
        fit = self._fit_for(part, workers)
        if workers and not fit and not anyhow:
            fit = self.known - workers - part.failed_on
        part.only = fit if fit != workers else set()
        part.stranded = None
        part.given += 1
        # Keys that are tuples make one group of the parts, which the scheduler deals out one by one.
        future = self.client.submit(
            self.part_task, self.files, sweep.file, sweep.words, f"{part.number}/{sweep.shards}",
            sweep.threads, _convsim.__version__,
            key=(self.key, part.number, part.given), pure=False, workers=sorted(part.only) or None,
        )  # fmt: skip
        self.parts[future] = part
        future.add_done_callback(self.ended.put)

    def _fit_for(self, part: Part, workers: set[str]) -> set[str]:
        """Those of ``workers`` on which the part did not fail, and of these those that did not fail in
        several parts, if there are any."""
        others = workers - part.failed_on
        return {each for each in others if len(self.failures.get(each, ())) < UNFIT} or others

    def _workers(self) -> set[str]:
        """Those of the scheduler now; none if it does not answer."""
        try:
            return set(self.client.sync(self.client.scheduler.ncores, callback_timeout=ASK))
        except Exception:  # Lost connections and late answers come in many types.
            return set()

    def wait(self) -> tuple[dict[int, str], dict[int, str]]:
        """Keeps the rows of each part as it ends; gives what went wrong in those that failed, and in
        those under which workers died."""
        try:
            for future in self._ended():
                self._take(future)
        except BaseException:
            self._let_go()
            raise
        return self.failed, self.deadly

    def _take(self, future: Future) -> None:
        """Keeps the rows of a part that ended, or sees to it that it is run again."""
        part = self.parts[future]
        outcome = "is here"
        try:
            rows = future.result(timeout=PATIENCE)
        except Exception as error:  # The part's own error, or whatever became of the connection.
            if self.client.status != "running" or future.status == "cancelled":
                raise self._lost() from error
            if future.status != "error":
                # The worker died with the rows; another one makes them again.
                future.add_done_callback(self.ended.put)
                return
            outcome = self._failure(part, error)
        else:
            try:
                self.sweep.keep(part.number, rows)
            except PartError as error:
                outcome = self._failure(part, error)
        del self.parts[future]
        future.release()
        name = f"part {part.number}/{self.sweep.shards}"
        if outcome is None:
            retry = f"it is run again ({part.failures} of {self.sweep.retries})"
            self.sweep.tell(f"{name} failed: {part.last}; {retry}")
            self._give(part)
            return
        spent = time.monotonic() - self.started
        ended = self.total - len(self.parts)
        self.sweep.tell(f"{name} {outcome}; {ended} of {self.total} in {spent:.0f} s")

    def _failure(self, part: Part, error: Exception) -> str | None:
        """Notes that a part failed; None if it is to be run again."""
        text = f"{type(error).__name__}: {error}"
        if isinstance(error, KilledWorker):
            self.deadly[part.number] = text
            return "failed"
        if isinstance(error, ModuleNotFoundError):
            text += f"; {how_to_install(_convsim.__version__)}"
        worker = getattr(error, "worker", None)
        if worker:
            text = f"on {worker}: {text}"
            part.failed_on.add(worker)
            self.failures.setdefault(worker, set()).add(part.number)
        part.failures += 1
        part.last = text.splitlines()[0]
        if part.failures <= self.sweep.retries:
            return None
        self.failed[part.number] = text
        return "failed"

    def _give_elsewhere(self) -> None:
        """Gives out again the parts that are kept for workers that are all gone."""
        kept = [(future, part) for future, part in self.parts.items() if part.only]
        workers = self._workers() if kept else set()
        now = time.monotonic()
        for future, part in kept:
            if not workers or part.only & workers:
                part.stranded = None
                continue
            part.stranded = part.stranded or now
            # One that comes for one that died is worth waiting for; one that fails everything is not
            # worse than none.
            if self._fit_for(part, workers) or now - part.stranded > PATIENCE:
                del self.parts[future]
                self.client.cancel(future, force=True)
                self._give(part, anyhow=True)

    def _ended(self) -> Iterator[Future]:
        """Each part as it ends; asks a quiet scheduler whether it is still there."""
        answered = seen = time.monotonic()
        while self.parts:
            try:
                future = self.ended.get(timeout=ASK)
                answered = seen = time.monotonic()
                # One that was cancelled ends, too.
                if future in self.parts:
                    yield future
                continue
            except queue.Empty:
                pass
            if self.client.status != "running":
                raise self._lost()
            try:
                identity = self.client.sync(self.client.scheduler.identity, callback_timeout=ASK)
                answered = time.monotonic()
            except Exception:  # Lost connections and late answers come in many types.
                if time.monotonic() - answered > PATIENCE:
                    raise self._lost() from None
                continue
            if identity.get("n_workers", len(identity.get("workers", ()))):
                seen = answered
                self._give_elsewhere()
            elif answered - seen > self.sweep.alone:
                gone = f"all workers have been gone for {self.sweep.alone:.0f} s"
                raise UnfitWorkers(f"{gone}; {self._kept()}")
            else:
                self.sweep.tell("no worker is connected; waiting for one")

    def _lost(self) -> SchedulerLost:
        return SchedulerLost(f"the scheduler went away; {self._kept()}")

    def _kept(self) -> str:
        here = self.sweep.shards - len(self.sweep.missing())
        return (
            f"{here} of {self.sweep.shards} parts are kept in {self.sweep.folder}. Start a scheduler "
            "and workers, and give the same command again: it goes on from there"
        )

    def _let_go(self) -> None:
        """Nobody waits for the rest any more."""
        try:
            self.client.cancel(list(self.parts), force=True)
        except Exception as error:  # The reason for letting go matters more than this.
            print(f"convsim-dask: the rest could not be cancelled: {error}", file=sys.stderr)
