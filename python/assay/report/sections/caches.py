"""Takes the cells of a test; returns what was done to their caches before the measurement, and what
was read from storage in it all the same.

They are those of one run, the repetition with the median throughput.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from assay.judge.evidence import cache
from assay.judge.statistics import warming
from assay.plan.cell_names import CACHE
from assay.record import Run
from assay.record.metrics.clients import THROUGHPUT
from assay.report.cells import by_cell, cell_runs, cold
from assay.report.cells.cell_runs import CellRuns
from assay.report.columns import numbers, words
from assay.report.sections.costs import hits_cell
from assay.report.values import (
    Number,
    ReportCell,
    ReportColumn,
    Section,
    absent,
    rate,
    size,
)
from assay.text import units

_COLD_NOTE = (
    "first execution: of each transaction type, summed; warm after: the first seconds, in which "
    "the throughput differed, and TPS in the rest; over all: an average over the warming and the "
    "rest; -: no difference was seen, or fewer than 5 s were measured"
)


def section(test: str, cells: Sequence[CellRuns]) -> Section | None:
    """None where the caches were left as they were."""
    measured = [
        (cell, run) for cell, run in cell_runs.middle_runs(cells) if run.measurement.cache_state
    ]
    if not measured:
        return None
    has_cold = any(cache.is_to_be_cold(run) for _, run in measured)
    table = by_cell.table(
        f"{test}_caches",
        "Caches before the measurement, and what was read from storage in it",
        (cells, cell_runs.varying(cells, "system", "clients", CACHE)),
        (
            words("before the measurement", lambda run: ", ".join(run.driven.cache_state.done)),
            numbers("files", lambda run: size(run.driven.cache_state.file_bytes)),
            numbers("cached", lambda run: size(run.driven.cache_state.cached_bytes)),
            numbers("read", lambda run: size(cache.read_per_transaction(run))),
            numbers("buffer hits", lambda run: hits_cell(run.driven, "-")),
            *(_FROM_COLD if has_cold else ()),
        ),
        measured,
        notes=(
            *((_COLD_NOTE,) if has_cold else ()),
            "cached: of the files, in the page cache before the measurement; read: per "
            "transaction, from storage, by the system's processes or else by the whole device",
            *cell_runs.of_middle(cells),
        ),
    )
    return Section("Caches", (), (table,))


def _first(run: Run) -> ReportCell:
    first_ns = warming.first_ns(run.measurement)
    if first_ns is None:
        return absent("-")
    return ReportCell(units.short_duration(first_ns / 1e9), Number(first_ns, "ns", n=1))


def _warm_after(run: Run) -> ReportCell:
    warm = warming.warm(run.measurement)
    if warm is None:
        return absent("-")
    return ReportCell(f"{warm.after_s} s", Number(warm.after_s, "s"))


def _then(run: Run) -> ReportCell:
    warm = warming.warm(run.measurement)
    return absent("-") if warm is None else rate(warm.per_s)


def _over_all(run: Run) -> ReportCell:
    per_s = THROUGHPUT.value(run)
    return absent("-") if per_s is None else rate(per_s)


def _if_cold(title: str, cell: Callable[[Run], ReportCell]) -> ReportColumn:
    return numbers(title, lambda run: cell(run) if cache.is_to_be_cold(run) else absent(""))


_FROM_COLD = (
    _if_cold(cold.FIRST, _first),
    _if_cold(cold.WARM_AFTER, _warm_after),
    _if_cold("then, TPS", _then),
    _if_cold("over all, TPS", _over_all),
)
