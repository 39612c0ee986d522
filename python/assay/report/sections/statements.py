"""Takes the cells of a test whose statements were timed; returns their table for each cell."""

from __future__ import annotations

from collections.abc import Sequence

from assay.report.cells import cell_runs, percentiles
from assay.report.cells.cell_runs import CellRuns, DrivenRun
from assay.report.values import ReportColumn, ReportTable, Row, Section, count, text
from assay.text.cut import beginning

_TEXT_SHOWN = 36
"""Characters of a statement: enough for its verb and its table."""
_SHOWN = ("p50", "p90", "p99")


def section(test: str, cells: Sequence[CellRuns]) -> Section | None:
    """None where no statement was timed."""
    tables = tuple(
        _table(test, cell, run)
        for cell, run in cell_runs.middle_runs(cells)
        if run.driven.per_statement
    )
    return Section("Statements", (), tables) if tables else None


def _table(test: str, cell: CellRuns, run: DrivenRun) -> ReportTable:
    statements, resolution = run.driven.per_statement, run.driven.resolution
    unit = percentiles.unit_of(statement.service_time for statement in statements)
    return ReportTable(
        name=f"{test}_statements_{run.run.id}",
        label_columns=2,
        title=f"Service times: {cell.name} (run {run.run.id})",
        columns=(
            ReportColumn("transaction"),
            ReportColumn("line", is_number=True),
            ReportColumn("n", is_number=True),
            *(ReportColumn(name, is_number=True, unit=unit) for name in (*_SHOWN, "max")),
            ReportColumn("statement"),
        ),
        rows=tuple(
            Row(
                (
                    text(statement.transaction),
                    count(statement.line),
                    count(statement.count),
                    *(
                        percentiles.cell(statement.service_time, name, unit, resolution)
                        for name in (*_SHOWN, "max")
                    ),
                    text(beginning(statement.text, _TEXT_SHOWN)),
                )
            )
            for statement in statements
        ),
        notes=("from the sending of a statement to the last byte of its answer",),
    )
