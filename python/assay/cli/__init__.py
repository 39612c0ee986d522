"""One file per command: parses, calls `lab`, `record` or `report`, prints; decides nothing."""

from __future__ import annotations

import sys


def main() -> None:
    """The program ``assay``."""
    from assay.cli.program import run_program

    sys.exit(run_program(sys.argv[1:]))
