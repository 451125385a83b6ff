"""A sweep on a Dask cluster gives the bytes of one machine, whatever happens to the cluster."""

from __future__ import annotations

import errno
import json
import os
import signal
import subprocess
import sys
import sysconfig
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import dask
import pytest
from conftest import CHASSIS, ROOT, command_line
from distributed import Client, LocalCluster

from convsim import dask as convsim_dask
from convsim.dask import _running, _sweep, _task, _workers
from convsim.dask._sweep import PartsFailed, Sweep, Unwritable
from convsim.dask._workers import UnfitWorkers

SHARDS = 8
WORDS = ["--replications=100"]
NAME = CHASSIS.stem
FILE = str(CHASSIS.relative_to(ROOT))


def contents(folder: Path) -> dict[str, bytes]:
    """Every file of a result but the journals, which have the rows in the order of their coming."""
    files = [path for path in (folder / NAME).rglob("*") if path.is_file()]
    inside = {str(path.relative_to(folder / NAME)): path.read_bytes() for path in files}
    return {
        name: content
        for name, content in inside.items()
        if name != "rows.journal" and not name.startswith("shards")
    }


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    """What one machine gives."""
    output = tmp_path_factory.mktemp("whole")
    command_line("run", FILE, *WORDS, "--output", output, "--quiet")
    return contents(output)


def merged(output: Path) -> dict[str, bytes]:
    words = ["merge", output / NAME, "--scenario", FILE, "--output", output, "--quiet"]
    command_line(*words)
    return contents(output)


@contextmanager
def cluster(**options) -> Iterator[Client]:
    settings = {"n_workers": 2, "threads_per_worker": 1, "dashboard_address": None}
    with LocalCluster(**settings | {"silence_logs": 50} | options) as local, Client(local) as client:
        yield client


def sweep(output: Path, after_first: Callable[[], None] | None = None, **options) -> Sweep:
    """A sweep; ``after_first`` is called when the first part is here and others are running."""
    told: list[str] = []

    def tell(text: str) -> None:
        told.append(text)
        if after_first and "is here" in text and sum("is here" in line for line in told) == 1:
            after_first()

    options = {"alone": 60.0} | options
    made = Sweep(words=WORDS, file=FILE, shards=SHARDS, output=output, tell=tell, **options)
    made.told = told
    return made


def kill(pid: int, how: signal.Signals = signal.SIGKILL) -> None:
    os.kill(pid, how)


def wait_until(holds: Callable[[], bool], seconds: float = 60) -> None:
    """Waits for another process; what takes longer than this hangs."""
    end = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < end
        time.sleep(0.05)


@contextmanager
def process(
    *words: str | Path, flags=(), shell: str = "", **environment: str
) -> Iterator[subprocess.Popen]:
    """A process, after what ``shell`` does, that is gone afterwards, in whatever state it is."""
    started = subprocess.Popen(
        ["sh", "-c", f'{shell}exec "$@"', "sh", sys.executable, *flags, "-m", *map(str, words)],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        env=os.environ | environment,
    )
    try:
        yield started
    finally:
        started.kill()
        started.wait()


def worker(address: str, folder: Path, *flags: str, **environment: str):
    """A worker that nobody starts again."""
    options = ["--no-nanny", "--nthreads=1", "--no-dashboard", "--local-directory", folder]
    return process("distributed.cli.dask_worker", address, *options, flags=flags, **environment)


def full_worker(address: str, folder: Path):
    """A worker that cannot write the rows of a part, as with a full disk."""
    return worker(address, folder, shell="ulimit -f 8; ")


def bare_worker(client: Client, folder: Path):
    """A worker on a machine that has everything but convsim."""
    packages = folder / "packages"
    packages.mkdir()
    for entry in Path(sysconfig.get_path("purelib")).iterdir():
        if not entry.name.startswith("convsim") and entry.suffix != ".pth":
            (packages / entry.name).symlink_to(entry)
    return worker(client.scheduler.address, folder / "bare", "-S", PYTHONPATH=str(packages))


def test_the_merged_result_has_the_bytes_of_one_machine(tmp_path, whole):
    words = [FILE, *WORDS, "--shards=5", "--local-cluster", "--workers=2"]
    assert convsim_dask.main([*words, f"--output={tmp_path}", "--quiet"]) == 0
    assert contents(tmp_path) == whole
    assert not list((tmp_path / NAME).rglob(".rows.journal.*"))


