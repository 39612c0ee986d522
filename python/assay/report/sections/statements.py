"""Takes the cells of a test whose statements were timed; returns their table for each cell."""

from __future__ import annotations

from collections.abc import Sequence

from assay.record import Run
from assay.report import columns
from assay.report.cells import cell_runs, percentiles
from assay.report.cells.cell_runs import CellRuns
from assay.report.columns import COUNT, SERVICE_TIME, integer, numbers, path, string
from assay.report.program_tables import ProgramTable, RunPart, of_part, parts
from assay.report.values import ReportColumn, ReportTable, Section, text
from assay.text.cut import beginning

_TEXT_SHOWN = 36
"""Characters of a statement: enough for its verb and its table."""
STATEMENTS = ProgramTable(
    "One row per statement, of runs that timed them.",
    of_part(
        [
            string("transaction", "type", title="transaction", is_label=True),
            integer("line", "of the script", title="line", is_label=True),
            string(
                "statement", "as it is sent", path("text"), title="statement",
                show=lambda whole: text(beginning(whole, _TEXT_SHOWN)),
            ),
            COUNT,
            *SERVICE_TIME,
        ]
    ),
    parts(lambda run: run.driven.per_statement if run.driven else ()),
    is_detail=True,
)  # fmt: skip


def section(test: str, cells: Sequence[CellRuns]) -> Section | None:
    """None where no statement was timed."""
    tables = tuple(
        _table(test, cell, run)
        for cell, run in cell_runs.middle_runs(cells)
        if run.measurement.per_statement
    )
    return Section("Statements", (), tables) if tables else None


def _table(test: str, cell: CellRuns, run: Run) -> ReportTable:
    statements, resolution = run.measurement.per_statement, run.measurement.resolution
    unit = percentiles.unit_of(statement.service_time for statement in statements)

    def time(name: str) -> ReportColumn:
        return numbers(
            name,
            lambda part: percentiles.cell(part.part.service_time, name, unit, resolution),
            unit,
        )

    return columns.table(
        f"{test}_statements_{run.id}",
        f"Service times: {cell.name} (run {run.id})",
        (
            *STATEMENTS.named("transaction", "line", "count"),
            *map(time, ("p50", "p90", "p99", "max")),
            *STATEMENTS.named("statement"),
        ),
        (RunPart(run, statement) for statement in statements),
        notes=("from the sending of a statement to the last byte of its answer",),
    )
