"""Takes the cells of a test and its declaration; gives the paper's table, the published beside.

One row per level of the row factor, one column per level of the column factor, speed-ups of the
first column over each other one, and the published numbers. Each number is the median of its
repetitions, with the smallest and the largest where there are several.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Mapping, Sequence

from assay.experiment import Scalar
from assay.judge import verdict
from assay.judge.spread import spread
from assay.judge.verdict import Verdict
from assay.record import RunRecord
from assay.report import notes, pivot, times
from assay.report.declaration import Declaration
from assay.report.outcomes import throughput_per_s
from assay.report.pivot import CellRuns
from assay.report.published import Published
from assay.report.values import MARKS, Cell, Column, Number, Row, Table, absent
from assay.text import units

_UNITS = {
    "elapsed": "ns",
    "response_time": "ns",
    "load_time": "ns",
    "size_on_disk": "bytes",
    "throughput": "per_s",
}


def table(
    test: str,
    declaration: Declaration,
    found: Sequence[CellRuns],
    published: Published | None,
) -> Table:
    levels = pivot.levels(found, declaration.columns)
    blocks = _blocks(declaration, found)
    rows = []
    for block in itertools.product(*(pivot.levels(found, name) for name in blocks)):
        factors = dict(zip(blocks, block, strict=True))
        for level in pivot.levels(found, declaration.rows):
            in_row = _with(found, {**factors, declaration.rows: level})
            if in_row:
                cells = _row(declaration, in_row, levels, published)
                rows.append(Row((pivot.label(level), *cells), factors))
    unit = {"ns": declaration.unit, "per_s": "per s", "bytes": ""}[_UNITS[declaration.value]]
    beside = [*_speed_up_titles(declaration, levels), *(published.titles if published else [])]
    return Table(
        name=test,
        title=declaration.heading,
        columns=(
            Column(declaration.rows),
            *(Column(str(level), is_number=True, unit=unit) for level in levels),
            *(Column(title, is_number=True) for title in beside),
        ),
        rows=tuple(rows),
        notes=(
            notes.explanation(declaration, found),
            *notes.reasons(rows),
            *notes.failures(found),
            *notes.beside(published, found),
        ),
    )


def _blocks(declaration: Declaration, found: Sequence[CellRuns]) -> list[str]:
    """The declared block factor, and every factor that varies and has no other place."""
    placed = (declaration.rows, declaration.columns)
    declared = [declaration.blocks] if pivot.levels(found, declaration.blocks) else []
    others = [name for name in pivot.varying(found) if name not in placed]
    return list(dict.fromkeys([*declared, *others]))


def _row(
    declaration: Declaration,
    in_row: Sequence[CellRuns],
    levels: Sequence[Scalar],
    published: Published | None,
) -> list[Cell]:
    by_level = {cell.factors.get(declaration.columns): cell for cell in in_row}
    in_order = [by_level.get(level) for level in levels]
    numbers = [None if cell is None else _median(cell, declaration.value) for cell in in_order]
    shown = [
        _shown(made, declaration.unit) if made else absent(cell.why_absent if cell else "not asked")
        for cell, made in zip(in_order, numbers, strict=True)
    ]
    if declaration.has_speed_up:
        why_none = f"one {declaration.columns}" if len(levels) == 1 else ""
        others = numbers[1:] or [None]
        shown += [_speed_up(declaration, numbers[0], other) or absent(why_none) for other in others]
    if published:
        row = published.row(in_row[0].published_names, in_row[0].factors)
        shown += published.cells(row)
    return shown


def _median(cell: CellRuns, value: str) -> Number | None:
    """The median of the cell's repetitions; None where no run came to its end."""
    values = [found for run in cell.measured if (found := _value(run, value)) is not None]
    if not values:
        return None
    over = spread(values)
    judged = cell.judged(over)
    return Number(over.median, _UNITS[value], over.n, over.low, over.high, *judged)


def _value(run: RunRecord, value: str) -> float | None:
    observation, dataset = run.observation or {}, run.dataset or {}
    if value == "size_on_disk":
        size_bytes: int | None = dataset.get("size_on_disk_bytes")
        return size_bytes
    if value == "load_time":
        return sum(dataset.get(f"{step}_ns", 0) for step in ("load", "index", "analyze")) or None
    if value == "response_time":
        return times.mean_ns(observation)
    if value == "throughput":
        return throughput_per_s(observation) if "outcomes" in observation else None
    elapsed_ns: int | None = observation.get("elapsed_ns")
    return elapsed_ns


def _shown(made: Number, time_unit: str) -> Cell:
    def one(value: float) -> str:
        return units.shown(value, made.unit, time_unit)

    around = ""
    if made.n != 1 and made.low is not None and made.high is not None:
        around = f" ({one(made.low)}-{one(made.high)})"
    return Cell(f"{one(made.value)}{MARKS[made.verdict]}{around}", made)


def _speed_up(declaration: Declaration, first: Number | None, other: Number | None) -> Cell | None:
    """How many times faster the other column is than the first; its range is the widest that the
    repetitions allow."""
    slow, fast = (other, first) if declaration.is_more_better else (first, other)
    if slow is None or fast is None or not (fast.value and fast.low and fast.high):
        return None
    judged = verdict.worst(Verdict(one.verdict, one.reason) for one in (slow, fast))
    made = Number(
        slow.value / fast.value,
        "ratio",
        low=(slow.low or 0) / fast.high,
        high=(slow.high or 0) / fast.low,
        verdict=judged.word,
        reason=judged.reason,
    )
    return Cell(f"{units.ratio(made.value)}{MARKS[judged.word]}", made)


def _speed_up_titles(declaration: Declaration, levels: Sequence[Scalar]) -> list[str]:
    if not declaration.has_speed_up:
        return []
    return ["speed-up"] if len(levels) < 3 else [f"speed-up\n{level}" for level in levels[1:]]


def _with(found: Iterable[CellRuns], factors: Mapping[str, Scalar]) -> list[CellRuns]:
    return [
        cell
        for cell in found
        if all(cell.factors.get(name) == level for name, level in factors.items())
    ]
