"""Takes the cells of a test and what is shown of each; returns tables whose rows begin with the
levels of their cells, pivots, percentiles (or how many samples they would need), and how long
cells that began with cold caches took until they were warm."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Iterable, Mapping, Sequence
from operator import itemgetter
from types import MappingProxyType
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from assay.contracts.metric import ReportColumn
from assay.contracts.observation import Latency, Resolution
from assay.experiment import Scalar
from assay.judge import storage_checks
from assay.judge.statistics import samples
from assay.judge.statistics.samples import BY_NAME, NOT_REACHED, UNREACHED, middle_places
from assay.record import Run
from assay.report import cell_runs, columns
from assay.report.cell_runs import CellRuns
from assay.report.values import MEASURED, Number, ReportCell, ReportTable, Row, absent, cell_of
from assay.text import units

NOT_ASKED = absent("not asked")

Aggregate = Callable[[CellRuns], ReportCell]
"""Combines the runs of a cell into one table cell."""


def value_column(
    title: str,
    aggregate: Aggregate,
    where: Mapping[str, Scalar | tuple[Scalar, ...]] = MappingProxyType({}),
    unit: str = "",
) -> ReportColumn:
    """``where``: levels that a cell must have in addition to those of the row."""
    return ReportColumn(
        title,
        is_number=True,
        shown_in=unit,
        role=MEASURED,
        cell=aggregate,
        where=tuple(where.items()),
    )


class PivotRow(Struct, frozen=True):
    levels: Mapping[str, Scalar | None]
    """Levels of the factors that label it."""
    cells: tuple[CellRuns | None, ...]
    """The cell of each column; None where the experiment has no such cell."""
    shown: tuple[ReportCell, ...]


def pivot_rows(
    cells: Sequence[CellRuns],
    rows: Sequence[str],
    columns: Sequence[ReportColumn],
    ordered: Sequence[str] = (),
) -> list[PivotRow]:
    """A row for each combination of levels that has a cell, ordered by the levels of ``ordered``,
    then as they were run."""
    made = []
    by_levels: dict[tuple[Scalar | None, ...], list[CellRuns]] = {}
    for cell in cells:
        by_levels.setdefault(tuple(cell.level(name) for name in rows), []).append(cell)
    for levels in _combinations(by_levels, cells, rows, ordered):
        in_row = by_levels[tuple(levels.values())]
        of_columns = tuple(
            next((cell for cell in in_row if _has(cell, dict(column.where))), None)
            for column in columns
        )
        if any(of_columns):
            shown = tuple(
                NOT_ASKED if cell is None else replace(cell_of(column, cell), runs=cell.run_ids)
                for cell, column in zip(of_columns, columns, strict=True)
            )
            made.append(PivotRow(levels, of_columns, shown))
    return made


def table_row(
    row: PivotRow,
    labels: Sequence[str],
    blocks: Sequence[str] = (),
    beside: Sequence[ReportCell] = (),
) -> Row:
    """The row of a table; ``beside``: further cells after those of the pivot."""
    named = {name: level for name, level in row.levels.items() if level is not None}
    return Row(
        (
            *(cell_runs.label(named[name]) if name in named else absent("") for name in labels),
            *row.shown,
            *beside,
        ),
        {name: named[name] for name in blocks if name in named},
    )


def pivot_table(
    name: str,
    title: str,
    cells: Sequence[CellRuns],
    labels: Sequence[str],
    shown: Sequence[ReportColumn],
    notes: Iterable[str],
) -> ReportTable:
    """A row for each combination of the factors ``labels``."""
    rows = pivot_rows(cells, labels, shown)
    return ReportTable(
        name,
        title,
        (*cell_runs.label_columns(cells, labels), *shown),
        tuple(table_row(row, labels) for row in rows),
        tuple(notes),
        label_columns=len(labels),
    )


def _combinations(
    there: Iterable[tuple[Scalar | None, ...]],
    cells: Sequence[CellRuns],
    rows: Sequence[str],
    ordered: Sequence[str],
) -> list[dict[str, Scalar | None]]:
    """``there``: the levels of each row; a factor that a cell does not have is None."""
    places = {
        name: {level: place for place, level in enumerate(cell_runs.levels(cells, name))}
        for name in ordered
    }
    combinations = [dict(zip(rows, levels, strict=True)) for levels in there]

    def order(levels: Mapping[str, Scalar | None]) -> list[int]:
        return [
            places[name][level] if (level := levels[name]) is not None else len(places[name])
            for name in ordered
        ]

    return sorted(combinations, key=order)


def _has(cell: CellRuns, levels: Mapping[str, Scalar | None]) -> bool:
    return all(cell.level(name) == level for name, level in levels.items())


WHAT_OF_CELLS = itemgetter(1)
"""Of a row's source, which is a pair: beside the cell, what its columns read."""


def table_by_cell(
    name: str,
    title: str,
    labels: tuple[Sequence[CellRuns], Sequence[str]],
    shown: Iterable[ReportColumn],
    sources: Iterable[tuple[CellRuns, Any]],
    *,
    run: Callable[[Any], Run] | None = None,
    before: Sequence[ReportColumn] = (),
    **others: Any,
) -> ReportTable:
    """``labels``: all cells of the test, and the factors that label its rows. ``run``: of what is
    shown, where a row is about one run. ``before``: columns that stand before the levels.
    ``others``: notes and the like, as `ReportTable` has them."""
    every = (
        *columns.of(WHAT_OF_CELLS, before),
        *cell_runs.label_columns(*labels, run),
        *columns.of(WHAT_OF_CELLS, shown),
    )
    return columns.table(name, title, every, sources, **others)


