"""Takes the cells of a test; returns how the transactions that others had queued (`\\defer`) were
run: how many waited, how long, and how many were late or not run."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from operator import itemgetter

from assay.contracts.observation import GroupReport, Latency
from assay.record import Run
from assay.record.metrics.deferred import of_run
from assay.report.cells import by_cell, cell_runs, percentiles
from assay.report.cells.cell_runs import CellRuns
from assay.report.columns import counts, numbers, of, path
from assay.report.values import ReportCell, ReportColumn, Section
from assay.text import units

_SHOWN = ("p50", "p90", "p99", "max")


def section(test: str, cells: Sequence[CellRuns]) -> Section | None:
    """None where nothing is deferred."""
    found = [
        (cell, (run, group))
        for cell, run in cell_runs.middle_runs(cells)
        if (group := of_run(run)) is not None
    ]
    if not found:
        return None
    waits = [lag for _, (_, group) in found if (lag := _lag(group))]
    unit = percentiles.unit_of([*waits, *(group.all_ok.service_time for _, (_, group) in found)])

    def time(what: str, of_group: Callable[[GroupReport], Latency], name: str) -> ReportColumn:
        def shown(source: tuple[Run, GroupReport]) -> ReportCell:
            run, group = source
            return percentiles.cell(of_group(group), name, unit, run.measurement.resolution)

        return numbers(f"{what} {name}", shown, unit)

    table = by_cell.table(
        f"{test}_deferred",
        "Transactions that others queued",
        (cells, cell_runs.varying(cells, "system", "clients")),
        (
            *of(
                itemgetter(1),
                [
                    counts("queued", path("outcomes", "scheduled")),
                    counts("late", path("outcomes", "late")),
                    counts("not run", path("outcomes", "skipped")),
                    counts("longest queue", lambda group: group.longest_queue or 0),
                ],
            ),
            *(
                time("wait", lambda source: _lag(source) or source.all_ok.latency, name)
                for name in _SHOWN
            ),
            *(time("run", lambda source: source.all_ok.service_time, name) for name in _SHOWN),
        ),
        found,
        notes=cell_runs.of_middle(cells),
    )
    limits = sum(group.outcomes.late for _, (_, group) in found)
    kept = "none was late" if not limits else f"{units.counted(limits, 'transaction')} late"
    line = f"A wait is from \\defer to the start, a run from there to the end; {kept}."
    return Section("Deferred", (line,), (table,))


def _lag(group: GroupReport) -> Latency | None:
    return group.all_ok.schedule_lag
