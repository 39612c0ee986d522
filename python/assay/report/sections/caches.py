"""Takes the cells of a test; returns what was done to their caches before the measurement, and what
was read from storage in it all the same.

They are those of one run, the repetition with the median throughput.
"""

from __future__ import annotations

from collections.abc import Sequence

from assay.judge.evidence import cache
from assay.judge.statistics import warming
from assay.plan.cell_names import CACHE
from assay.record.metrics.clients import THROUGHPUT
from assay.report.cells import cell_runs, cold
from assay.report.cells.cell_runs import CellRuns, DrivenRun
from assay.report.sections.costs import hit_ratio
from assay.report.values import (
    Number,
    ReportCell,
    ReportColumn,
    ReportTable,
    Row,
    Section,
    absent,
    rate,
    size,
    text,
)
from assay.text import units

_OF_COLD = (cold.FIRST, cold.WARM_AFTER, "then, TPS", "over all, TPS")
_FROM_COLD = (
    "first execution: of each transaction type, summed; warm after: the first seconds, in which "
    "the throughput differed, and TPS in the rest; over all: an average over the warming and the "
    "rest; -: no difference was seen, or fewer than 5 s were measured"
)


def section(test: str, cells: Sequence[CellRuns]) -> Section | None:
    """None where the caches were left as they were."""
    measured = [(cell, run) for cell, run in cell_runs.middle_runs(cells) if run.driven.cache_state]
    if not measured:
        return None
    factors = cell_runs.varying(cells, "system", "clients", CACHE)
    has_cold = any(cache.is_to_be_cold(run.run.evidence) for _, run in measured)
    table = ReportTable(
        name=f"{test}_caches",
        label_columns=len(factors),
        title="Caches before the measurement, and what was read from storage in it",
        columns=(
            *cell_runs.label_columns(cells, factors),
            ReportColumn("before the measurement"),
            ReportColumn("files", is_number=True),
            ReportColumn("cached", is_number=True),
            ReportColumn("read", is_number=True),
            ReportColumn("buffer hits", is_number=True),
            *(ReportColumn(title, is_number=True) for title in (_OF_COLD if has_cold else ())),
        ),
        rows=tuple(
            Row(
                (
                    *cell_runs.label_cells(cell, factors),
                    *_cells(run),
                    *(_from_cold(run) if has_cold else ()),
                )
            )
            for cell, run in measured
        ),
        notes=(
            *((_FROM_COLD,) if has_cold else ()),
            "cached: of the files, in the page cache before the measurement; read: per "
            "transaction, from storage, by the system's processes or else by the whole device",
            *cell_runs.of_middle(cells),
        ),
    )
    return Section("Caches", (), (table,))


def _cells(run: DrivenRun) -> tuple[ReportCell, ...]:
    state = run.driven.cache_state
    if state is None:
        return ()
    read_bytes, hits = cache.read_per_transaction(run.run.evidence), hit_ratio(run.driven)
    return (
        text(", ".join(state.done)),
        size(state.file_bytes),
        size(state.cached_bytes),
        size(read_bytes),
        absent("-") if hits is None else ReportCell(f"{hits:.2%}", Number(hits, "ratio")),
    )


def _from_cold(run: DrivenRun) -> tuple[ReportCell, ReportCell, ReportCell, ReportCell]:
    if not cache.is_to_be_cold(run.run.evidence):
        return absent(""), absent(""), absent(""), absent("")
    per_s = THROUGHPUT.value(run.run)
    over_all = absent("-") if per_s is None else rate(per_s)
    first_ns, warm = warming.first_ns(run.driven), warming.warm(run.driven)
    first = absent("-")
    if first_ns is not None:
        first = ReportCell(units.short_duration(first_ns / 1e9), Number(first_ns, "ns", n=1))
    if warm is None:
        return first, absent("-"), absent("-"), over_all
    after = ReportCell(f"{warm.after_s} s", Number(warm.after_s, "s"))
    return first, after, rate(warm.per_s), over_all
