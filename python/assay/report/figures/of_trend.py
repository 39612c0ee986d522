"""Takes the trend of a cell; returns its value in each experiment, with the range of the
repetitions, and the level between changes beside it."""

from __future__ import annotations

from assay.comparison.trend import Trend
from assay.report.figure import Axis, DataSeries, Figure, Mark, Point
from assay.text import units

_LEVELS = "mean between change points"


def figure(name: str, trend: Trend) -> Figure:
    """Experiments stand side by side, however long the time between them was."""
    unit = trend.metric.unit

    def shown(value: float) -> float:
        return units.comparable(value, unit)

    measured = tuple(
        Point(place, shown(one.value), shown(min(one.values)), shown(max(one.values)))
        for place, one in enumerate(trend.points, 1)
    )
    levels = tuple(Point(place, shown(level)) for place, level in enumerate(trend.levels, 1))
    axis = f", {units.comparable_unit({unit})}" if unit in ("ns", "bytes") else ""
    return Figure(
        name,
        trend.name,
        Mark.LINES,
        Axis("experiment, in the order of time"),
        Axis(f"{trend.metric.meaning}{axis}"),
        (
            DataSeries(trend.metric.name, measured),
            DataSeries(_LEVELS, levels, is_reference=True),
        ),
    )
