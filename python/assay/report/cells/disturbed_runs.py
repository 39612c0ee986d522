"""Takes the cells of an experiment; says how many of their runs other programs disturbed so that
they do not count, and how many were measured again."""

from __future__ import annotations

from collections.abc import Sequence

from assay.report.cells.cell_runs import CellRuns
from assay.text import units

TITLE = "disturbed"


def words(cells: Sequence[CellRuns]) -> str:
    """``2 of 22 runs left out, as other programs disturbed them; 2 measured again``; empty where
    there is none of both."""
    ended = [run for cell in cells for run in cell.runs if run.is_measured]
    left_out = len(ended) - sum(len(cell.measured) for cell in cells)
    again = sum(run.in_place_of is not None for run in ended)
    of_all = f"of {units.counted(len(ended), 'run')}"
    if not left_out:
        return f"{again} {of_all} repeat what other programs disturbed" if again else ""
    them = "it" if left_out == 1 else "them"
    said = f"{left_out} {of_all} left out, as other programs disturbed {them}"
    return f"{said}; {again} measured again" if again else said
