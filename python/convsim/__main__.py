"""The command line, from the wheel: ``convsim run ...`` or ``python -m convsim run ...``."""

from __future__ import annotations

import signal
import sys

from convsim import _convsim


def main() -> int:
    """Does what ``sys.argv`` asks for; gives the exit code."""
    # Ctrl-C means what it means to the program: Python only notes it, and would look too late.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    code, errors = _convsim.execute(["convsim", *sys.argv[1:]], signals=True)
    sys.stderr.write(errors)
    return code


if __name__ == "__main__":
    sys.exit(main())
