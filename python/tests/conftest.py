"""What the tests have in common."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
SCENARIOS = ROOT / "scenarios"
CHASSIS = SCENARIOS / "chassis-packet-pop-batch.json"


def command_line(*words: str | Path, code: int = 0, cwd: Path = ROOT) -> subprocess.CompletedProcess:
    """Runs the program ``convsim`` that ``CONVSIM_BINARY`` names, or the wheel's own."""
    binary = os.environ.get("CONVSIM_BINARY")
    program = [binary] if binary else [sys.executable, "-m", "convsim"]
    done = subprocess.run(
        [*program, *map(str, words)], capture_output=True, text=True, cwd=cwd, check=False
    )
    assert done.returncode == code, done.stderr
    return done


@pytest.fixture(autouse=True)
def at_the_root(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
