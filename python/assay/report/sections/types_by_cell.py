"""Takes the cells of a test with many transaction types; returns a table with a row for each type
and a column for each cell: the mean latency, or why there is none."""

from __future__ import annotations

from collections.abc import Sequence

from assay.contracts.observation import Latency
from assay.judge.check.verdict import STATEMENT_LIMIT
from assay.judge.statistics.spread import spread
from assay.record import Run
from assay.report import columns
from assay.report.cells import cell_runs, percentiles
from assay.report.cells.cell_runs import CellRuns
from assay.report.columns import numbers, words
from assay.report.values import Number, ReportCell, ReportColumn, ReportTable, absent
from assay.text import units

_MOST_CELLS = 8
"""Side by side."""


def table(test: str, measured_cells: Sequence[CellRuns]) -> ReportTable | None:
    """None for a single cell, and for more than stand side by side."""
    cells = [cell for cell in measured_cells if cell_runs.measured_runs(cell)]
    if not 1 < len(cells) <= _MOST_CELLS:
        return None
    runs = [run for cell in cells for run in cell_runs.measured_runs(cell)]
    names = dict.fromkeys(
        one.name for run in runs for one in run.measurement.outcomes_by_transaction if one.scheduled
    )
    unit = percentiles.unit_of(_latencies(runs, names))
    is_cancelled = any(_limit_s(run, name) for run in runs for name in names)

    def of_cell(cell: CellRuns) -> ReportColumn:
        return numbers(cell.name, lambda name: _of_type(cell, name, unit), unit)

    return columns.table(
        f"{test}_types_by_cell",
        "Each transaction type in each cell",
        (words("transaction", str), *map(of_cell, cells)),
        names,
        notes=(
            "mean latency of those that ended ok; over repetitions the median",
            *cell_runs.without_lost(runs),
            *(
                ["> … : cancelled at the limit of a statement; such a type is in no mean, and the "
                 "elapsed time has it up to the limit"]
                if is_cancelled
                else []
            ),
        ),
        is_detail=True,
    )  # fmt: skip


def _latencies(runs: Sequence[Run], names: Sequence[str] | dict[str, None]) -> list[Latency]:
    found = (run.measurement.latency_of(name) for run in runs for name in names)
    return [one for one in found if one is not None]


def _of_type(cell: CellRuns, name: str, unit: str) -> ReportCell:
    runs = cell_runs.measured_runs(cell)
    limits = [limit for run in runs if (limit := _limit_s(run, name))]
    if limits:
        return ReportCell(f"> {units.time(limits[0] * 1e9, unit)}", is_absent=True)
    if _lost(runs, name):
        return absent("failed")
    means = [one.mean_ns for one in _latencies(runs, [name])]
    if len(means) < len(runs):
        return absent("not run")
    over = spread(means)
    number = Number(over.median, "ns", over.n, over.low, over.high, judged=cell.judged.verdict)
    return ReportCell(units.time(over.median, unit), number)


def _limit_s(run: Run, name: str) -> float:
    """The limit at which one of its statements was cancelled; 0: none was."""
    driving = run.driving
    is_cancelled = any(
        error.code == STATEMENT_LIMIT and error.transaction == name
        for error in run.measurement.errors
    )
    limit_s = driving.statement_limit_s if is_cancelled else None
    return float(limit_s or 0)


def _lost(runs: Sequence[Run], name: str) -> bool:
    return any(
        one.lost
        for run in runs
        for one in run.measurement.outcomes_by_transaction
        if one.name == name
    )
