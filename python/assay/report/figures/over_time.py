"""Takes the seconds of one run; returns its charts over time: throughput, latencies, schedule lag,
what did not end ok, and what the machine did. The live page has the same ones while the seconds
pass."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Container, Iterator, Mapping, Sequence
from typing import TypeVar

from msgspec import Struct
from msgspec.structs import replace

from assay.report.cells.shown_seconds import ShownSecond
from assay.report.figure import Axis, DataSeries, Figure, Mark, Point, Scale

_Second = TypeVar("_Second")
MOST_POINTS = 150
"""Of the longest line of a chart; a point is so many seconds together as that takes."""
STALLED_NS = 500_000_000
"""A second is shaded in which the system stood still for as long as that."""
_SHADED = "shaded: no transaction ended for half a second or more"
SECOND = Axis("second of the measurement")


Lines = Mapping[str, Sequence[Point | None]]
"""Name → its points, one after another; None: not known of these seconds."""


class LineOverTime(Struct, frozen=True):
    name: str
    of: Callable[[ShownSecond], float | None]
    """None: not known of this second."""
    is_shown_at_zero: bool = True
    """False: it is left out where it is 0 in all seconds."""
    is_measured: bool = True


class OverTime(Struct, frozen=True):
    """One kind of chart."""

    name: str
    title: str
    y: Axis
    lines: tuple[LineOverTime, ...]
    together: Callable[[Sequence[float]], float] = statistics.fmean
    """Of several seconds that are one point."""
    point_is: str = "the mean"

    def note(self, size: int) -> str:
        """``size``: seconds of a point."""
        return f"a point is {self.point_is} of {size} seconds" if size > 1 else ""


def _ms(value_ns: int | None) -> float | None:
    return value_ns / 1e6 if value_ns else None


def _of_machine(name: str) -> Callable[[ShownSecond], float | None]:
    return lambda second: getattr(second.machine, name, None)


PER_SECOND = Axis("transactions per second")
THROUGHPUT = OverTime(
    "timeline",
    "Throughput over time",
    PER_SECOND,
    (
        LineOverTime("achieved", lambda second: second.ok),
        LineOverTime("offered", lambda second: second.offered, is_measured=False),
    ),
)
LATENCY = OverTime(
    "latency_over_time",
    "Latency over time",
    Axis("latency, ms", Scale.LOG),
    (
        LineOverTime("median", lambda second: _ms(second.p50_ns)),
        LineOverTime("p99", lambda second: _ms(second.p99_ns)),
        LineOverTime("longest", lambda second: _ms(second.max_ns)),
    ),
    max,
    "the longest",
)
LAG = OverTime(
    "lag_over_time",
    "Schedule lag over time",
    Axis("p99 of the lag, ms", Scale.LOG),
    (LineOverTime("p99", lambda second: _ms(second.lag_p99_ns)),),
    max,
    "the longest",
)
NOT_OK = OverTime(
    "not_ok_over_time",
    "Not ok over time",
    PER_SECOND,
    (
        LineOverTime("aborted", lambda second: second.aborted, is_shown_at_zero=False),
        LineOverTime("failed", lambda second: second.failed, is_shown_at_zero=False),
        LineOverTime("unknown", lambda second: second.unknown, is_shown_at_zero=False),
        LineOverTime("late", lambda second: second.late, is_shown_at_zero=False),
        LineOverTime("skipped", lambda second: second.skipped, is_shown_at_zero=False),
    ),
)
CPU = OverTime(
    "cpu_over_time",
    "CPU over time",
    Axis("processors in use"),
    (
        LineOverTime("whole machine", _of_machine("machine_cpus")),
        LineOverTime("server", _of_machine("server_cpus")),
        LineOverTime("client", _of_machine("client_cpus")),
        LineOverTime("other programs", _of_machine("other_cpus"), is_shown_at_zero=False),
    ),
)
DEVICE = OverTime(
    "device_over_time",
    "The device under the data over time",
    Axis("requests per second"),
    (
        LineOverTime("reads", _of_machine("reads")),
        LineOverTime("writes", _of_machine("writes")),
        LineOverTime("flushes", _of_machine("flushes")),
    ),
)
CHARTS = (THROUGHPUT, LATENCY, LAG, NOT_OK, CPU, DEVICE)


def size_of(seconds: int) -> int:
    """How many seconds are a point, where there are so many."""
    return max(1, -(-seconds // MOST_POINTS))


def together(
    seconds: Sequence[_Second], size: int, begins: int = 0
) -> Iterator[tuple[float, Sequence[_Second]]]:
    """Each of so many seconds, the last one of those that are left, with the middle of them.
    ``begins``: how many there were before these."""
    for at in range(0, len(seconds), size):
        part = seconds[at : at + size]
        yield begins + at + (len(part) + 1) / 2, part  # the first second is 1


def lines(
    chart: OverTime,
    seconds: Sequence[ShownSecond],
    size: int,
    begins: int = 0,
    known: Container[str] = (),
) -> Lines:
    """``known``: lines that are there, also if they are 0 in all these seconds."""
    found: dict[str, list[Point | None]] = {}
    for line in chart.lines:
        points: list[Point | None] = []
        for middle, part in together(seconds, size, begins):
            values = [value for one in part if (value := line.of(one)) is not None]
            points.append(Point(middle, chart.together(values)) if values else None)
        is_there = any(one is not None and (one.y or line.is_shown_at_zero) for one in points)
        if is_there or line.name in known:
            found[line.name] = points
    return found


def stalled(
    seconds: Sequence[ShownSecond], size: int, begins: int = 0
) -> Iterator[tuple[float, float]]:
    """From where to where it is shaded."""
    for middle, part in together(seconds, size, begins):
        if any(one.stalled_ns >= STALLED_NS for one in part):
            yield middle - len(part) / 2, middle + len(part) / 2


def figure(
    chart: OverTime, points: Lines, size: int, shaded: Sequence[tuple[float, float]], name: str
) -> Figure:
    series = tuple(
        DataSeries(line, part) for line, every in points.items() for part in _parts(every)
    )
    notes = (chart.note(size), _SHADED if shaded else "")
    return Figure(
        name,
        chart.title,
        Mark.LINES,
        SECOND,
        chart.y,
        series,
        notes=tuple(filter(None, notes)),
        shaded=tuple(shaded),
    )


def figures(test: str, seconds: Sequence[ShownSecond], run: int, verdict: str) -> Iterator[Figure]:
    """Of the whole seconds of that run."""
    size = size_of(len(seconds))
    shaded = list(stalled(seconds, size))
    for chart in CHARTS:
        if found := lines(chart, seconds, size):
            made = figure(chart, found, size, shaded, f"{test}_{chart.name}_1")
            measured = {line.name for line in chart.lines if line.is_measured}
            series = (
                _of_run(one, run, verdict) if one.name in measured else one for one in made.series
            )
            yield replace(made, series=tuple(series))


def _parts(points: Sequence[Point | None]) -> Iterator[tuple[Point, ...]]:
    """Without those that are not known; a line has a gap there."""
    part: list[Point] = []
    for one in [*points, None]:
        if one is not None:
            part.append(one)
        elif part:
            yield tuple(part)
            part = []


def _of_run(series: DataSeries, run: int, verdict: str) -> DataSeries:
    return replace(
        series, points=tuple(replace(one, runs=(run,), verdict=verdict) for one in series.points)
    )
