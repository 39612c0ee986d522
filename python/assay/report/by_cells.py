"""Takes the cells of a test whose workload declares no report; gives what anybody asks first: how
many transactions per second, how long they took, and what client and server spent on each.

One row per cell. Throughput is the median of the repetitions, with the smallest and the largest
where there are several; times and costs are those of the middle repetition.
"""

from __future__ import annotations

from collections.abc import Sequence

from assay.judge.spread import spread
from assay.record import RunRecord
from assay.report import costs, notes, percentiles, pivot, times
from assay.report.outcomes import throughput_per_s
from assay.report.pivot import CellRuns
from assay.report.values import MARKS, Cell, Column, Number, Row, Table, absent
from assay.text import units

_PERCENTILES = ("p50", "p99")


def table(test: str, found: Sequence[CellRuns]) -> Table:
    factors = pivot.varying(found, "system", "clients")
    has_range = any(len(cell.runs) > 1 for cell in found)
    known = [
        all_ok
        for cell in found
        if (run := pivot.middle_run(cell)) is not None
        and (all_ok := times.all_ok(run.observation or {})) is not None
    ]
    unit = percentiles.unit_of(merged["response_time"] for merged, _ in known)
    rows = tuple(
        Row(
            (
                *pivot.label_cells(cell, factors),
                *_throughput(cell, has_range),
                *_times(pivot.middle_run(cell), unit),
                *_costs(pivot.middle_run(cell)),
            )
        )
        for cell in found
    )
    return Table(
        name=test,
        title="Throughput, response times and cost",
        label_columns=len(factors),
        columns=(
            *pivot.label_columns(found, factors),
            Column("ok/s", is_number=True),
            *([Column("smallest-largest", is_number=True)] if has_range else []),
            *(Column(name, is_number=True, unit=unit) for name in _PERCENTILES),
            Column("client", is_number=True, unit="µs"),
            Column("server", is_number=True, unit="µs"),
        ),
        rows=rows,
        notes=(
            "ok/s: transactions that ended ok per second of the measurement"
            + ("; median of the repetitions" if has_range else ""),
            "p50, p99: response time of these; client, server: processor time for each transaction",
            *notes.reasons(rows),
            *notes.failures(found),
        ),
    )


def _throughput(cell: CellRuns, has_range: bool) -> list[Cell]:
    rates = [
        rate
        for run in cell.measured
        if "outcomes" in (run.observation or {})
        and (rate := throughput_per_s(run.observation or {})) is not None
    ]
    if not rates:
        return [absent(cell.why_absent), *([absent("")] if has_range else [])]
    over = spread(rates)
    judged = cell.judged(over)
    made = Number(over.median, "per_s", over.n, over.low, over.high, *judged)
    shown = [Cell(f"{units.digits(over.median)}{MARKS[judged.word]}", made)]
    if has_range:
        shown.append(Cell(f"{units.digits(over.low)}-{units.digits(over.high)}"))
    return shown


def _times(run: RunRecord | None, unit: str) -> list[Cell]:
    if run is None or run.observation is None:
        return [absent("")] * len(_PERCENTILES)
    all_ok = times.all_ok(run.observation)
    if all_ok is None:
        return [absent("per type")] * len(_PERCENTILES)
    merged, n = all_ok
    resolution = percentiles.resolution(run.observation)
    return [
        percentiles.one(merged["response_time"], name, n, unit, resolution) for name in _PERCENTILES
    ]


def _costs(run: RunRecord | None) -> list[Cell]:
    if run is None:
        return [absent("")] * 2
    return [costs.client_per_transaction(run), costs.server_per_transaction(run)]
