"""Takes the cells of a test; returns the tables that reports of steps bring; takes runs; returns
the warnings of those that cannot be read."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from operator import itemgetter

from assay.contracts.observation import StepTable, UnreadReport
from assay.judge import RunWarning
from assay.judge.run import StepRecord
from assay.judge.warnings.kinds import WarningKind
from assay.record import Run
from assay.report import columns
from assay.report.cells.cell_runs import CellRuns
from assay.report.columns import run_column, words
from assay.report.values import (
    Number,
    ReportCell,
    ReportColumn,
    ReportTable,
    Section,
    absent,
    text,
)
from assay.text import units

Found = tuple[int, StepRecord, StepTable]


def section(test: str, cells: Sequence[CellRuns]) -> Section | None:
    """None where no step has something to show."""
    steps = [(run.id, step) for cell in cells for run in cell.runs for step in run.steps]
    by_title: dict[str, list[Found]] = {}
    for number, step in steps:
        for table in _tables(step):
            by_title.setdefault(table.title, []).append((number, step, table))
    if not by_title:
        return None
    tables = (_table(f"{test}_reports_{at}", same) for at, same in enumerate(by_title.values(), 1))
    return Section("Reports of steps", (), tuple(tables))


def warnings(runs: Iterable[Run]) -> Iterator[RunWarning]:
    """Of reports that cannot be read."""
    for run in runs:
        for step in run.steps:
            if isinstance(step.reported, UnreadReport):
                detail = f"step {step.name or step.do}: {step.reported.why}"
                yield RunWarning(WarningKind.REPORT_UNREAD.id, detail)


def _tables(step: StepRecord) -> Iterator[StepTable]:
    if step.reported is not None:
        yield from step.reported.shown()


def _table(name: str, same: Sequence[Found]) -> ReportTable:
    first = same[0][2]
    rows = [
        (number, step.name or step.do, row) for number, step, table in same for row in table.rows
    ]

    def column(place: int) -> ReportColumn:
        return ReportColumn(
            first.columns[place],
            is_number=any(isinstance(row[place], int | float) for *_, row in rows),
            cell=lambda source: _cell(source[2][place]),
        )

    return columns.table(
        name,
        first.title,
        (
            run_column(itemgetter(0)),
            words("step", itemgetter(1), is_label=True),
            *map(column, range(len(first.columns))),
        ),
        rows,
    )


def _cell(value: str | int | float | None) -> ReportCell:
    if value is None:
        return absent("")
    if isinstance(value, str):
        return text(value)
    return ReportCell(units.digits(value), Number(value, "count"))
