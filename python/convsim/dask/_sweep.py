"""The parts of a scenario on the workers of a Dask cluster, and their rows back here."""

from __future__ import annotations

import os
import platform
import queue
import sys
import time
import uuid
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from distributed import Client, Future, KilledWorker

from convsim import ConvsimError, _convsim
from convsim.dask._task import Files, travelling

#: A scheduler that has not answered for so long is taken for lost, in seconds.
PATIENCE = 30.0
#: How often a quiet scheduler is asked whether it is there, in seconds.
ASK = 5.0
#: Files up to this many bytes travel with each part. Beyond, they are a task of their own, that parts
#: depend on: Dask then prefers the workers that have them, which spreads parts less evenly.
CARRIED = 1 << 16
#: Workers that may die under a part before it is given up. A machine that is taken away is nobody's
#: fault, and Dask's own limit of 3 is soon reached on machines that come and go.
ALLOWED_FAILURES = 10


class SchedulerLost(ConvsimError):
    """The scheduler went away; what had come back is kept."""


class UnfitWorkers(ConvsimError):
    """There is no worker, or some have no convsim or another version of it."""


class PartsFailed(ConvsimError):
    """Some parts failed for good; the others are kept."""


@dataclass
class Sweep:
    """A scenario to be run in parts."""

    #: Words of ``convsim run`` that say what is run, without the file.
    words: list[str]
    #: The scenario file.
    file: str
    #: How many parts.
    shards: int
    #: The folder in which the scenario's folder of results is made.
    output: Path
    #: How often a part that failed is run again.
    retries: int = 3
    #: Worker threads of each part.
    threads: int = 1
    #: How long it is waited for a worker when all are gone, in seconds.
    alone: float = 600.0
    #: Told what happens, a sentence at a time.
    tell: Callable[[str], None] = lambda text: None
    loaded: _convsim.Loaded = field(init=False)

    def __post_init__(self) -> None:
        self.loaded = _convsim.load(["convsim", "run", *self.words, "--", self.file])

    @property
    def folder(self) -> Path:
        """The scenario's folder of results."""
        return self.output / self.loaded.name

    def part_folder(self, number: int) -> Path:
        """Where the rows of a part are kept."""
        return self.folder / "shards" / f"{number}-of-{self.shards}"

    def forget(self) -> None:
        """Removes the parts of an earlier sweep."""
        for journal in self.folder.glob("shards/*/rows.journal"):
            journal.unlink()
        (self.folder / "rows.journal").unlink(missing_ok=True)

    def missing(self) -> list[int]:
        """The parts whose rows are not all here."""
        return [number for number in range(1, self.shards + 1) if not self._is_here(number)]

    def _is_here(self, number: int) -> bool:
        folder = self.part_folder(number)
        if not (folder / "rows.journal").exists():
            return False
        return self.loaded.has_part(folder, f"{number}/{self.shards}")

    def keep(self, number: int, rows: bytes) -> None:
        """Keeps the rows of a part, whole or not at all."""
        folder = self.part_folder(number)
        folder.mkdir(parents=True, exist_ok=True)
        # Two sweeps into one folder must not write to one file.
        temporary = folder / f".rows.journal.{os.getpid()}-{uuid.uuid4().hex}"
        try:
            with temporary.open("wb") as file:
                file.write(rows)
                file.flush()
                os.fsync(file.fileno())
            temporary.replace(folder / "rows.journal")
        finally:
            temporary.unlink(missing_ok=True)

    def files(self) -> tuple[Files, str]:
        """The content of every file of the scenario, and the name of the scenario among them."""
        paths = [Path(os.path.abspath(path)) for path in self.loaded.files]
        root = Path(os.path.commonpath([path.parent for path in paths]))
        contents = {str(path.relative_to(root)): path.read_bytes() for path in paths}
        return contents, str(Path(os.path.abspath(self.file)).relative_to(root))

    def run(self, client: Client) -> None:
        """Runs what is missing on the workers of ``client``.

        :raises UnfitWorkers: before anything is run.
        :raises SchedulerLost: when the scheduler went away.
        :raises PartsFailed: when some parts failed for good; the others are all here.
        """
        missing = self.missing()
        here = self.shards - len(missing)
        if here:
            self.tell(f"{here} of {self.shards} parts are here already")
        if not missing:
            return
        check_workers(client)
        raise_allowed_failures(client)
        failed, suspects = _Running(self, client, missing).wait()
        # Dask blames a worker's death on all that it had been given. Alone, a part answers for itself.
        for number in suspects:
            again, deadly = _Running(self, client, [number]).wait()
            failed |= again | deadly
        if failed:
            raise PartsFailed(self._failed_text(failed))

    def _failed_text(self, failed: dict[int, str]) -> str:
        lines = [f"{len(failed)} of {self.shards} parts failed; the others are kept in {self.folder}"]
        lines += [f"part {number}/{self.shards}: {text}" for number, text in sorted(failed.items())]
        return "\n".join([*lines, "the same command again runs just what is missing"])


