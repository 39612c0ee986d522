"""Takes the cells of a test; returns the throughput of each second of a run, per storage."""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from dataclasses import replace

from assay.observation import Observation
from assay.report.cells import cell_runs
from assay.report.cells.cell_runs import CellRuns
from assay.report.cells.seconds import LEAST_SECONDS, whole_seconds
from assay.report.figure import Axis, DataSeries, Figure, Mark, Point, on_one_scale
from assay.report.figures.panels import panels

_MOST_POINTS = 150
"""Of a line; a point is the mean of as many seconds as that takes."""


def figures(test: str, found: Sequence[CellRuns]) -> tuple[Figure, ...]:
    """Of the repetition with the median throughput; none where runs were too short."""
    seen = {
        id(cell): run
        for cell, run in cell_runs.middle_runs(found)
        if len(whole_seconds(run.driven)) >= LEAST_SECONDS
    }
    if not seen:
        return ()
    made = panels([cell for cell in found if id(cell) in seen], "storage")
    shown = []
    for place, panel in enumerate(made.shown, 1):
        series = []
        size = 1
        for name, (cell, *_) in panel.series:
            run = seen[id(cell)]
            points, size = _points(run.driven, run.run.id)
            word = cell.judged.verdict.word
            points = tuple(replace(point, verdict=word) for point in points)
            series.append(DataSeries(name, points))
        title = f"Throughput over time{f': {panel.title}' if panel.title else ''}"
        notes = cell_runs.of_middle(found) if place == 1 else ()
        if size > 1:
            notes = (f"a point is the mean of {size} seconds", *notes)
        shown.append(
            Figure(
                f"{test}_timeline_{place}",
                title,
                Mark.LINES,
                Axis("second of the measurement"),
                Axis("transactions per second"),
                tuple(series),
                notes=(*notes, *made.notes(panel)),
            )
        )
    return on_one_scale(shown)


def _points(observation: Observation, run: int) -> tuple[tuple[Point, ...], int]:
    ok = whole_seconds(observation)
    size = -(-len(ok) // _MOST_POINTS)
    return tuple(
        Point(
            at + size / 2 if size > 1 else at + 1, statistics.fmean(ok[at : at + size]), runs=(run,)
        )
        for at in range(0, len(ok), size)
    ), size