def test_a_worker_killed_in_the_middle_changes_nothing(tmp_path, whole):
    with cluster() as client:
        pids = client.run(os.getpid)
        sweep(tmp_path, lambda: kill(min(pids.values()))).run(client)
        assert client.run(os.getpid) != pids
    assert merged(tmp_path) == whole


def test_a_machine_that_is_lost_changes_nothing(tmp_path, whole):
    with (
        cluster(n_workers=0) as client,
        worker(client.scheduler.address, tmp_path / "a") as lost,
        worker(client.scheduler.address, tmp_path / "b"),
    ):
        client.wait_for_workers(2)
        sweep(tmp_path, lost.kill).run(client)
        assert len(client.scheduler_info()["workers"]) == 1
    assert merged(tmp_path) == whole


def test_a_machine_that_falls_silent_changes_nothing(tmp_path, whole):
    with (
        dask.config.set({"distributed.scheduler.worker-ttl": "3s"}),
        cluster(n_workers=0) as client,
        worker(client.scheduler.address, tmp_path / "a") as silent,
        worker(client.scheduler.address, tmp_path / "b"),
    ):
        client.wait_for_workers(2)
        sweep(tmp_path, lambda: kill(silent.pid, signal.SIGSTOP)).run(client)
    assert merged(tmp_path) == whole


def test_a_scheduler_that_goes_away_is_said_and_the_same_command_goes_on(tmp_path, whole):
    output = tmp_path / "out"
    here = output / NAME / "shards"

    @contextmanager
    def running(number: int) -> Iterator[tuple[str, subprocess.Popen]]:
        file = tmp_path / f"scheduler-{number}.json"
        options = ["--port=0", "--no-dashboard", f"--scheduler-file={file}"]
        with process("distributed.cli.dask_scheduler", *options) as scheduler:
            wait_until(lambda: file.exists() and file.stat().st_size > 0)
            address = json.loads(file.read_text())["address"]
            with worker(address, tmp_path / f"worker-{number}"):
                yield address, scheduler

    def command(address: str) -> subprocess.Popen:
        words = [FILE, *WORDS, f"--shards={SHARDS}", f"--scheduler={address}", f"--output={output}"]
        return subprocess.Popen(
            [sys.executable, "-m", "convsim.dask", *words],
            cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        )  # fmt: skip

    with running(1) as (address, scheduler):
        first = command(address)
        wait_until(lambda: any(here.glob("*/rows.journal")) or first.poll() is not None)
        scheduler.kill()
        _, errors = first.communicate(timeout=120)
    kept = len(list(here.glob("*/rows.journal")))
    assert first.returncode == 2
    assert f"the scheduler went away; {kept} of {SHARDS} parts are kept" in errors
    assert 0 < kept < SHARDS
    assert not (output / NAME / "manifest.json").exists()

    with running(2) as (address, _):
        second = command(address)
        _, errors = second.communicate(timeout=240)
    assert second.returncode == 0, errors
    assert f"{kept} of {SHARDS} parts are here already" in errors
    assert contents(output) == whole


def failing(part: str, tries: Path, how: str):
    """Tasks of which one part fails; they travel as themselves, as this file is not on the workers."""

    def run_part(files, scenario, words, number, *rest):
        from convsim.dask import _task

        if number == part:
            with open(tries, "a") as file:
                file.write("x")
            if how == "kill":
                # A nanny does not start a worker again that dies before it has come up, which takes
                # longer on a busy machine.
                time.sleep(max(2, os.getloadavg()[0] / 2))
                os.kill(os.getpid(), signal.SIGKILL)
            raise _task.PartError("no space left on this worker")
        return _task.run_part(files, scenario, words, number, *rest)

    return lambda: (_task.travelling()[0], run_part)


