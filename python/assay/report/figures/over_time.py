"""Takes the seconds of a run; returns its charts over time: throughput, latencies, schedule lag,
what did not end ok, and what the machine did. The live page has the same while the seconds pass."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Container, Iterator, Mapping, Sequence
from itertools import groupby
from operator import attrgetter
from typing import TypeVar

from msgspec import Struct
from msgspec.structs import replace

from assay.contracts.driving import DEFERRED, Driving
from assay.contracts.observation import Interval, MachineSecond, Observation
from assay.judge import seconds as per_second
from assay.record import Run
from assay.record.metrics.clients import OF_SECONDS
from assay.report import cell_runs
from assay.report.cell_runs import CellRuns
from assay.report.figure import Axis, DataSeries, Figure, Mark, Point, Scale, on_one_scale
from assay.report.figures.bars import panels
from assay.text import rates

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


def _of_clients(name: str) -> Callable[[ShownSecond], float | None]:
    """``name``: of a metric of seconds; a time in milliseconds."""

    def value(second: ShownSecond) -> float | None:
        found: float | None = _OF_SECONDS[name].known(second.clients)
        if not name.endswith("_ns"):
            return found
        return found / 1e6 if found else None

    return value


def _of_machine(name: str) -> Callable[[ShownSecond], float | None]:
    return lambda second: getattr(second.machine, name, None)


PER_SECOND = Axis("transactions per second")
THROUGHPUT = OverTime(
    "timeline",
    "Throughput over time",
    PER_SECOND,
    (
        LineOverTime("achieved", _of_clients("ok")),
        LineOverTime("offered", lambda second: second.offered, is_measured=False),
    ),
)
LATENCY = OverTime(
    "latency_over_time",
    "Latency over time",
    Axis("latency, ms", Scale.LOG),
    (
        LineOverTime("median", _of_clients("latency_p50_ns")),
        LineOverTime("p99", _of_clients("latency_p99_ns")),
        LineOverTime("longest", _of_clients("latency_max_ns")),
    ),
    max,
    "the longest",
)
LAG = OverTime(
    "lag_over_time",
    "Schedule lag over time",
    Axis("p99 of the lag, ms", Scale.LOG),
    (LineOverTime("p99", _of_clients("schedule_lag_p99_ns")),),
    max,
    "the longest",
)
NOT_OK = OverTime(
    "not_ok_over_time",
    "Not ok over time",
    PER_SECOND,
    tuple(
        LineOverTime(name, _of_clients(name), is_shown_at_zero=False)
        for name in ("aborted", "failed", "unknown", "late", "skipped")
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
        if any(one.clients.stalled_ns >= STALLED_NS for one in part):
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


def timeline_figures(test: str, cells: Sequence[CellRuns]) -> tuple[Figure, ...]:
    """Of the repetition with the median throughput; none where runs were too short. Of one cell
    also its latencies, its lag and what did not end ok."""
    seen = {
        id(cell): run
        for cell, run in cell_runs.middle_runs(cells)
        if len(whole_seconds(run.measurement)) >= LEAST_SECONDS
    }
    if not seen:
        return ()
    if len(seen) == 1:
        return _of_one(test, cells, seen)
    made = panels([cell for cell in cells if id(cell) in seen], "storage")
    shown = []
    for place, panel in enumerate(made.shown, 1):
        lines = [(name, cell, seen[id(cell)]) for name, (cell, *_) in panel.series]
        longest = max(len(whole_seconds(run.measurement)) for _, _, run in lines)
        size = size_of(longest)
        series = tuple(
            one
            for name, cell, run in lines
            for one in (
                DataSeries(name, tuple(_points(run, size, cell.judged.verdict.word))),
                *_offered(name, run, size),
            )
        )
        title = f"Throughput over time{f': {panel.title}' if panel.title else ''}"
        notes = cell_runs.of_middle(cells) if place == 1 else ()
        if note := THROUGHPUT.note(size):
            notes = (note, *notes)
        shown.append(
            Figure(
                f"{test}_timeline_{place}",
                title,
                Mark.LINES,
                SECOND,
                PER_SECOND,
                series,
                notes=(*notes, *made.notes(panel)),
            )
        )
    return on_one_scale(shown)


def _of_one(test: str, cells: Sequence[CellRuns], seen: Mapping[int, Run]) -> tuple[Figure, ...]:
    ((cell, run),) = [(cell, seen[id(cell)]) for cell in cells if id(cell) in seen]
    intervals = sorted(run.measurement.intervals, key=attrgetter("second"))
    by_second = groupby(intervals, attrgetter("second"))
    driving = run.driving
    machine = {one.second: one for one in run.measurement.machine_seconds}
    every = [
        shown_second(tuple(groups), driving, machine.get(second)) for second, groups in by_second
    ]
    seconds = every[: len(whole_seconds(run.measurement))]
    made = figures(test, seconds, run.id, cell.judged.verdict.word)
    first, *others = made
    return replace(first, notes=(*first.notes, *cell_runs.of_middle(cells))), *others


def _points(run: Run, size: int, verdict: str) -> Iterator[Point]:
    for middle, mean in _means(whole_seconds(run.measurement), size):
        yield Point(middle, mean, runs=(run.id,), verdict=verdict)


def _offered(name: str, run: Run, size: int) -> Iterator[DataSeries]:
    """What was due beside what was completed, where the rate changes in time."""
    rate = run.driving.offered_rate_per_s
    if rate is None or not rates.is_profile(rate):
        return
    due = rates.due_in_seconds(rate, len(whole_seconds(run.measurement)))
    points = tuple(Point(middle, mean) for middle, mean in _means(due, size))
    yield DataSeries(f"{name}, offered" if name else "offered", points)


def _means(seconds: Sequence[float], size: int) -> Iterator[tuple[float, float]]:
    for middle, part in together(seconds, size):
        yield middle, statistics.fmean(part)


_OF_SECONDS = {metric.name: metric for metric in OF_SECONDS}
_SUMMED = (
    "ok", "aborted", "failed", "unknown", "late", "skipped", "retries", "clients_connected",
)  # fmt: skip
_OF_SLOWEST = ("p50_ns", "p99_ns", "max_ns", "stalled_ns", "suspended_ns")


class ShownSecond(Struct, frozen=True):
    clients: Interval
    """Counts are those of all clients; of several groups, times are those of the slowest."""
    offered: float | None = None
    """What was due in it; None: a closed loop."""
    machine: MachineSecond | None = None

    @property
    def second(self) -> int:
        return self.clients.second

    @property
    def document(self) -> dict[str, float | MachineSecond | None]:
        """For the live page; what is 0 or not known is left out."""
        known = {_short(name): metric.known(self.clients) for name, metric in _OF_SECONDS.items()}
        others: dict[str, float | MachineSecond | None] = {
            "offered": self.offered,
            "machine": self.machine,
        }
        return {
            "second": self.second,
            "ok": self.clients.ok,
            **{name: value for name, value in known.items() if value},
            **{name: value for name, value in others.items() if value is not None},
        }


def _short(name: str) -> str:
    """As the live page calls a metric: ``p99_ns``, ``lag_p99_ns``, ``clients``."""
    return name.removeprefix("latency_").removeprefix("schedule_").removesuffix("_connected")


def shown_second(
    groups: Sequence[Interval], driving: Driving | None, machine: MachineSecond | None
) -> ShownSecond:
    own = [one for one in groups if one.group != DEFERRED] or list(groups)
    second = own[0].second
    lags = [one.schedule_lag_p99_ns for one in own if one.schedule_lag_p99_ns is not None]
    rate = driving.offered_rate_per_s if driving else None
    is_rate = isinstance(rate, float | int) or rates.is_profile(rate)
    made = replace(
        own[0],
        group="",
        schedule_lag_p99_ns=max(lags, default=None),
        **{name: sum(getattr(one, name) for one in own) for name in _SUMMED},
        **{name: max(getattr(one, name) for one in own) for name in _OF_SLOWEST},
    )
    due = (
        rates.due(rate, second + 1) - rates.due(rate, second)
        if rate is not None and is_rate
        else None
    )
    return ShownSecond(made, due, machine)


LEAST_SECONDS = 5
"""A run of fewer whole seconds has no timeline."""


def whole_seconds(observation: Observation) -> list[int]:
    """Transactions that ended ok in each whole second in which transactions began."""
    asked_ns = observation.elapsed_ns - observation.drained_ns
    seconds = int(asked_ns // 1_000_000_000)
    return per_second.ok_per_second(observation)[:seconds]
