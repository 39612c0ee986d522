"""Takes the cells of a test; returns the throughput of each second of a run, per storage."""

from __future__ import annotations

import statistics
from collections.abc import Iterator, Sequence

from assay.report.cells import cell_runs
from assay.report.cells.cell_runs import CellRuns, DrivenRun
from assay.report.cells.whole_seconds import LEAST_SECONDS, whole_seconds
from assay.report.figure import Axis, DataSeries, Figure, Mark, Point, on_one_scale
from assay.report.figures.panels import panels
from assay.text import rates

_MOST_POINTS = 150
"""Of the longest line of a chart; a point of each line is the mean of as many seconds as that
takes."""


def figures(test: str, cells: Sequence[CellRuns]) -> tuple[Figure, ...]:
    """Of the repetition with the median throughput; none where runs were too short."""
    seen = {
        id(cell): run
        for cell, run in cell_runs.middle_runs(cells)
        if len(whole_seconds(run.driven)) >= LEAST_SECONDS
    }
    if not seen:
        return ()
    made = panels([cell for cell in cells if id(cell) in seen], "storage")
    shown = []
    for place, panel in enumerate(made.shown, 1):
        lines = [(name, cell, seen[id(cell)]) for name, (cell, *_) in panel.series]
        longest = max(len(whole_seconds(run.driven)) for _, _, run in lines)
        size = -(-longest // _MOST_POINTS)
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
        if size > 1:
            notes = (f"a point is the mean of {size} seconds", *notes)
        shown.append(
            Figure(
                f"{test}_timeline_{place}",
                title,
                Mark.LINES,
                Axis("second of the measurement"),
                Axis("transactions per second"),
                series,
                notes=(*notes, *made.notes(panel)),
            )
        )
    return on_one_scale(shown)


def _points(run: DrivenRun, size: int, verdict: str) -> Iterator[Point]:
    for middle, mean in _means(whole_seconds(run.driven), size):
        yield Point(middle, mean, runs=(run.run.id,), verdict=verdict)


def _offered(name: str, run: DrivenRun, size: int) -> Iterator[DataSeries]:
    """What was due beside what was completed, where the rate changes in time."""
    rate = run.run.driving.offered_rate_per_s if run.run.driving else None
    if rate is None or not rates.is_profile(rate):
        return
    due = rates.due_in_seconds(rate, len(whole_seconds(run.driven)))
    points = tuple(Point(middle, mean) for middle, mean in _means(due, size))
    yield DataSeries(f"{name}, offered" if name else "offered", points)


def _means(seconds: Sequence[float], size: int) -> Iterator[tuple[float, float]]:
    """Each of so many seconds, the last one of those that are left, at the middle of them."""
    for at in range(0, len(seconds), size):
        part = seconds[at : at + size]
        yield at + (len(part) + 1) / 2, statistics.fmean(part)  # the first second is 1
