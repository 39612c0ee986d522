"""Takes a cell; returns, where a measurement of a given duration began with cold caches, how long
its first executions took and after how many seconds it was warm: medians of the repetitions.

The throughput of such a cell is an average over its warming, which depends on the duration, so that
it is no number of the cell: it stands in the section *Caches*, by that name, and in exports.
"""

from __future__ import annotations

import statistics
from collections.abc import Iterable, Sequence

from assay.judge.evidence import cache
from assay.report.cells import cell_runs
from assay.report.cells.cell_runs import CellRuns
from assay.report.values import Number, ReportCell, absent
from assay.text import units

FIRST, WARM_AFTER = "first execution", "warm after"
NOT_SEEN = "not seen"
"""The throughput did not differ in the first seconds, or there were too few to tell."""
NOTE = (
    "first execution: of each transaction type, summed; warm after: the first seconds, in which "
    "the throughput differed; with cold caches TPS would be an average over the warming"
)


def is_timed(cell: CellRuns) -> bool:
    """Whether the cell has these numbers in place of a throughput."""
    measured = cell_runs.measured_runs(cell)
    from assay.judge.statistics import warming

    return bool(measured) and all(
        run.driving.duration_s is not None
        and cache.is_to_be_cold(run)
        and warming.first_ns(run.measurement) is not None
        for run in measured
    )


def any_timed(cells: Iterable[CellRuns]) -> bool:
    return any(map(is_timed, cells))


def first(cell: CellRuns) -> ReportCell:
    """Empty where the cell has no such number."""
    if not is_timed(cell):
        return absent("")
    from assay.judge.statistics import warming

    values_ns = [warming.first_ns(run.measurement) or 0 for run in cell_runs.measured_runs(cell)]
    return _median(values_ns, "ns", units.short_duration(statistics.median(values_ns) / 1e9), cell)


def warm_after(cell: CellRuns) -> ReportCell:
    """In the same way; `NOT_SEEN` where a repetition was not seen to become warm."""
    if not is_timed(cell):
        return absent("")
    from assay.judge.statistics import warming

    found = [warming.warm(run.measurement) for run in cell_runs.measured_runs(cell)]
    values_s = [one.after_s for one in found if one is not None]
    if len(values_s) < len(found):
        return absent(NOT_SEEN)
    return _median(values_s, "s", f"{statistics.median(values_s):g} s", cell)


def _median(values: Sequence[int], unit: str, shown: str, cell: CellRuns) -> ReportCell:
    middle = statistics.median(values)
    made = Number(middle, unit, len(values), min(values), max(values), judged=cell.judged.verdict)
    return ReportCell(shown, made)