@pytest.mark.parametrize("how", ["raise", "kill"])
def test_a_part_that_fails_for_good_is_named_and_the_others_are_kept(
    how, tmp_path, whole, monkeypatch
):
    tries = tmp_path / "tries"
    monkeypatch.setattr(_workers, "ALLOWED_FAILURES", 0)
    monkeypatch.setattr(_running, "travelling", failing(f"3/{SHARDS}", tries, how))
    with cluster() as client, pytest.raises(PartsFailed) as raised:
        sweep(tmp_path, retries=2).run(client)
    text = str(raised.value)
    assert f"1 of {SHARDS} parts failed" in text
    assert f"part 3/{SHARDS}: " in text
    assert ("no space left on this worker" if how == "raise" else "KilledWorker") in text
    # The first time and two retries; or Dask's own limit of workers that die under a task.
    assert len(tries.read_text()) >= 3
    monkeypatch.undo()

    with cluster() as client:
        again = sweep(tmp_path)
        assert again.missing() == [3]
        again.run(client)
    assert again.told[0] == f"{SHARDS - 1} of {SHARDS} parts are here already"
    assert merged(tmp_path) == whole


def test_a_worker_that_fails_everything_does_not_use_up_the_retries(tmp_path, whole):
    with (
        cluster(n_workers=0) as client,
        full_worker(client.scheduler.address, tmp_path / "full"),
        worker(client.scheduler.address, tmp_path / "fit"),
    ):
        client.wait_for_workers(2)
        made = sweep(tmp_path, retries=1)
        made.run(client)
    assert any("it is run again (1 of 1)" in line for line in made.told)
    assert merged(tmp_path) == whole


def test_parts_that_are_kept_for_a_worker_that_dies_are_given_to_the_next(
    tmp_path, whole, monkeypatch
):
    monkeypatch.setattr(_running, "ASK", 0.5)
    with (
        cluster(n_workers=1) as client,
        full_worker(client.scheduler.address, tmp_path / "full"),
    ):
        [fit] = client.run(os.getpid, workers=[client.cluster.workers[0].worker_address]).values()
        client.wait_for_workers(2)
        made = sweep(tmp_path, retries=1)
        note = made.tell

        def tell(text: str) -> None:
            note(text)
            # The worker had two parts to begin with; all others have failed on the other one by now.
            if "is here" in text and sum("is here" in line for line in made.told) == 2:
                kill(fit)

        made.tell = tell
        made.run(client)
    assert merged(tmp_path) == whole


def test_rows_of_something_else_that_a_worker_gives_are_not_kept(tmp_path, whole, monkeypatch):
    tries = tmp_path / "tries"

    def run_part(files, scenario, words, number, *rest):
        from convsim.dask import _task

        other = number == "3/8" and not tries.exists()
        if other:
            tries.write_text("")
        words = [*words, "--seed=2"] if other else words
        return _task.run_part(files, scenario, words, number, *rest)

    monkeypatch.setattr(_running, "travelling", lambda: (_task.travelling()[0], run_part))
    with cluster() as client:
        made = sweep(tmp_path)
        made.run(client)
    [again] = [line for line in made.told if "it is run again (1 of 3)" in line]
    assert "part 3/8 failed: PartError: the rows that came are not those of the sweep" in again
    assert merged(tmp_path) == whole


def test_a_cluster_without_workers_is_not_waited_for_for_ever(tmp_path, whole):
    with (
        cluster(n_workers=0) as client,
        worker(client.scheduler.address, tmp_path / "a") as only,
        pytest.raises(UnfitWorkers, match="all workers have been gone for 1 s; . of 8 parts are kept"),
    ):
        sweep(tmp_path, only.kill, alone=1.0).run(client)
    with cluster(n_workers=1) as client:
        sweep(tmp_path).run(client)
    assert merged(tmp_path) == whole


def test_more_workers_may_die_under_a_part_than_dask_allows_by_itself():
    with cluster(n_workers=1, processes=False) as client:
        _sweep.raise_allowed_failures(client)
        allowed = client.run_on_scheduler(lambda dask_scheduler: dask_scheduler.allowed_failures)
    assert allowed == _workers.ALLOWED_FAILURES


def test_workers_without_convsim_are_named_with_what_installs_it(tmp_path):
    with cluster(n_workers=0) as client, bare_worker(client, tmp_path):
        with pytest.raises(UnfitWorkers) as raised:
            sweep(tmp_path).run(client)
        assert "has no convsim" in str(raised.value)
        assert "pip install convsim-" in str(raised.value)


