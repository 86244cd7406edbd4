"""The command stowage: `stowage COMMAND ...` and `python -m stowage COMMAND ...`.

It has all of the command but what executes plans with the kernels: `stowage run` and `stowage
calibrate` name what takes their place in Python.
"""

from __future__ import annotations

import os
import signal
import sys

from . import _core


def main() -> int:
    """Runs the command that sys.argv names and returns its exit code. The process should end then,
    since stdout is redirected."""
    # The command handles Ctrl-C itself; where it does not, Ctrl-C ends the process.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    sys.stdout.flush()
    return _core.run_command([os.fsencode(word) for word in sys.argv[1:]])


if __name__ == "__main__":
    sys.exit(main())
