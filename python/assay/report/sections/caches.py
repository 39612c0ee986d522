"""Takes the cells of a test; returns what was done to their caches before the measurement, and what
was read from storage in it all the same.

They are those of one run, the repetition with the median throughput.
"""

from __future__ import annotations

from collections.abc import Sequence

from assay.judge import cache
from assay.plan.cell_names import CACHE
from assay.report.cells import cell_runs
from assay.report.cells.cell_runs import CellRuns, DrivenRun
from assay.report.sections.costs import hit_ratio
from assay.report.values import Cell, Column, Number, Row, Section, Table, absent, size, text


def section(test: str, found: Sequence[CellRuns]) -> Section | None:
    """None where the caches were left as they were."""
    measured = [(cell, run) for cell, run in cell_runs.middle_runs(found) if run.driven.cache_state]
    if not measured:
        return None
    factors = cell_runs.varying(found, "system", "clients", CACHE)
    table = Table(
        name=f"{test}_caches",
        label_columns=len(factors),
        title="Caches before the measurement, and what was read from storage in it",
        columns=(
            *cell_runs.label_columns(found, factors),
            Column("before the measurement"),
            Column("files", is_number=True),
            Column("cached", is_number=True),
            Column("read", is_number=True),
            Column("buffer hits", is_number=True),
        ),
        rows=tuple(
            Row((*cell_runs.label_cells(cell, factors), *_cells(run))) for cell, run in measured
        ),
        notes=(
            "cached: of the files, in the page cache before the measurement; read: per "
            "transaction, from storage, by the system's processes or else by the whole device",
            *cell_runs.of_middle(found),
        ),
    )
    return Section("Caches", (), (table,))


def _cells(run: DrivenRun) -> tuple[Cell, ...]:
    state = run.driven.cache_state
    if state is None:
        return ()
    read_bytes, hits = cache.read_per_transaction(run.run.evidence), hit_ratio(run.driven)
    return (
        text(", ".join(state.done)),
        size(state.file_bytes),
        size(state.cached_bytes),
        size(read_bytes),
        absent("-") if hits is None else Cell(f"{hits:.2%}", Number(hits, "ratio")),
    )