def test_a_worker_without_convsim_that_comes_later_says_so(tmp_path, monkeypatch):
    monkeypatch.setattr(_sweep, "check_workers", lambda client: client.wait_for_workers(1))
    with cluster(n_workers=0) as client, bare_worker(client, tmp_path):
        with pytest.raises(PartsFailed) as raised:
            sweep(tmp_path, retries=1).run(client)
        assert "No module named 'convsim'; pip install convsim-" in str(raised.value)


def test_workers_with_another_version_are_refused(tmp_path, monkeypatch):
    with cluster(n_workers=1) as client:
        made = sweep(tmp_path)
        monkeypatch.setattr(_sweep._convsim, "__version__", "9.9.9")
        with pytest.raises(UnfitWorkers, match=r"this is convsim 9\.9\.9, but 1 of 1 workers differ"):
            made.run(client)


def test_rows_of_something_else_are_not_taken_for_these(tmp_path, capsys):
    words = [FILE, "--configuration=pop 128", "--local-cluster", "--workers=1", "--shards=2"]
    words += [f"--output={tmp_path}", "--quiet", "--no-plots"]
    assert convsim_dask.main([*words, "--replications=4"]) == 0
    assert convsim_dask.main([*words, "--replications=4", "--seed=2"]) == 2
    assert "seed was 1, is 2" in capsys.readouterr().err
    assert convsim_dask.main([*words, "--replications=4", "--seed=2", "--fresh"]) == 0


def test_a_wrong_scenario_is_refused_before_a_cluster_is_started(capsys):
    assert convsim_dask.main([FILE, "--local-cluster", "--set=orchagent.pop_batch_size=0"]) == 2
    there = command_line("run", FILE, "--set=orchagent.pop_batch_size=0", code=2).stderr.rstrip()
    assert there in capsys.readouterr().err


