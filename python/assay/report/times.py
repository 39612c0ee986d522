"""Takes the cells of a test; gives response-time percentiles per pass and per transaction type.

Percentiles are never averaged: they are those of one run, the repetition whose elapsed time is the
median (of an even number, the faster of the middle two).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from assay.record import RunRecord
from assay.record.records import WarningRecord
from assay.report import grid, percentiles, units
from assay.report.grid import CellRuns
from assay.report.values import Column, Row, Section, Table, text
from assay.report.warnings import Kind

_UNIT = "ms"
_COLUMNS = (
    Column("n", is_number=True),
    *(Column(name, is_number=True, unit=_UNIT) for name in (*percentiles.SHOWN, "max")),
)


def section(test: str, found: Sequence[CellRuns]) -> Section | None:
    measured = [(cell, run) for cell in found if (run := _middle_run(cell)) is not None]
    if not measured:
        return None
    tables = [_types_table(test, cell, run) for cell, run in measured]
    if any(run.observation and run.observation["passes"] for _, run in measured):
        tables.insert(0, _passes_table(test, found, measured))
    return Section("Response times", (), tuple(tables))


def few_samples(found: Sequence[CellRuns]) -> Iterator[WarningRecord]:
    """Which percentiles of a transaction type cannot be told, by the smallest count there is."""
    counts = [
        one["count"]
        for cell in found
        if (run := _middle_run(cell)) is not None and run.observation
        for one in run.observation["transactions"]
        if one["outcome"] == "ok"
    ]
    if counts and (names := percentiles.missing(min(counts))):
        needed = percentiles.samples_needed(percentiles.SHOWN[names[-1]])
        yield WarningRecord(
            Kind.FEW_SAMPLES.id,
            f"{', '.join(names)}: {units.counted(min(counts), 'sample')} of a transaction type, "
            f"{names[-1]} needs {needed}",
        )


def _middle_run(cell: CellRuns) -> RunRecord | None:
    timed = [run for run in cell.measured if run.observation and "transactions" in run.observation]
    timed.sort(key=lambda run: run.observation["elapsed_ns"] if run.observation else 0)
    return timed[(len(timed) - 1) // 2] if timed else None


def _passes_table(
    test: str, found: Sequence[CellRuns], measured: Sequence[tuple[CellRuns, RunRecord]]
) -> Table:
    factors = grid.varying(found, "system")
    rows = [
        Row(
            (
                *grid.label_cells(cell, factors),
                text(run.id),
                *percentiles.cells(passes["response_time"], passes["count"], _UNIT),
            )
        )
        for cell, run in measured
        if run.observation and (passes := run.observation["passes"])
    ]
    return Table(
        name=f"{test}_passes",
        label_columns=len(factors) + 1,
        title="Per pass (every transaction type once, in order)",
        columns=(
            *(Column(name, is_number=name == "clients") for name in factors),
            Column("run", is_number=True),
            *_COLUMNS,
        ),
        rows=tuple(rows),
        notes=("of the repetition with the median elapsed time; n<36: too few samples to tell",),
    )


def _types_table(test: str, cell: CellRuns, run: RunRecord) -> Table:
    assert run.observation is not None, "only measured runs get here"
    rows = [
        Row(
            (
                text(one["name"] if one["outcome"] == "ok" else f"{one['name']} {one['outcome']}"),
                *percentiles.cells(one["response_time"], one["count"], _UNIT),
            )
        )
        for one in run.observation["transactions"]
    ]
    return Table(
        name=f"{test}_run_{run.id}",
        title=f"Per transaction type: {cell.name} (run {run.id})",
        columns=(Column("transaction"), *_COLUMNS),
        rows=tuple(rows),
        is_detail=True,
    )
