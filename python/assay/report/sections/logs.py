"""Takes the cells of a test; returns what the servers of failed runs logged before they ended."""

from __future__ import annotations

from collections.abc import Sequence
from operator import itemgetter

from assay.report import columns
from assay.report.cells.cell_runs import CellRuns
from assay.report.columns import run_column, words
from assay.report.values import Section
from assay.text import reasons


def section(test: str, cells: Sequence[CellRuns]) -> Section | None:
    """None where no failed run has the log of a server."""
    rows = [
        (run.id, line)
        for cell in cells
        for run in cell.runs
        for line in reasons.log_lines(run.reason or "")
    ]
    if not rows:
        return None
    table = columns.table(
        f"{test}_logs",
        "Their last lines, since the run began",
        (run_column(itemgetter(0)), words("line", itemgetter(1))),
        rows,
    )
    return Section("Logs of servers that ended", (), (table,))