def bucket_width_ns(value_ns: float, resolution: Resolution) -> int:
    """How wide the cell of the histogram is in which ``value_ns`` is counted: the first
    2 * 10^digits cells (rounded up to a power of two) are the narrowest, then it doubles with the
    value."""
    lowest_ns = resolution.lowest_ns
    narrowest = int(2 * 10**resolution.significant_digits - 1).bit_length()
    return lowest_ns << max(0, int(value_ns / lowest_ns).bit_length() - narrowest)


def is_percentile(path: str) -> bool:
    """Whether a path through the observation ends in one of `SHARES`."""
    return path.rpartition(".")[2].removesuffix("_ns") in BY_NAME


def why_no_percentile(times: Latency, key: str) -> str:
    """Why there is no number under this key (``p95_ns``): ``n<72``, ``not reached``; empty: there
    is one."""
    name = key.removesuffix("_ns")
    if name not in (*BY_NAME, "mean", "max"):
        return ""
    value_ns = samples.time_ns(times, name)
    if value_ns is None:
        return f"n<{samples.needed_for(name)}"
    return NOT_REACHED if value_ns == UNREACHED else ""


def middle_bucket_width(numbers: Sequence[Number]) -> int | None:
    """The width of the bucket that the median of these comes from; of two in the middle, the
    wider."""
    middle = middle_places([number.value for number in numbers])
    return max((numbers[place].resolution or 0 for place in middle), default=0) or None


def percentile_cell(times: Latency, name: str, unit: str, resolution: Resolution) -> ReportCell:
    """One of `SHARES` or ``max``, or why there is none: how many samples it would need, or that
    too many transactions had no answer."""
    value_ns = samples.known_ns(times, name)
    if value_ns is None:
        return absent(why_no_percentile(times, name.replace(".", "_")))
    width_ns = 0 if name == "max" else bucket_width_ns(value_ns, resolution)
    made = Number(value_ns, "ns", n=times.due, resolution=width_ns or None)
    return ReportCell(units.time(value_ns, unit, resolution_ns=width_ns), made)


def unit_of_percentile(latencies: Iterable[Latency]) -> str:
    """The unit in which these times are best read: µs where no p99 reaches a millisecond."""
    longest = max(
        (times.max_ns if times.p99_ns is None else times.p99_ns for times in latencies), default=0
    )
    return "µs" if longest < 1_000_000 else "ms"


def latency_of_run(name: str, unit: str) -> Callable[[Run], ReportCell]:
    def shown(run: Run) -> ReportCell:
        driven = run.measurement
        latency = driven.of_clients.all_ok.latency
        return percentile_cell(latency, name, unit, driven.resolution)

    return shown


def percentile_columns(
    names: Iterable[str],
    sources: Iterable[Any],
    read: Callable[[Any], tuple[Latency, Resolution] | None],
    *,
    title: str = "{}",
    unit: str = "",
) -> list[ReportColumn]:
    """``read``: the times of a source, and how fine they are; None: it has none. ``unit``: empty:
    that in which the times of all sources are best read."""
    known = (found for one in sources if (found := read(one)) is not None)
    unit = unit or unit_of_percentile(times for times, _ in known)

    def column(name: str) -> ReportColumn:
        def shown(source: Any) -> ReportCell:
            found = read(source)
            return absent("") if found is None else percentile_cell(found[0], name, unit, found[1])

        return columns.numbers(title.format(name), shown, unit)

    return [column(name) for name in names]


FIRST, WARM_AFTER = "first execution", "warm after"
WARM_NOT_SEEN = "not seen"
"""The throughput did not differ in the first seconds, or there were too few to tell."""
NOTE_ON_COLD = (
    "first execution: of each transaction type, summed; warm after: the first seconds, in which "
    "the throughput differed; with cold caches TPS would be an average over the warming"
)


def is_timed_from_cold(cell: CellRuns) -> bool:
    """Whether the cell has these numbers in place of a throughput."""
    measured = cell_runs.measured_runs(cell)
    from assay.judge import seconds

    return bool(measured) and all(
        run.driving.duration_s is not None
        and storage_checks.is_to_be_cold(run)
        and seconds.first_executions_ns(run.measurement) is not None
        for run in measured
    )


def any_timed_from_cold(cells: Iterable[CellRuns]) -> bool:
    return any(map(is_timed_from_cold, cells))


def first_executions(cell: CellRuns) -> ReportCell:
    """Empty where the cell has no such number."""
    if not is_timed_from_cold(cell):
        return absent("")
    from assay.judge import seconds

    values_ns = [
        seconds.first_executions_ns(run.measurement) or 0 for run in cell_runs.measured_runs(cell)
    ]
    return _median(values_ns, "ns", units.short_duration(statistics.median(values_ns) / 1e9), cell)


def warm_after(cell: CellRuns) -> ReportCell:
    """In the same way; `NOT_SEEN` where a repetition was not seen to become warm."""
    if not is_timed_from_cold(cell):
        return absent("")
    from assay.judge import seconds

    found = [seconds.warm_after(run.measurement) for run in cell_runs.measured_runs(cell)]
    values_s = [one.after_s for one in found if one is not None]
    if len(values_s) < len(found):
        return absent(WARM_NOT_SEEN)
    return _median(values_s, "s", f"{statistics.median(values_s):g} s", cell)


def _median(values: Sequence[int], unit: str, shown: str, cell: CellRuns) -> ReportCell:
    middle = statistics.median(values)
    made = Number(middle, unit, len(values), min(values), max(values), judged=cell.judged.verdict)
    return ReportCell(shown, made)
