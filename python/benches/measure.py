"""What the package costs beside the command line, in processor time and on the clock.

    python python/benches/measure.py run  target/release/convsim  # convsim.run beside `convsim run`
    python python/benches/measure.py dask target/release/convsim  # a sweep on two workers beside two shells

Runs alternate, and the least of each is compared, so that a busy machine disturbs little.
"""

from __future__ import annotations

import argparse
import itertools
import os
import resource
import subprocess
import tempfile
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

FILE = "scenarios/chassis-packet-pop-batch.json"
#: Replications of each point: 3600 in all of a run, and parts of about a second of the sweep on Dask.
REPLICATIONS = {"run": 200, "dask": 800}
#: Parts of the sweep on Dask.
SHARDS = 16


def processor_time() -> float:
    """Of this process and of the children that it has waited for."""
    usages = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return sum(usage.ru_utime + usage.ru_stime for usage in usages)


def measured(work: Callable[[], object], spent: Callable[[], float]) -> tuple[float, float]:
    """Seconds of processors and of the clock."""
    before, started = spent(), time.monotonic()
    work()
    return spent() - before, time.monotonic() - started


def alternate(
    ways: dict[str, Callable[[], object]],
    rounds: int,
    spent: Callable[[], float] = processor_time,
) -> None:
    """Prints the least of each way, and what each costs beside the first."""
    figures: dict[str, list[tuple[float, float]]] = {name: [] for name in ways}
    for _ in range(rounds):
        for name, work in ways.items():
            figures[name].append(measured(work, spent))
    least = {name: tuple(map(min, zip(*pairs, strict=True))) for name, pairs in figures.items()}
    base = least[next(iter(ways))]
    for name, (processor, clock) in least.items():
        print(
            f"{name:32} processors {processor:6.2f} s ({100 * (processor / base[0] - 1):+5.1f} %)  "
            f"clock {clock:6.2f} s ({100 * (clock / base[1] - 1):+5.1f} %)"
        )


def compare_run(binary: str, replications: int, rounds: int) -> None:
    """The same replications on one thread, with everything that each way makes of them."""
    import convsim

    def command() -> None:
        with tempfile.TemporaryDirectory() as output:
            words = [binary, "run", FILE, "--threads=1", "--quiet", "--no-plots"]
            words += [f"--replications={replications}", f"--output={output}"]
            subprocess.run(words, check=True)

    ways = {
        "convsim run --no-plots": command,
        "convsim.run": lambda: convsim.run(FILE, replications=replications, threads=1),
    }
    alternate(ways, rounds)


def compare_dask(binary: str, replications: int, rounds: int) -> None:
    """All parts on two workers, beside the same parts from two shells; the cluster stands already."""
    from distributed import Client, LocalCluster, get_task_stream

    from convsim.dask._sweep import Sweep

    words = [f"--replications={replications}"]

    def shells() -> None:
        with tempfile.TemporaryDirectory() as output, ThreadPoolExecutor(2) as pool:
            command = [binary, "run", FILE, *words, "--threads=1", "--quiet", f"--output={output}"]
            parts = [[*command, f"--shard={n}/{SHARDS}"] for n in range(1, SHARDS + 1)]
            list(pool.map(lambda part: subprocess.run(part, check=True), parts))

    with (
        LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster,
        Client(cluster) as client,
    ):

        def on_dask() -> None:
            with tempfile.TemporaryDirectory() as output:
                Sweep(words=words, file=FILE, shards=SHARDS, output=Path(output)).run(client)

        with get_task_stream(client) as stream:
            on_dask()
        print_gaps(stream.data)
        # The scheduler and the client are this process.
        spent = lambda: processor_time() + sum(client.run(time.process_time).values())  # noqa: E731
        ways = {f"two shells, {SHARDS} parts": shells, "Dask, two workers": on_dask}
        alternate(ways, rounds, spent)


def print_gaps(tasks: list[dict]) -> None:
    """How long a worker does nothing between two parts, which no other work on the machine hides."""
    computed: dict[str, list[tuple[float, float]]] = {}
    for task in tasks:
        for step in task["startstops"]:
            if step["action"] == "compute":
                computed.setdefault(task["worker"], []).append((step["start"], step["stop"]))
    gaps, parts = [], []
    for steps in computed.values():
        steps.sort()
        gaps += [after[0] - before[1] for before, after in itertools.pairwise(steps)]
        parts += [stop - start for start, stop in steps]
    print(
        f"{len(parts)} parts of {min(parts):.2f} to {max(parts):.2f} s; between two of a worker "
        f"{1000 * sum(gaps) / len(gaps):.0f} ms on average, {1000 * max(gaps):.0f} ms at most"
    )


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("what", choices=["run", "dask"])
    parser.add_argument("binary", type=Path, help="the program convsim")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--replications", type=int, help="of each point")
    asked = parser.parse_args()
    if not asked.binary.is_file():
        parser.error(f"{asked.binary} is no file; cargo build --release makes target/release/convsim")
    if asked.rounds < 1:
        parser.error(f"--rounds {asked.rounds}: allowed is 1 or more")
    binary = str(asked.binary.resolve())
    os.chdir(Path(__file__).resolve().parents[2])
    compare = {"run": compare_run, "dask": compare_dask}[asked.what]
    compare(binary, asked.replications or REPLICATIONS[asked.what], asked.rounds)
