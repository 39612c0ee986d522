"""Takes the cells of a test; returns what changes along a factor of numbers: throughput with the
clients, latency with the offered rate, time with the size of the table.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from msgspec import Struct
from msgspec.structs import replace

from assay.comparison import ratios
from assay.comparison.ratios import Knee
from assay.contracts.metric import ReportColumn
from assay.judge.service_levels import OfferedAndReached
from assay.plan import cell_names
from assay.plan.cell_names import OFFERED_RATE
from assay.record import Run
from assay.report import cell_runs, cell_tables
from assay.report.cell_runs import CellRuns
from assay.report.declared import aggregates
from assay.report.figure import Axis, DataSeries, Figure, Mark, Point, Scale, on_one_scale
from assay.report.figures.bars import Panel, panels
from assay.report.values import Number
from assay.text import units
from assay.workload.declared_reports import Declaration

# Takes a chart along clients or along an offered rate; returns what stands below it: from how
# many clients on the throughput no longer rises, and which rates were kept.


def notes_on_knees(figure: Figure, knees: Sequence[Knee]) -> Iterator[str]:
    """Of each line that has one; ``knee of SYSTEM: throughput no longer rises from 8 clients
    on``."""
    for line in figure.series:
        runs = {run for point in line.points for run in point.runs}
        of = f" of {line.name}" if len(figure.series) > 1 else ""
        yield from (f"knee{of}: throughput {one.words}" for one in knees if runs & one.runs)


Kept = Callable[[CellRuns], OfferedAndReached | None]
"""None in a closed loop."""


def offered_and_reached(cell: CellRuns) -> OfferedAndReached | None:
    """Where no rate is searched."""
    return ratios.rate_of_runs(cell.measured)


def notes_on_rates(figure: Figure, cells: Sequence[CellRuns], kept: Kept) -> Iterator[str]:
    """Of each line; ``SYSTEM: kept up to 1000/s, not at 2000/s (1230/s reached)``."""
    by_runs = {cell.run_ids: kept(cell) for cell in cells}
    lines = [line for line in figure.series if not line.is_reference]
    for line in lines:
        rates = [rate for point in line.points if (rate := by_runs.get(point.runs)) is not None]
        if words := ratios.rates_said(rates):
            yield f"{line.name}: {words}" if len(lines) > 1 else words


_CLIENTS = "clients"
_NOT_ALONG = ("threads",)
_PERCENTILES = ("p99", "p50")
"""The first is the one by which open loops are compared."""
_WIDE = 10
"""Levels whose greatest is so many times the least are on a logarithmic axis."""

Value = Callable[[CellRuns], Point | None]


def figures(
    test: str,
    declared: Declaration | None,
    cells: Sequence[CellRuns],
    knees: Sequence[Knee] = (),
    kept: Kept = offered_and_reached,
) -> tuple[Figure, ...]:
    """``knees``: those of the curves over clients. ``kept``: says whether a cell kept its rate."""
    if declared and declared.fields:
        return ()
    return (
        *_scaling(test, cells, knees),
        *_offered(test, cells, kept),
        *_sizes(test, declared, cells),
    )


class _Chart(Struct, frozen=True):
    """What is drawn along the levels of a factor."""

    name: str
    title: str
    x: Axis
    y: Axis
    factor: str
    value: Value
    is_relative: bool = False
    """Values are multiples of the first of their line."""
    ideal: str = ""
    """The name of the line on which y is x; empty: there is none, unless values are relative."""
    limit: float | None = None
    """The latency limit that all cells have, in the unit of the y axis; None: there is none."""


def _scaling(test: str, cells: Sequence[CellRuns], knees: Sequence[Knee]) -> Iterator[Figure]:
    levels = _numbers(cells, _CLIENTS)
    if len(levels) < 2:
        return
    throughput = _Chart(
        f"{test}_throughput_by_clients",
        "Throughput by clients",
        Axis("clients", _scale(levels)),
        Axis("transactions per second"),
        _CLIENTS,
        _throughput,
    )
    for figure in _lines(throughput, cells):
        yield replace(figure, notes=(*notes_on_knees(figure, knees), *figure.notes))
    first = units.counted(int(levels[0]), "client")
    scaling = _Chart(
        f"{test}_scaling",
        "Scaling",
        Axis("clients", Scale.LOG),
        Axis(f"throughput, multiple of that of {first}", Scale.LOG),
        _CLIENTS,
        _throughput,
        is_relative=True,
    )
    yield from _lines(scaling, cells)


def _offered(test: str, cells: Sequence[CellRuns], kept: Kept) -> Iterator[Figure]:
    """In an open loop."""
    levels = _numbers(cells, OFFERED_RATE)
    if len(levels) < 2:
        return
    offered = Axis("offered transactions per second", _scale(levels))
    latencies: list[Figure] = []
    for name in _PERCENTILES:
        latency = _Chart(
            f"{test}_{name}_by_offered_rate",
            f"Latency ({name}) by offered rate",
            offered,
            Axis(f"{name} latency, ms", Scale.LOG),
            OFFERED_RATE,
            _percentile(name),
            limit=_latency_limit_ms(cells),
        )
        latencies += _lines(latency, cells)
    yield from on_one_scale(latencies)
    if any(_late_share(run) for cell in cells for run in cell.measured):
        late = _Chart(
            f"{test}_late_by_offered_rate",
            "Late and skipped by offered rate",
            offered,
            Axis("late or skipped, % of the scheduled"),
            OFFERED_RATE,
            _of(_LATE, 0.01),
        )
        yield from _lines(late, cells)
    throughput = _Chart(
        f"{test}_throughput_by_offered_rate",
        "Throughput by offered rate",
        offered,
        Axis("transactions per second"),
        OFFERED_RATE,
        _throughput,
        ideal="as offered",
    )
    for figure in _lines(throughput, cells):
        yield replace(figure, notes=(*notes_on_rates(figure, cells, kept), *figure.notes))


def _latency_limit_ms(cells: Sequence[CellRuns]) -> float | None:
    limits = {run.driving.latency_limit_s for cell in cells for run in cell.runs}
    limit_s = limits.pop() if len(limits) == 1 else None
    return limit_s * 1e3 if isinstance(limit_s, int | float) and limit_s else None


def _late_share(run: Run) -> float | None:
    """Transactions that began late, or were skipped since they were late, of those scheduled."""
    outcomes = run.driven.outcomes if run.driven else None
    if outcomes is None or not outcomes.scheduled:
        return None
    return (outcomes.late + outcomes.skipped) / outcomes.scheduled


_LATE = aggregates.of_paths("late", "ratio", _late_share)


def _sizes(test: str, declared: Declaration | None, cells: Sequence[CellRuns]) -> Iterator[Figure]:
    """Time by each parameter of the workload that is a number, as the size of a table."""
    known = cells[0].runs[0].parameters
    for factor in known:
        levels = _numbers(cells, factor)
        if len(levels) < 2:
            continue
        title, axis, value = _measure(declared)
        chart = _Chart(
            f"{test}_{title}_by_{factor}".replace(" ", "_").lower(),
            f"{title} by {factor}",
            Axis(factor, _scale(levels)),
            axis,
            factor,
            value,
        )
        yield from _lines(chart, cells)


def _measure(declared: Declaration | None) -> tuple[str, Axis, Value]:
    """What a test is about: its declared value, or the mean latency of a transaction."""
    if declared is None or declared.value == "latency":
        return "Mean latency", Axis("mean latency, ms", Scale.LOG), _of(aggregates.LATENCY, 1e6)
    if declared.value == "throughput":
        return "Throughput", Axis("transactions per second", Scale.LOG), _throughput
    if declared.value == "size_on_disk":
        value = _of(aggregates.SIZE_ON_DISK, 1e6)
        return "Size on disk", Axis("size on disk, MB", Scale.LOG), value
    title, key = {
        "elapsed": ("Elapsed time", aggregates.ELAPSED),
        "load_time": ("Load time", aggregates.LOAD_TIME),
    }[declared.value]
    return title, Axis(f"{title.lower()}, s", Scale.LOG), _of(key, 1e9)


def _lines(chart: _Chart, cells: Sequence[CellRuns]) -> tuple[Figure, ...]:
    """A figure for each panel with a line of two points at least."""
    made = panels(cells, "system", (chart.factor, *_NOT_ALONG))
    levels = _numbers(cells, chart.factor)
    x = replace(chart.x, span=(levels[0], levels[-1]))  # also where a point is missing
    shown = []
    for place, panel in enumerate(made.shown, 1):
        series = [DataSeries(name, points) for name, points in _points(chart, panel)]
        missing = _missing(levels, series)
        if not series:
            continue
        if chart.is_relative or chart.ideal:
            series.append(_ideal(chart, series))
        if chart.limit is not None:
            at_limit = tuple(Point(level, chart.limit) for level in levels)
            series.append(DataSeries("latency limit", at_limit, is_reference=True))
        is_log = all(point.y > 0 for one in series for point in one.points)
        shown.append(
            Figure(
                f"{chart.name}_{place}",
                f"{chart.title}: {panel.title}" if panel.title else chart.title,
                Mark.LINES,
                x,
                chart.y if is_log else Axis(chart.y.title),
                tuple(series),
                notes=(*missing, *made.notes(panel)),
            )
        )
    return on_one_scale(shown)


def _missing(levels: Sequence[float], series: Sequence[DataSeries]) -> list[str]:
    """``no point at 200: …`` of each line that has not all levels."""
    found = []
    for one in series:
        there = {point.x for point in one.points}
        if absent := [cell_names.level_text(level) for level in levels if level not in there]:
            why = "not measured, or too few transactions"
            found.append(f"{one.name}: no point at {', '.join(absent)} ({why})")
    return found


def _points(chart: _Chart, panel: Panel) -> Iterator[tuple[str, tuple[Point, ...]]]:
    for name, cells in panel.series:
        found: list[tuple[float, Point]] = []
        for cell in cells:
            level = cell.level(chart.factor)
            point = chart.value(cell)
            if point is not None and isinstance(level, int | float):
                found.append((float(level), point))
        found.sort(key=lambda point: point[0])
        first = found[0][1].y if found and chart.is_relative else 1.0
        if len(found) > 1 and first:
            yield name, tuple(_at(level, point, first) for level, point in found)


def _at(level: float, point: Point, first: float) -> Point:
    low, high = (None if one is None else one / first for one in (point.low, point.high))
    return replace(point, x=level, y=point.y / first, low=low, high=high)


def _ideal(chart: _Chart, series: Sequence[DataSeries]) -> DataSeries:
    """As many times faster as there are more clients, or as many done as are offered."""
    levels = sorted({float(point.x) for one in series for point in one.points})
    least = levels[0] if chart.is_relative else 1.0
    return DataSeries(
        chart.ideal or "ideal", tuple(Point(one, one / least) for one in levels), is_reference=True
    )


def _of(key: ReportColumn, divided_by: float) -> Value:
    def point(cell: CellRuns) -> Point | None:
        made = aggregates.number(cell, key)
        return None if made is None else _point(made, divided_by, cell.run_ids)

    return point


_throughput = _of(aggregates.THROUGHPUT, 1)


def _point(made: Number, divided_by: float, runs: tuple[int, ...]) -> Point:
    low, high = (None if one is None else one / divided_by for one in (made.low, made.high))
    return Point(0, made.value / divided_by, low, high, runs, made.verdict)


def _percentile(name: str) -> Value:
    """The median of the repetitions, as in the summary."""
    shown = cell_tables.latency_of_run(name, "ms")

    def point(cell: CellRuns) -> Point | None:
        made = aggregates.each(shown, lambda _: "")(cell).number if cell.measured else None
        if made is None:
            return None
        return _point(replace(made, judged=cell.judged.verdict), 1e6, cell.run_ids)

    return point


def _numbers(cells: Sequence[CellRuns], factor: str) -> list[float]:
    levels = cell_runs.levels(cells, factor)
    numbers = [float(one) for one in levels if isinstance(one, int | float)]
    is_along = len(numbers) == len(levels) and not any(isinstance(one, bool) for one in levels)
    return numbers if is_along else []


def _scale(levels: Sequence[float]) -> Scale:
    is_wide = levels[0] > 0 and levels[-1] >= _WIDE * levels[0]
    return Scale.LOG if is_wide else Scale.LINEAR
