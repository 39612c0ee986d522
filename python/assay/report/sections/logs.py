"""Takes the cells of a test; returns what the servers of failed runs logged before they ended."""

from __future__ import annotations

from collections.abc import Sequence

from assay.report.cells.cell_runs import CellRuns
from assay.report.values import ReportCell, ReportColumn, ReportTable, Row, Section, run_number
from assay.text import reasons


def section(test: str, cells: Sequence[CellRuns]) -> Section | None:
    """None where no failed run has the log of a server."""
    rows = [
        Row((run_number(run.id), ReportCell(line)))
        for cell in cells
        for run in cell.runs
        for line in reasons.log_lines(run.reason or "")
    ]
    if not rows:
        return None
    table = ReportTable(
        name=f"{test}_logs",
        title="Their last lines, since the run began",
        columns=(ReportColumn("run", is_number=True), ReportColumn("line")),
        rows=tuple(rows),
    )
    return Section("Logs of servers that ended", (), (table,))
