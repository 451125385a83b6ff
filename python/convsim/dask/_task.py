"""What runs on a worker: one part of a scenario, from bytes to bytes."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable
from pathlib import Path

from convsim import _convsim

#: The scenario's files by their paths below a folder that they have in common.
Files = dict[str, bytes]


class PartError(RuntimeError):
    """A part could not be run on this worker; the text says why."""


def travelling() -> tuple[Callable[[Files], Files], Callable[..., bytes]]:
    """The two tasks of a sweep: the scenario's files, and a part of it.

    Functions made within a function travel as themselves, so a worker without convsim can still be
    told to run them, and say what it lacks. The files are a task, too: unlike scattered data, a
    scheduler can make them anew when the worker that held them is lost.
    """

    def files_task(files):
        return files

    def part_task(*arguments):
        from convsim.dask._task import run_part

        return run_part(*arguments)

    return files_task, part_task


def run_part(
    files: Files, scenario: str, words: list[str], part: str, threads: int, version: str
) -> bytes:
    """Runs ``convsim run --shard`` for ``part``, such as ``"3/8"``; gives the rows as they are kept.

    It needs nothing but its arguments and leaves nothing behind, so it can be run again, on any
    worker, as often as it takes.
    """
    if _convsim.__version__ != version:
        raise PartError(f"this worker has convsim {_convsim.__version__}, the sweep needs {version}")
    # Several tasks, and workers of a cluster on one machine, share a folder.
    with tempfile.TemporaryDirectory(prefix=f"convsim-{os.getpid()}-", dir=_folder()) as name:
        folder = Path(name)
        for path, content in files.items():
            file = folder / "in" / path
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_bytes(content)
        output = folder / "out"
        options = [f"--shard={part}", f"--threads={threads}", f"--output={output}"]
        options += ["--quiet", "--progress=none"]
        file = str(folder / "in" / scenario)
        code, errors = _convsim.execute(["convsim", "run", *words, *options, file])
        if code != 0:
            raise PartError(errors.strip() or f"convsim ended with code {code}")
        [journal] = output.glob("*/shards/*/rows.journal")
        return journal.read_bytes()


def _folder() -> str | None:
    """The worker's own folder: Dask clears it away after a worker that was killed."""
    from distributed import get_worker

    try:
        return get_worker().local_directory
    except ValueError:
        return None
