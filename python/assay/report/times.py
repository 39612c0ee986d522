"""Takes the cells of a test; gives percentiles of latency, service time and schedule lag.

Percentiles are never averaged: they are those of one run, the middle one of the cell's repetitions.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from assay.judge import RunWarning
from assay.judge.kinds import Kind
from assay.record import RunRecord
from assay.record.records import Document
from assay.report import cell_runs, percentiles
from assay.report.cell_runs import CellRuns
from assay.report.values import Cell, Column, Row, Section, Table, text
from assay.text import units

TIMES = {
    "latency": "latency",
    "service time": "service_time",
    "schedule lag": "schedule_lag",
}
"""Word of the report → key of the observation."""
_FEW_TYPES = 6
"""So many transaction types stand in one table; more of them are details of each cell."""
_FEW_LINES = 24
_CLOSED = "Closed loop: latency is measured from the actual start"
_OPEN = (
    "Open loop: latency is measured from the intended start, service time from the actual start; "
    "schedule lag is the difference"
)

Measured = Sequence[tuple[CellRuns, RunRecord]]


class _Line(NamedTuple):
    labels: tuple[Cell, ...]
    times: Mapping[str, Any]
    n: int
    resolution: Document


def section(test: str, found: Sequence[CellRuns]) -> Section | None:
    measured = [(cell, run) for cell in found if (run := cell_runs.middle_run(cell)) is not None]
    if not measured:
        return None
    names = {one["name"] for _, run in measured for one in _of(run)["transactions"]}
    tables: list[Table] = []
    if len(names) > 1 and any(_of(run)["passes"] for _, run in measured):
        tables.append(_passes_table(test, found, measured))
    if len(names) <= _FEW_TYPES:
        tables.append(_cells_table(test, found, measured, len(names) > 1))
    else:
        tables += [_types_table(test, cell, run) for cell, run in measured]
    return Section("Latency", (), tuple(tables))


def all_ok(observation: Document) -> tuple[Mapping[str, Any], int] | None:
    """Times and count of the ok transactions of all types; None where nobody merged them."""
    if (merged := observation.get("all_ok")) is not None:
        return merged, merged["count"]
    ok = [one for one in observation["transactions"] if one["outcome"] == "ok"]
    return (ok[0], ok[0]["count"]) if len(ok) == 1 else None


def mean_ns(observation: Document) -> float | None:
    """Mean latency of all transactions that ended ok."""
    ok = [one for one in observation.get("transactions", ()) if one["outcome"] == "ok"]
    count: int = sum(one["count"] for one in ok)
    total_ns: float = sum(one["count"] * one["latency"]["mean_ns"] for one in ok)
    return total_ns / count if count else None


def few_samples(found: Sequence[CellRuns]) -> Iterator[RunWarning]:
    """Which percentiles of a transaction type cannot be told, by the smallest count there is."""
    counts = [
        one["count"]
        for cell in found
        if (run := cell_runs.middle_run(cell)) is not None
        for one in _of(run)["transactions"]
        if one["outcome"] == "ok"
    ]
    if counts and (names := percentiles.missing(min(counts))):
        needed = percentiles.samples_needed(percentiles.SHOWN[names[-1]])
        yield RunWarning(
            Kind.FEW_SAMPLES.id,
            f"{', '.join(names)}: {units.counted(min(counts), 'sample')} of a transaction type, "
            f"{names[-1]} needs {needed}",
        )


def _of(run: RunRecord) -> Document:
    assert run.observation is not None, "only measured runs get here"
    return run.observation


def _ok_types(run: RunRecord) -> int:
    return sum(one["outcome"] == "ok" for one in _of(run)["transactions"])


def _is_open(run: RunRecord) -> bool:
    return any(one.get("schedule_lag") for one in _of(run)["transactions"])


def _cells_table(
    test: str, found: Sequence[CellRuns], measured: Measured, has_names: bool
) -> Table:
    """A line for each cell, transaction type and, in open loops, kind of time."""
    factors = cell_runs.varying(found, "system", "clients")
    is_open = any(_is_open(run) for _, run in measured)
    has_names = has_names or any(
        one["outcome"] != "ok" for _, run in measured for one in _of(run)["transactions"]
    )
    lines: list[_Line] = []
    for cell, run in measured:
        labels = cell_runs.label_cells(cell, factors)
        merged = _of(run).get("all_ok") if _ok_types(run) > 1 else None
        entries = [{"name": "all ok", "outcome": "ok", **merged}] if merged else []
        for one in [*entries, *_of(run)["transactions"]]:
            named = (*labels, text(_name(one))) if has_names else labels
            lines += _lines(one, named, is_open, percentiles.resolution(_of(run)))
    columns = [*cell_runs.label_columns(found, factors)]
    columns += [Column("transaction")] if has_names else []
    columns += [Column("time")] if is_open else []
    notes = "of the median repetition; n<…: too few samples, so many are needed"
    return _table(
        f"{test}_times",
        "Percentiles",
        columns,
        lines,
        (_OPEN if is_open else _CLOSED, notes, *_resolutions(run for _, run in measured)),
    )


def _resolutions(runs: Iterable[RunRecord]) -> list[str]:
    found = [percentiles.resolution(_of(run)) for run in runs]
    finest = {(one["lowest_ns"], one["significant_digits"]) for one in found}
    return [
        f"percentiles: {digits} digits, and not finer than {lowest_ns} ns; max: as measured"
        for lowest_ns, digits in sorted(finest)
    ]


def _lines(
    one: Mapping[str, Any], labels: tuple[Cell, ...], is_open: bool, resolution: Document
) -> Iterator[_Line]:
    if not is_open:
        yield _Line(labels, one["latency"], one["count"], resolution)
        return
    for word, key in TIMES.items():
        if one.get(key):
            yield _Line((*labels, text(word)), one[key], one["count"], resolution)


def _name(one: Mapping[str, Any]) -> str:
    return str(one["name"]) if one["outcome"] == "ok" else f"{one['name']} {one['outcome']}"


def _passes_table(test: str, found: Sequence[CellRuns], measured: Measured) -> Table:
    factors = cell_runs.varying(found, "system")
    lines = [
        _Line(
            (*cell_runs.label_cells(cell, factors), text(run.id)),
            passes["latency"],
            passes["count"],
            percentiles.resolution(_of(run)),
        )
        for cell, run in measured
        if (passes := _of(run)["passes"])
    ]
    columns = [*cell_runs.label_columns(found, factors)]
    return _table(
        f"{test}_passes",
        "Per pass (every transaction type once, in order)",
        [*columns, Column("run", is_number=True)],
        lines,
        ("of the repetition with the median elapsed time; n<36: too few samples",),
    )


def _types_table(test: str, cell: CellRuns, run: RunRecord) -> Table:
    lines = [
        _Line(
            (text(_name(one)),),
            one["latency"],
            one["count"],
            percentiles.resolution(_of(run)),
        )
        for one in _of(run)["transactions"]
    ]
    title = f"Per transaction type: {cell.name} (run {run.id})"
    return _table(f"{test}_run_{run.id}", title, [Column("transaction")], lines, (), is_detail=True)


def _table(
    name: str,
    title: str,
    labels: Sequence[Column],
    lines: Sequence[_Line],
    notes: tuple[str, ...],
    *,
    is_detail: bool = False,
) -> Table:
    unit = percentiles.unit_of(line.times for line in lines)
    return Table(
        name=name,
        label_columns=len(labels),
        title=title,
        columns=(
            *labels,
            Column("n", is_number=True),
            *(Column(one, is_number=True, unit=unit) for one in (*percentiles.SHOWN, "max")),
        ),
        rows=tuple(
            Row((*line.labels, *percentiles.cells(line.times, line.n, unit, line.resolution)))
            for line in lines
        ),
        notes=notes,
        is_detail=is_detail,
    )
