"""Takes the cells of a test; returns what each load generator did, where several drove the clients:
its load, how busy it was, its clock, and which of them were lost.
"""

from __future__ import annotations

from collections.abc import Sequence

from assay.contracts.observation import GeneratorReport
from assay.contracts.observation.parts.generators import BOUND_NOT_KNOWN
from assay.record import RunRecord
from assay.report.cells import cell_runs
from assay.report.cells.cell_runs import CellRuns
from assay.report.values import (
    ReportCell,
    ReportColumn,
    ReportTable,
    Row,
    Section,
    absent,
    count,
    run_number,
    text,
)
from assay.text import units

_NOTES = (
    "busy: share of the generator's threads; waited: share of their time without a processor; lag: "
    "how late transactions of an open loop were begun, 99th percentile; load: of the machine, in "
    "the last minute; clock: how well its offset is known",
    "ok and unknown of a lost generator: what it had reported, and the most that it may have done "
    "since; the outcomes and the TPS of the run have them, times, seconds, and numbers of several "
    "types or groups do not",
)


def section(test: str, cells: Sequence[CellRuns]) -> Section | None:
    """None where one process drove the clients."""
    shown = _runs(cells)
    if not shown:
        return None
    columns = ("clients", "ok", "failed", "unknown", "busy", "waited", "lag", "load", "clock")
    table = ReportTable(
        name=f"{test}_generators",
        title="Each load generator, in one measurement of each cell, and in all with losses",
        label_columns=2,
        columns=(
            ReportColumn("run", is_number=True),
            ReportColumn("generator"),
            *(ReportColumn(name, is_number=True) for name in columns),
            ReportColumn("lost"),
        ),
        rows=tuple(
            Row((run_number(run.id), text(f"{number}: {one.machine}"), *_cells(one)))
            for run, generators in shown
            for number, one in enumerate(generators, 1)
        ),
        notes=_NOTES,
    )
    return Section("Load generators", (), (table,))


def _runs(cells: Sequence[CellRuns]) -> list[tuple[RunRecord, Sequence[GeneratorReport]]]:
    middle = [run.run.id for _, run in cell_runs.middle_runs(cells)]
    return [
        (run, driven.generators)
        for cell in cells
        for run in cell.runs
        if (driven := run.driven) is not None and driven.generators
        if run.id in middle or driven.lost_generators
    ]


def _cells(generator: GeneratorReport) -> list[ReportCell]:
    uncertain_ns = generator.clock_uncertainty_ns
    return [
        count(generator.clients),
        count(generator.ok),
        count(generator.failed),
        count(generator.unknown) if generator.is_bound_known else text(BOUND_NOT_KNOWN),
        _share(generator.cpu_share),
        _share(generator.waited_share),
        text(units.short_duration(generator.lag_p99_ns / 1e9))
        if generator.lag_p99_ns
        else absent(""),
        text(f"{generator.load_1min:.1f}") if generator.load_1min is not None else absent(""),
        text(f"±{units.short_duration(uncertain_ns / 1e9)}") if uncertain_ns else absent(""),
        text(f"after {generator.lost_after_s:.0f} s" if generator.lost_after_s is not None else ""),
    ]


def _share(share: float | None) -> ReportCell:
    return absent("") if share is None else text(units.share(share))
