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
        # While modules are imported, nothing is there yet that says so or has to be taken down.
        os.write(2, b"interrupted\n")
        status = 130
    sys.exit(status)
