"""One file per command: parses, calls `lab`, `record` or `report`, prints; decides nothing."""

from __future__ import annotations

import os
import sys


def main() -> None:
    """The program ``assay``."""
    try:
        from assay.cli.program import run_program

        status = run_program(sys.argv[1:])
    except KeyboardInterrupt:
        # Interrupted while modules are imported: nothing reports it yet, and nothing has started.
        os.write(2, b"interrupted\n")
        status = 130
    sys.exit(status)
