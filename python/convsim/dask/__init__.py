"""``convsim-dask``: a scenario in parts on a Dask cluster, merged into one result.

The scenario's files go to the workers with the tasks and the rows come back as bytes, so no file
system is shared. The result has the bytes of ``convsim run`` on one machine.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from convsim import ConvsimError, _convsim

#: How long it is waited for a scheduler to answer, in seconds.
CONNECT = 20.0
#: What a machine without Dask is told.
INSTALL = (
    "this needs Dask: pip install 'distributed>=2024.8', or pip install '.[dask]' in convsim's folder"
)

EPILOGUE = """\
Exit codes: those of convsim run; 2 also when the scheduler went away or parts failed for good. The
same command again goes on from what is complete.
"""


#: Options of ``convsim run`` that say what is run, with what they take.
SEVERAL = {
    "--set": ("PATH=VALUE", "fix a parameter in every configuration"),
    "--vary": ("PATH=VALUES", "sweep a parameter: path=32,64 or path=32..4096:log2"),
    "--where": ("CONDITION", "leave out points of the sweep that do not meet it"),
    "--configuration": ("NAME", "run only this one, without the file's sweep"),
}
ONCE = {
    "--design": ("NAME:POINTS", "fill the space of ranges: sobol:64"),
    "--replications": ("N|MIN..MAX", "of each point; with --until the fewest and the most"),
    "--until": ("METRIC<=N%", "more replications until a figure is known so well"),
    "--seed": ("N", "master seed of all random streams"),
    "--horizon": ("DURATION", 'virtual time at which a replication ends: "300 s"'),
    "--max-points": ("COUNT", "refuse a scenario with more points than this"),
}


def parser() -> argparse.ArgumentParser:
    """What the command understands."""
    parser = argparse.ArgumentParser(
        prog="convsim-dask",
        description="Run a scenario in parts on a Dask cluster and merge them into one result.",
        epilog=EPILOGUE,
        allow_abbrev=False,
    )
    add = parser.add_argument
    add("scenario", metavar="SCENARIO", help="the scenario file")
    where = parser.add_mutually_exclusive_group(required=True)
    where.add_argument("--scheduler", metavar="ADDRESS", help="of a cluster, e.g. tcp://10.0.0.1:8786")
    where.add_argument(
        "--local-cluster", action="store_true", help="start a cluster on this machine for the sweep"
    )
    add("--workers", metavar="N", type=_count, help="of the local cluster; all processors by default")
    add("--shards", metavar="N", type=_count, default=16, help="how many parts (16)")
    add(
        "--retries", metavar="N", type=_number, default=3,
        help="how often a part that failed is run again, on other workers while there are any (3)",
    )  # fmt: skip
    add("--threads", metavar="N", type=_count, default=1, help="of each part (1)")
    add("--output", metavar="DIR", type=Path, default=Path("outputs"), help="as in convsim run")
    add("--fresh", action="store_true", help="forget the parts of an earlier sweep")
    add("--no-plots", action="store_true", help="as in convsim run")
    add("--quiet", "-q", action="store_true", help="print nothing but errors")
    changes = parser.add_argument_group("what is run, as in convsim run")
    for option, (metavar, text) in SEVERAL.items():
        text += "; can be given several times"
        changes.add_argument(option, action="append", default=[], metavar=metavar, help=text)
    for option, (metavar, text) in ONCE.items():
        changes.add_argument(option, metavar=metavar, help=text)
    return parser


def _count(text: str) -> int:
    return _number(text, 1)


def _number(text: str, least: int = 0) -> int:
    if not (text.isascii() and text.isdigit()) or int(text) < least:
        raise argparse.ArgumentTypeError(f"{text} is no whole number from {least}")
    return int(text)


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the command; gives its exit code."""
    understood = parser()
    asked = understood.parse_args(arguments)
    if asked.scheduler and asked.workers:
        understood.error("--workers is for --local-cluster; a scheduler has the workers that it has")
    try:
        return _run(asked)
    except ConvsimError as error:
        print(f"convsim-dask: {error}", file=sys.stderr)
        return 2
    except OSError as error:
        print(f"convsim-dask: {error}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print(
            "convsim-dask: stopped; the parts that are here are kept, and the same command goes on",
            file=sys.stderr,
        )
        return 130


def _run(asked: argparse.Namespace) -> int:
    try:
        from convsim.dask._sweep import Sweep
    except ModuleNotFoundError as error:
        raise ConvsimError(f"{error}; {INSTALL}") from None

    def tell(text: str) -> None:
        if not asked.quiet:
            print(f"{sweep.loaded.name}: {text}", file=sys.stderr)

    sweep = Sweep(
        words=run_words(asked),
        file=asked.scenario,
        shards=asked.shards,
        output=asked.output,
        retries=asked.retries,
        threads=asked.threads,
        # Nobody starts a worker of a local cluster but the cluster itself.
        alone=60.0 if asked.local_cluster else Sweep.alone,
        tell=tell,
    )
    sweep.prepare(asked.fresh)
    if asked.fresh or sweep.missing():
        with _client(asked) as client:
            sweep.run(client, asked.fresh)
    words = ["convsim", "merge", f"--scenario={asked.scenario}", f"--output={asked.output}"]
    words += ["--no-plots"] if asked.no_plots else []
    words += ["--quiet"] if asked.quiet else []
    code, errors = _convsim.execute([*words, "--", str(sweep.folder)])
    sys.stderr.write(errors)
    return code


def run_words(asked: argparse.Namespace) -> list[str]:
    """The words of ``convsim run`` that say what is run."""
    words = [f"--set={text}" for text in asked.set]
    words += [f"--vary={text}" for text in asked.vary]
    words += [f"--where={text}" for text in asked.where]
    words += [f"--configuration={text}" for text in asked.configuration]
    for name in ("design", "replications", "until", "seed", "horizon", "max_points"):
        value = getattr(asked, name)
        if value is not None:
            words.append(f"--{name.replace('_', '-')}={value}")
    return words


@contextmanager
def _client(asked: argparse.Namespace) -> Iterator:
    from distributed import Client, LocalCluster

    if asked.local_cluster:
        workers = asked.workers or os.cpu_count() or 1
        with (
            LocalCluster(n_workers=workers, threads_per_worker=1, dashboard_address=None) as cluster,
            Client(cluster) as client,
        ):
            yield client
        return
    try:
        client = Client(asked.scheduler, timeout=CONNECT)
    except (OSError, ValueError) as error:
        raise ConvsimError(f"there is no scheduler at {asked.scheduler}: {error}") from None
    with client:
        yield client
