"""One file per command: parses, calls `lab`, `record` or `report`, prints; decides nothing."""

from __future__ import annotations

import gc
import os
import sys

_OBJECTS_BEFORE_A_COLLECTION = 100_000


def main() -> None:
    # Nearly all that a command makes it keeps to its end: looking for circles in it, again and
    # again, is a tenth of the time of a short run.
    gc.set_threshold(_OBJECTS_BEFORE_A_COLLECTION)
    try:
        if sys.argv[1:] == ["--version"] and _is_version_said():
            return
        from assay.cli.program import run_program

        status = run_program(sys.argv[1:])
    except KeyboardInterrupt:
        # Interrupted while modules are imported: nothing reports it yet, and nothing has started.
        os.write(2, b"interrupted\n")
        status = 130
    sys.exit(status)


def _is_version_said() -> bool:
    """Before the command line is built. False: it cannot be written, of which `run_program` says
    more."""
    from assay import __version__

    try:
        os.write(1, f"assay {__version__}\n".encode())
    except OSError:
        return False
    return True