def check_workers(client: Client, patience: float = 60.0) -> None:
    """Sees to it that there are workers and that all have this version of convsim."""
    try:
        client.wait_for_workers(1, timeout=patience)
    except TimeoutError:
        text = f"the scheduler has had no worker for {patience:.0f} s; start one: dask worker ADDRESS"
        raise UnfitWorkers(text) from None
    versions = client.get_versions(packages=["convsim"])["workers"]
    wanted = _convsim.__version__
    here = _minor(platform.python_version())
    unfit = []
    for address, version in versions.items():
        packages = version["packages"]
        if packages.get("convsim") != wanted:
            has = packages.get("convsim")
            unfit.append(f"  {address} has {f'convsim {has}' if has else 'no convsim'}")
        elif _minor(packages["python"]) != here:
            unfit.append(f"  {address} has Python {packages['python']}, here it is {here}")
    if unfit:
        raise UnfitWorkers(
            "\n".join([
                f"this is convsim {wanted}, but {len(unfit)} of {len(versions)} workers differ:",
                *unfit,
                f"on each of these machines: {how_to_install(wanted)}",
            ])
        )


def _minor(version: str) -> str:
    """Tasks travel between interpreters of one minor version."""
    return ".".join(version.split(".")[:2])


def how_to_install(version: str) -> str:
    """What brings convsim to a worker's machine."""
    return (
        f"pip install convsim-{version}-cp311-abi3-*.whl (one file: pip wheel --no-deps . makes it "
        "in convsim's folder), then start the worker again"
    )


def raise_allowed_failures(client: Client) -> None:
    """Lets more workers die under a task than Dask does by itself; never fewer."""

    def allow(dask_scheduler) -> None:
        most = max(dask_scheduler.allowed_failures, ALLOWED_FAILURES)
        dask_scheduler.allowed_failures = most

    client.run_on_scheduler(allow)


class _Running:
    """Parts on their way."""

    def __init__(self, sweep: Sweep, client: Client, numbers: list[int]) -> None:
        self.sweep, self.client = sweep, client
        self.ended: queue.Queue[Future] = queue.Queue()
        self.total = len(numbers)
        self.started = time.monotonic()
        self.failed: dict[int, str] = {}
        self.deadly: dict[int, str] = {}
        # Keys of an earlier sweep may still be known to the scheduler, with how they ended.
        sweep_key = f"convsim-{sweep.loaded.name}-{uuid.uuid4().hex[:8]}"
        files, name = sweep.files()
        files_task, part_task = travelling()
        if sum(map(len, files.values())) > CARRIED:
            files = client.submit(files_task, files, key=f"{sweep_key}-files", pure=False)
        self.parts: dict[Future, int] = {}
        for number in numbers:
            # Keys that are pairs make one group of the parts, which the scheduler deals out one by one.
            future = client.submit(
                part_task, files, name, sweep.words, f"{number}/{sweep.shards}",
                sweep.threads, _convsim.__version__,
                key=(sweep_key, number), pure=False, retries=sweep.retries,
            )  # fmt: skip
            self.parts[future] = number
            future.add_done_callback(self.ended.put)

    def wait(self) -> tuple[dict[int, str], dict[int, str]]:
        """Keeps the rows of each part as it ends; gives what went wrong in those that failed, and in
        those under which workers died."""
        try:
            for future in self._ended():
                if self._take(future, self.parts[future]):
                    del self.parts[future]
                    future.release()
                else:
                    # The worker died with the rows; another one makes them again.
                    future.add_done_callback(self.ended.put)
        except BaseException:
            self._let_go()
            raise
        return self.failed, self.deadly

    def _take(self, future: Future, number: int) -> bool:
        """Keeps the rows of a part that ended; false when they were lost on the way."""
        outcome = "is here"
        try:
            rows = future.result(timeout=PATIENCE)
        except Exception as error:  # The part's own error, or whatever became of the connection.
            if self.client.status != "running" or future.status == "cancelled":
                raise self._lost() from error
            if future.status != "error":
                return False
            outcome = "failed"
            text = f"{type(error).__name__}: {error}"
            if isinstance(error, ModuleNotFoundError):
                text += f"; {how_to_install(_convsim.__version__)}"
            (self.deadly if isinstance(error, KilledWorker) else self.failed)[number] = text
        else:
            self.sweep.keep(number, rows)
        spent = time.monotonic() - self.started
        ended = self.total - len(self.parts) + 1
        shards = self.sweep.shards
        self.sweep.tell(f"part {number}/{shards} {outcome}; {ended} of {self.total} in {spent:.0f} s")
        return True

    def _ended(self) -> Iterator[Future]:
        """Each part as it ends; asks a quiet scheduler whether it is still there."""
        answered = seen = time.monotonic()
        while self.parts:
            try:
                yield self.ended.get(timeout=ASK)
                answered = seen = time.monotonic()
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
