"""Executes the notebooks, from nothing and in order, and renders them.

    python notebooks/execute.py                          # do they run, and are they committed clean?
    python notebooks/execute.py --html outputs/notebooks # and what do they show?

The notebooks themselves stay as they are: without outputs.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from pathlib import Path

import nbformat
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError

FOLDER = Path(__file__).resolve().parent
#: One cell that takes longer than this hangs, in seconds.
LONGEST_CELL = 300
#: What is said about this machine and not by the notebook: here nobody looks at a progress bar.
UNSAID = "ignore:IProgress not found"


def untidy(path: Path) -> list[str]:
    """What keeps a notebook from being committed: it must be as if it had never been run."""
    notebook = nbformat.read(path, as_version=4)
    found = []
    for number, cell in enumerate(notebook.cells, start=1):
        if cell.cell_type == "code" and (cell.outputs or cell.execution_count is not None):
            found.append(f"{path.name}: cell {number} has outputs")
    allowed = {"kernelspec", "language_info"}
    extra = set(notebook.metadata) - allowed
    if extra:
        found.append(f"{path.name}: its metadata has {', '.join(sorted(extra))}")
    return found


def execute(path: Path, html: Path | None) -> tuple[float, str | None]:
    """Runs a notebook; gives the seconds that it took, and what went wrong."""
    notebook = nbformat.read(path, as_version=4)
    started = time.monotonic()
    client = NotebookClient(
        notebook,
        timeout=LONGEST_CELL,
        kernel_name="python3",
        resources={"metadata": {"path": str(FOLDER)}},
    )
    problem = None
    try:
        client.execute()
    except CellExecutionError as error:
        problem = str(error)
    spent = time.monotonic() - started
    if html:
        from nbconvert import HTMLExporter

        text, _ = HTMLExporter().from_notebook_node(notebook)
        html.mkdir(parents=True, exist_ok=True)
        (html / f"{path.stem}.html").write_text(text)
    return spent, problem


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("notebooks", nargs="*", type=Path, help="all by default")
    parser.add_argument("--html", type=Path, metavar="DIR", help="write an HTML page of each to DIR")
    asked = parser.parse_args()
    # Kernels have the environment of this process.
    said = os.environ.get("PYTHONWARNINGS")
    os.environ["PYTHONWARNINGS"] = f"{said},{UNSAID}" if said else UNSAID
    paths = asked.notebooks or sorted(FOLDER.glob("*.ipynb"))
    wrong = [text for path in paths for text in untidy(path)]
    started = time.monotonic()
    for path in paths:
        spent, problem = execute(path, asked.html)
        print(f"{path.name}: {spent:.0f} s{' FAILED' if problem else ''}", flush=True)
        if problem:
            wrong.append(f"{path.name}: {problem}")
    print(f"{len(paths)} notebooks in {time.monotonic() - started:.0f} s")
    print("\n".join(wrong), file=sys.stderr, end="\n" if wrong else "")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
