"""A scenario in parts: their rows in a folder, from the workers of a Dask cluster."""

from __future__ import annotations

import os
import shutil
import tempfile
import uuid
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from distributed import Client

from convsim import ConvsimError, _convsim
from convsim.dask._running import Running
from convsim.dask._task import Files, PartError
from convsim.dask._workers import check_workers, raise_allowed_failures


class Unwritable(ConvsimError):
    """Rows cannot be kept on this machine."""


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

    def prepare(self, fresh: bool = False) -> None:
        """Sees to it that rows can be kept and merged, before anything is run.

        :param fresh: the rows of an earlier sweep will be forgotten.
        :raises Unwritable: when nothing can be written to the folder.
        :raises ConvsimError: when it has the rows of something else.
        """
        parts = self.folder / "shards"
        try:
            parts.mkdir(parents=True, exist_ok=True)
            with tempfile.TemporaryFile(dir=parts) as file:
                # A full disk takes a name, but no content.
                file.write(bytes(4096))
        except OSError as error:
            raise Unwritable(
                f"results cannot be written to {self.folder}: {error}; nothing was simulated; choose "
                "a folder that can be written to with --output"
            ) from None
        if not fresh:
            try:
                self.loaded.refuse_others(self.folder)
            except ConvsimError as error:
                raise ConvsimError(f"{error}\n--fresh forgets all rows that are there") from None

    def forget(self) -> None:
        """Removes the rows of an earlier sweep."""
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
        """Keeps the rows of a part, whole or not at all.

        :raises PartError: when they are not the rows of the part.
        :raises Unwritable: when they cannot be written.
        """
        folder = self.part_folder(number)
        # Two sweeps into one folder must not write to one file.
        incoming = folder / f".rows.journal.{os.getpid()}-{uuid.uuid4().hex}"
        journal = incoming / "rows.journal"
        try:
            incoming.mkdir(parents=True)
            with journal.open("wb") as file:
                file.write(rows)
                file.flush()
                os.fsync(file.fileno())
            self._refuse_other_rows(incoming, number)
            journal.replace(folder / "rows.journal")
        except OSError as error:
            raise Unwritable(
                f"writing to {folder} failed: {error}; nothing is half written, the parts before it "
                "are kept, and the same command goes on from there"
            ) from None
        finally:
            shutil.rmtree(incoming, ignore_errors=True)

    def _refuse_other_rows(self, folder: Path, number: int) -> None:
        try:
            complete = self.loaded.has_part(folder, f"{number}/{self.shards}")
        except ConvsimError as error:
            raise PartError(f"the rows that came are not those of the sweep: {error}") from None
        if not complete:
            raise PartError("the rows that came are not all of the part")

    def files(self) -> Files:
        """The content of every file of the scenario, by the path under which it is asked for."""
        return {str(path): Path(path).read_bytes() for path in self.loaded.files}

    def run(self, client: Client, fresh: bool = False) -> None:
        """Runs what is missing on the workers of ``client``; with ``fresh`` everything anew.

        :raises UnfitWorkers: before anything is run or forgotten.
        :raises SchedulerLost: when the scheduler went away.
        :raises PartsFailed: when some parts failed for good; the others are all here.
        :raises Unwritable: when rows cannot be kept.
        """
        self.prepare(fresh)
        missing = self.missing() if not fresh else list(range(1, self.shards + 1))
        here = self.shards - len(missing)
        if here:
            self.tell(f"{here} of {self.shards} parts are here already")
        if not missing:
            return
        check_workers(client)
        raise_allowed_failures(client)
        if fresh:
            self.forget()
        failed, suspects = Running(self, client, missing).wait()
        # Dask blames a worker's death on all that it had been given. Alone, a part answers for itself.
        for number in suspects:
            again, deadly = Running(self, client, [number]).wait()
            failed |= again | deadly
        if failed:
            raise PartsFailed(self._failed_text(failed))

    def _failed_text(self, failed: dict[int, str]) -> str:
        lines = [f"{len(failed)} of {self.shards} parts failed; the others are kept in {self.folder}"]
        lines += [f"part {number}/{self.shards}: {text}" for number, text in sorted(failed.items())]
        return "\n".join([*lines, "the same command again runs just what is missing"])
