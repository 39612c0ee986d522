"""Takes the trend of a cell; returns its value in each experiment, with the range of the
repetitions, and the mean between changes beside it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from assay.comparison.trend import Trend
from assay.report.figure import Axis, DataSeries, Figure, Mark, Point
from assay.text import units

_MEANS = "mean between change points"
_BROKEN = "the lines begin anew where an experiment did other work than the one before"


def figure(name: str, trend: Trend) -> Figure:
    """Experiments stand side by side, however long the time between them was."""
    unit = trend.metric.unit

    def shown(value: float) -> float:
        return units.comparable(value, unit)

    def lines(title: str, points: Sequence[Point], *, is_reference: bool) -> Iterator[DataSeries]:
        for begin, end in trend.stretches:
            yield DataSeries(title, tuple(points[begin:end]), is_reference=is_reference)

    measured = [
        Point(
            place,
            shown(one.value),
            shown(min(one.values)),
            shown(max(one.values)),
            one.runs,
            one.runs_verdict,
        )
        for place, one in enumerate(trend.points, 1)
    ]
    means = [Point(place, shown(mean)) for place, mean in enumerate(trend.segment_means, 1)]
    axis = f", {units.comparable_unit({unit})}" if unit in ("ns", "bytes") else ""
    return Figure(
        name,
        trend.name,
        Mark.LINES,
        Axis("experiment, in the order of time"),
        Axis(f"{trend.metric.meaning}{axis}"),
        (
            *lines(trend.metric.name, measured, is_reference=False),
            *lines(_MEANS, means, is_reference=True),
        ),
        notes=(_BROKEN,) if len(trend.stretches) > 1 else (),
    )
