"""Takes the cells of a test; returns the throughput of each second of a run, per storage."""

from __future__ import annotations

import statistics
from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby
from operator import attrgetter

from msgspec.structs import replace

from assay.record import Run
from assay.report.cells import cell_runs, shown_seconds
from assay.report.cells.cell_runs import CellRuns
from assay.report.cells.whole_seconds import LEAST_SECONDS, whole_seconds
from assay.report.figure import DataSeries, Figure, Mark, Point, on_one_scale
from assay.report.figures import over_time
from assay.report.figures.panels import panels
from assay.text import rates


def figures(test: str, cells: Sequence[CellRuns]) -> tuple[Figure, ...]:
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
        size = over_time.size_of(longest)
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
        if note := over_time.THROUGHPUT.note(size):
            notes = (note, *notes)
        shown.append(
            Figure(
                f"{test}_timeline_{place}",
                title,
                Mark.LINES,
                over_time.SECOND,
                over_time.PER_SECOND,
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
        shown_seconds.shown(tuple(groups), driving, machine.get(second))
        for second, groups in by_second
    ]
    seconds = every[: len(whole_seconds(run.measurement))]
    made = over_time.figures(test, seconds, run.id, cell.judged.verdict.word)
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
    for middle, part in over_time.together(seconds, size):
        yield middle, statistics.fmean(part)