def test_a_scheduler_that_is_not_there_is_named(tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(convsim_dask, "CONNECT", 1.0)
    address = "tcp://127.0.0.1:9"
    assert convsim_dask.main([FILE, f"--scheduler={address}", f"--output={tmp_path}"]) == 2
    assert f"no scheduler at {address}" in capsys.readouterr().err


@pytest.mark.parametrize("carried", [0, 1 << 16])
def test_files_that_a_scenario_extends_go_with_it(carried, tmp_path, monkeypatch):
    monkeypatch.setattr(_running, "CARRIED", carried)
    folder = tmp_path / "scenarios"
    (folder / "deep").mkdir(parents=True)
    (folder / "base.json").write_text(CHASSIS.read_text())
    (folder / "deep" / "own.json").write_text(
        '{ "extends": "../base.json", "name": "own", "sweep": null, "expect": [],'
        ' "run": { "replications": 4 } }'
    )
    made = Sweep(words=[], file=str(folder / "deep" / "own.json"), shards=2, output=tmp_path / "out")
    assert [os.path.relpath(name, folder) for name in made.files()] == ["deep/own.json", "base.json"]
    with cluster(n_workers=1) as client:
        made.run(client)
    assert made.missing() == []


RECORDING = (
    '"orchagent.teamd.reaction": { "distribution": "empirical", "column": "ms", "unit": "ms", "file": '
)


def test_a_worker_reads_nothing_but_the_files_that_came_with_the_part(tmp_path, monkeypatch):
    """Files beside the scenario, by absolute paths, and in --set from where the command is given."""
    here, elsewhere = tmp_path / "here", tmp_path / "elsewhere"
    here.mkdir()
    elsewhere.mkdir()
    (elsewhere / "base.json").write_text(CHASSIS.read_text())
    for file in (elsewhere / "a.csv", here / "b.csv", here / "c.csv"):
        file.write_text("ms\n40\n41\n")
    (here / "own.json").write_text(
        '{ "extends": "'
        + str(elsewhere / "base.json")
        + '", "name": "own", "sweep": null, "expect": [],'
        ' "configurations": ['
        ' { "name": "a", "set": { ' + RECORDING + '"' + str(elsewhere / "a.csv") + '" } } },'
        ' { "name": "b", "set": { ' + RECORDING + '"b.csv" } } } ], "run": { "replications": 4 } }'
    )
    monkeypatch.chdir(here)
    recorded = json.loads("{" + RECORDING.replace("reaction", "x") + '"c.csv" } }')
    words = ["--set=orchagent.flap.latency=" + json.dumps(next(iter(recorded.values())))]
    whole = tmp_path / "whole"
    command_line("run", "own.json", *words, "--output", whole, "--quiet", "--no-plots", cwd=here)

    made = Sweep(words=words, file="own.json", shards=2, output=tmp_path / "out")
    files = made.files()
    names = ["own.json", f"{elsewhere}/base.json", f"{elsewhere}/a.csv", "b.csv", "c.csv"]
    assert sorted(files) == sorted(names)
    originals = {name: Path(name).read_bytes() for name in names}
    for name in names:
        Path(name).write_text("something else")
    rows = {
        number: _task.run_part(files, "own.json", words, f"{number}/2", 1, _sweep._convsim.__version__)
        for number in (1, 2)
    }
    for name, content in originals.items():
        Path(name).write_bytes(content)
    for number, content in rows.items():
        made.keep(number, content)
    command_line("merge", made.folder, "--output", tmp_path / "out", "--quiet", "--no-plots", cwd=here)
    for name in ("results.csv", "summary.json", "manifest.json"):
        assert (made.folder / name).read_bytes() == (whole / "own" / name).read_bytes(), name


NOWHERE = "--scheduler=tcp://127.0.0.1:9"


@pytest.mark.parametrize("place", ["a file", "/sys/kernel"])
def test_a_folder_that_cannot_be_written_to_is_refused_before_anything_is_run(place, tmp_path, capsys):
    (tmp_path / "a file").write_text("")
    output = tmp_path / place
    assert convsim_dask.main([FILE, NOWHERE, f"--output={output}"]) == 2
    errors = capsys.readouterr().err
    assert f"results cannot be written to {output}/{NAME}" in errors
    assert "nothing was simulated" in errors
    assert "no scheduler" not in errors


def test_a_disk_that_fills_up_during_a_sweep_is_said(tmp_path, monkeypatch):
    def full(_):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    made = sweep(tmp_path)
    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(Unwritable, match="No space left on device; nothing is half written"):
        made.keep(1, b"rows")
    assert list((tmp_path / NAME / "shards" / "1-of-8").iterdir()) == []


def test_fresh_forgets_nothing_before_it_has_workers(tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(convsim_dask, "CONNECT", 1.0)
    command_line("run", FILE, *WORDS, "--output", tmp_path, "--quiet", "--no-plots")
    before = (tmp_path / NAME / "rows.journal").read_bytes()
    assert convsim_dask.main([FILE, *WORDS, NOWHERE, f"--output={tmp_path}", "--fresh"]) == 2
    assert "no scheduler" in capsys.readouterr().err
    assert (tmp_path / NAME / "rows.journal").read_bytes() == before


@pytest.mark.parametrize("earlier", [["--shard=1/3"], []])
def test_a_folder_with_rows_of_something_else_is_refused_before_anything_is_run(
    earlier, tmp_path, capsys
):
    few = ["--configuration=pop 128", "--replications=4"]
    there = ["--output", tmp_path, "--quiet", "--no-plots"]
    command_line("run", FILE, *few, *earlier, *there)
    words = [FILE, *few, "--seed=2", "--shards=4", f"--output={tmp_path}", "--quiet", "--no-plots"]
    assert convsim_dask.main([*words, NOWHERE]) == 2
    errors = capsys.readouterr().err
    assert "seed was 1, is 2" in errors
    assert "--fresh" in errors
    assert "no scheduler" not in errors
    # So does a part by itself, and the rows that are there still are what they were.
    refused = command_line("run", FILE, *few, "--seed=2", "--shard=2/4", *there, code=2)
    assert "seed was 1, is 2" in refused.stderr
    command_line("run", FILE, *few, *earlier, *there)


@pytest.mark.parametrize(
    "wrong",
    [
        ["--retries=-1", "--local-cluster"],
        ["--shards=\u00b2", "--local-cluster"],
        ["--shards=0", "--local-cluster"],
        [NOWHERE, "--workers=2"],
    ],
)
def test_a_wrong_command_line_is_refused_with_code_2(wrong, capsys):
    with pytest.raises(SystemExit) as ended:
        convsim_dask.main([FILE, *wrong])
    assert ended.value.code == 2
    assert "usage: convsim-dask" in capsys.readouterr().err


def test_every_option_says_what_it_is():
    assert all(action.help for action in convsim_dask.parser()._actions)
    assert "--vary PATH=VALUES" in convsim_dask.parser().format_help()
