"""What runs on a worker: one part of a scenario, from bytes to bytes."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable
from pathlib import Path

from convsim import _convsim

#: The scenario's files by their paths, as loading names them where the sweep was started.
Files = dict[str, bytes]


class PartError(RuntimeError):
    """A part could not be run on this worker; the text says why."""


def travelling() -> tuple[Callable[[Files], Files], Callable[..., bytes]]:
    """The two tasks of a sweep: the scenario's files, and a part of it.

    Functions made within a function travel as themselves, so a worker without convsim can still be
    told to run them, and say what it lacks. The files are a task, too: unlike scattered data, a
    scheduler can make them anew when the worker that held them is lost. An error says in ``worker``
    on which one it came about.
    """

    def files_task(files):
        return files

    def part_task(*arguments):
        try:
            from convsim.dask._task import run_part

            return run_part(*arguments)
        except Exception as error:
            from distributed import get_worker

            error.worker = get_worker().address
            raise

    return files_task, part_task


def run_part(
    files: Files, scenario: str, words: list[str], part: str, threads: int, version: str
) -> bytes:
    """Runs ``convsim run --shard`` for ``part``, such as ``"3/8"``; gives the rows as they are kept.

    It needs nothing but its arguments and leaves nothing behind, so it can be run again, on any
    worker, as often as it takes. Every file that the scenario names is one of ``files``: what this
    machine has under that path is not looked at.
    """
    if _convsim.__version__ != version:
        raise PartError(f"this worker has convsim {_convsim.__version__}, the sweep needs {version}")
    # Several tasks, and workers of a cluster on one machine, share a folder.
    with tempfile.TemporaryDirectory(prefix=f"convsim-{os.getpid()}-", dir=_folder()) as name:
        output = Path(name)
        options = [f"--shard={part}", f"--threads={threads}", f"--output={output}"]
        options += ["--quiet", "--progress=none", "--"]
        command = ["convsim", "run", *words, *options, scenario]
        code, errors = _convsim.execute(command, files=files)
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
