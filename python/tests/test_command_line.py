"""The wheel has the whole command line, and says what it has."""

from __future__ import annotations

import ast
import inspect
import os
import subprocess
import sys
from pathlib import Path

import pytest
from conftest import CHASSIS, ROOT, command_line

import convsim
from convsim import _convsim


def wheel(*words: str, **options) -> subprocess.CompletedProcess:
    return subprocess.run(
        [sys.executable, "-m", "convsim", *words], capture_output=True, text=True, **options
    )


def test_the_wheel_has_the_command_line(tmp_path):
    done = wheel("run", str(CHASSIS), "--replications=2", "--output", str(tmp_path), cwd=ROOT)
    assert done.returncode == 0
    assert "packet_loss_duration" in done.stdout
    assert (tmp_path / CHASSIS.stem / "report.html").exists()


@pytest.mark.skipif("CONVSIM_BINARY" not in os.environ, reason="CONVSIM_BINARY names no program")
@pytest.mark.parametrize("words", [["--help"], ["run"], ["run", "nowhere.json"], ["describe"]])
def test_it_answers_as_the_program_does(words):
    there = subprocess.run(
        [os.environ["CONVSIM_BINARY"], *words], capture_output=True, text=True, check=False
    )
    here = wheel(*words)
    assert (here.returncode, here.stdout, here.stderr) == (
        there.returncode,
        there.stdout,
        there.stderr,
    )


@pytest.mark.skipif("CONVSIM_BINARY" not in os.environ, reason="CONVSIM_BINARY names no program")
@pytest.mark.parametrize("what", ["run", "dask"])
def test_what_the_package_costs_can_be_measured_as_the_docs_say(what):
    [command] = [
        line.split()
        for line in (ROOT / "docs/beyond-one-machine.md").read_text().splitlines()
        if line.startswith("python ") and f" {what} " in line
    ]
    command[command.index("target/release/convsim")] = os.environ["CONVSIM_BINARY"]
    command[0] = sys.executable
    done = subprocess.run(
        [*command, "--rounds=1", "--replications=2"],
        capture_output=True, text=True, cwd=ROOT, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert len([line for line in done.stdout.splitlines() if " clock " in line]) == 2


def test_the_stubs_name_what_there_is():
    stubs = ast.parse((ROOT / "python/convsim/_convsim.pyi").read_text())
    for node in stubs.body:
        if isinstance(node, ast.ClassDef):
            there = getattr(_convsim, node.name)
            for item in node.body:
                if isinstance(item, ast.FunctionDef):
                    assert hasattr(there, item.name), f"{node.name}.{item.name}"
        elif isinstance(node, ast.FunctionDef):
            assert hasattr(_convsim, node.name), node.name
    stubbed = {getattr(node, "name", "") for node in stubs.body}
    public = {name for name in dir(_convsim) if not name.startswith("_")}
    assert public <= stubbed


def test_the_command_line_and_the_workers_do_without_pandas():
    code = "import sys, convsim.__main__, convsim.dask._task; print('pandas' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "False\n"
    everything = (
        "from convsim import *; print(sorted(set(__import__('convsim').__all__) - set(dir())))"
    )
    done = subprocess.run(
        [sys.executable, "-c", everything], capture_output=True, text=True, check=True
    )
    assert done.stdout == "[]\n"
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        convsim.nothing  # noqa: B018


def test_everything_public_is_described():
    for name in convsim.__all__:
        thing = getattr(convsim, name)
        if inspect.isclass(thing) or inspect.isfunction(thing):
            assert thing.__doc__, name


def test_the_version_is_that_of_the_program():
    assert command_line("--version").stdout.split()[-1] == convsim.__version__


def test_types_come_with_the_package():
    assert (Path(convsim.__file__).parent / "py.typed").exists()
