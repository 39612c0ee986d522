"""Takes the cells of a test; returns how the transactions that others had queued (`\\defer`) were
run: how many waited, how long, and how many were late or not run."""

from __future__ import annotations

from collections.abc import Sequence

from assay.contracts.observation import GroupReport, Latency
from assay.record.metrics.deferred import of_run
from assay.report.cells import cell_runs, percentiles
from assay.report.cells.cell_runs import CellRuns
from assay.report.values import ReportColumn, ReportTable, Row, Section, count
from assay.text import units

_PERCENTILES = ("p50", "p90", "p99", "max")


def section(test: str, cells: Sequence[CellRuns]) -> Section | None:
    """None where nothing is deferred."""
    found = [
        (cell, run, group)
        for cell, run in cell_runs.middle_runs(cells)
        if (group := of_run(run.run)) is not None
    ]
    if not found:
        return None
    factors = cell_runs.varying(cells, "system", "clients")
    waits = [lag for _, _, group in found if (lag := _lag(group))]
    unit = percentiles.unit_of([*waits, *(group.all_ok.service_time for _, _, group in found)])
    table = ReportTable(
        name=f"{test}_deferred",
        title="Transactions that others queued",
        label_columns=len(factors),
        columns=(
            *cell_runs.label_columns(cells, factors),
            *(
                ReportColumn(name, is_number=True)
                for name in ("queued", "late", "not run", "longest queue")
            ),
            *(
                ReportColumn(f"{what} {name}", is_number=True, unit=unit)
                for what in ("wait", "run")
                for name in _PERCENTILES
            ),
        ),
        rows=tuple(
            Row(
                (
                    *cell_runs.label_cells(cell, factors),
                    count(group.outcomes.scheduled),
                    count(group.outcomes.late),
                    count(group.outcomes.skipped),
                    count(group.longest_queue or 0),
                    *(
                        percentiles.cell(times, name, unit, run.driven.resolution)
                        for times in (
                            _lag(group) or group.all_ok.latency,
                            group.all_ok.service_time,
                        )
                        for name in _PERCENTILES
                    ),
                )
            )
            for cell, run, group in found
        ),
        notes=cell_runs.of_middle(cells),
    )
    limits = sum(group.outcomes.late for _, _, group in found)
    kept = "none was late" if not limits else f"{units.counted(limits, 'transaction')} late"
    line = f"A wait is from \\defer to the start, a run from there to the end; {kept}."
    return Section("Deferred", (line,), (table,))


def _lag(group: GroupReport) -> Latency | None:
    return group.all_ok.schedule_lag
