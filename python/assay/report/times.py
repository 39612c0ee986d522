"""Takes the cells of a test; returns percentiles of latency, service time and schedule lag.

Percentiles are never averaged: they are those of one run, the repetition with the median
throughput.
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
"""Name in the report → key of the observation."""
_FEW_TYPES = 6
"""Up to so many transaction types are in one table; otherwise each cell has its own, as details."""
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
    names = {each["name"] for _, run in measured for each in _of(run)["transactions"]}
    tables: list[Table] = []
    if len(names) > 1 and any(_of(run)["passes"] for _, run in measured):
        tables.append(_passes_table(test, found, measured))
    if len(names) <= _FEW_TYPES:
        tables.append(_cells_table(test, found, measured, len(names) > 1))
    else:
        tables += [_types_table(test, cell, run) for cell, run in measured]
    return Section("Latency", (), tuple(tables))


def all_ok(observation: Document) -> tuple[Mapping[str, Any], int] | None:
    """Times and count of the ok transactions of all types; None where they were not merged."""
    if (merged := observation.get("all_ok")) is not None:
        return merged, merged["count"]
    ok = [each for each in observation["transactions"] if each["outcome"] == "ok"]
    return (ok[0], ok[0]["count"]) if len(ok) == 1 else None


def mean_ns(observation: Document) -> float | None:
    """Mean latency of all transactions that ended ok."""
    ok = [each for each in observation.get("transactions", ()) if each["outcome"] == "ok"]
    count: int = sum(each["count"] for each in ok)
    total_ns: float = sum(each["count"] * each["latency"]["mean_ns"] for each in ok)
    return total_ns / count if count else None


def few_samples(found: Sequence[CellRuns]) -> Iterator[RunWarning]:
    """Which percentiles have too few samples, by the transaction type with the smallest count."""
    counts = [
        each["count"]
        for cell in found
        if (run := cell_runs.middle_run(cell)) is not None
        for each in _of(run)["transactions"]
        if each["outcome"] == "ok"
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
    return sum(each["outcome"] == "ok" for each in _of(run)["transactions"])


def _is_open(run: RunRecord) -> bool:
    return any(each.get("schedule_lag") for each in _of(run)["transactions"])


def _cells_table(
    test: str, found: Sequence[CellRuns], measured: Measured, has_names: bool
) -> Table:
    """A line for each cell, transaction type and, in open loops, kind of time."""
    factors = cell_runs.varying(found, "system", "clients")
    is_open = any(_is_open(run) for _, run in measured)
    has_names = has_names or any(
        each["outcome"] != "ok" for _, run in measured for each in _of(run)["transactions"]
    )
    lines: list[_Line] = []
    for cell, run in measured:
        labels = cell_runs.label_cells(cell, factors)
        merged = _of(run).get("all_ok") if _ok_types(run) > 1 else None
        entries = [{"name": "all ok", "outcome": "ok", **merged}] if merged else []
        for entry in [*entries, *_of(run)["transactions"]]:
            named = (*labels, text(_name(entry))) if has_names else labels
            lines += _lines(entry, named, is_open, percentiles.resolution(_of(run)))
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
    finest = {(each["lowest_ns"], each["significant_digits"]) for each in found}
    return [
        f"percentiles: {digits} digits, and not finer than {lowest_ns} ns; max: as measured"
        for lowest_ns, digits in sorted(finest)
    ]


def _lines(
    entry: Mapping[str, Any], labels: tuple[Cell, ...], is_open: bool, resolution: Document
) -> Iterator[_Line]:
    if not is_open:
        yield _Line(labels, entry["latency"], entry["count"], resolution)
        return
    for title, key in TIMES.items():
        if entry.get(key):
            yield _Line((*labels, text(title)), entry[key], entry["count"], resolution)


def _name(entry: Mapping[str, Any]) -> str:
    name = str(entry["name"])
    return name if entry["outcome"] == "ok" else f"{name} {entry['outcome']}"


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
            (text(_name(entry)),),
            entry["latency"],
            entry["count"],
            percentiles.resolution(_of(run)),
        )
        for entry in _of(run)["transactions"]
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
            *(Column(title, is_number=True, unit=unit) for title in (*percentiles.SHOWN, "max")),
        ),
        rows=tuple(
            Row((*line.labels, *percentiles.cells(line.times, line.n, unit, line.resolution)))
            for line in lines
        ),
        notes=notes,
        is_detail=is_detail,
    )
