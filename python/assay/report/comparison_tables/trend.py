"""Takes trends; returns their `Report`: a table and a chart of each cell."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from datetime import datetime
from functools import partial
from pathlib import Path

from msgspec.structs import replace

from assay.comparison.change_points import LEAST_VALUES
from assay.comparison.trend import Trend, TrendPoint
from assay.judge.statistics.estimate import CONFIDENCE, Estimate
from assay.report import columns, footnotes
from assay.report.columns import numbers, words
from assay.report.comparison_tables.ratio_cells import interval_cell, ratio_text, value_cell
from assay.report.figure import Axis, DataSeries, Figure, Mark, Point
from assay.report.values import Report, ReportCell, ReportColumn, Section, absent, text
from assay.text import units


def build(trends: Sequence[Trend], records: Sequence[Path]) -> Report:
    return Report(
        title="Trend",
        experiments=(),
        record=records[0],
        facts={"records": ", ".join(map(str, records))},
        sections=tuple(_section(one) for one in trends),
        warnings=(),
        cell_count=len(trends),
    )


def _section(trend: Trend) -> Section:
    is_of_several = len({point.record for point in trend.points}) > 1
    name = f"trend_{trend.fingerprint[:12]}"

    def of_point(title: str, cell: Callable[[TrendPoint], ReportCell]) -> ReportColumn:
        return numbers(title, lambda place: cell(trend.points[place]))

    table = columns.table(
        name,
        f"{trend.metric.name}, with {units.share(CONFIDENCE)} intervals of the ratios",
        (
            *([words("record", lambda at: trend.points[at].record, is_label=True)] * is_of_several),
            words("experiment", lambda at: trend.points[at].experiment, is_label=True),
            words("begun", lambda at: _local_time(trend.points[at].begun_unix_ns), is_label=True),
            of_point("value", partial(_value, trend)),
            of_point("runs", lambda point: text(len(point.values))),
            of_point("to first", lambda point: _ratio(point.to_first)),
            of_point("to previous", lambda point: _ratio(point.to_previous)),
            numbers("interval", partial(_interval, trend)),
            words("change", partial(_change, trend)),
        ),
        range(len(trend.points)),
        notes=tuple(_notes(trend)),
    )
    figures = (_figure(name, trend),) if len(trend.points) > 1 else ()
    return Section(trend.name, (), (footnotes.numbered(table),), figures)


def _value(trend: Trend, point: TrendPoint) -> ReportCell:
    reasons = "; ".join(sorted(point.runs_reasons))
    is_limited = point.runs_verdict == "indicative"
    return replace(
        value_cell(point.value, trend.metric), note=f"indicative: {reasons}" if is_limited else ""
    )


def _ratio(estimate: Estimate | None) -> ReportCell:
    return absent("") if estimate is None else text(ratio_text(estimate.ratio))


def _interval(trend: Trend, place: int) -> ReportCell:
    point = trend.points[place]
    if (previous := point.to_previous) is None or previous.interval() is None:
        return absent("")
    repetitions = min(len(point.values), len(trend.points[place - 1].values))
    return interval_cell(previous, repetitions)


def _change(trend: Trend, place: int) -> str:
    point = trend.points[place]
    if point.is_first_of_its_work:
        return "other work"
    if point.adjusted_p is None:
        return ""
    return trend.metric.word(_level_ratio(trend, place))


def _level_ratio(trend: Trend, place: int) -> float:
    """Of the values from a change to the next, to those from the one before."""
    before, after = trend.segment_means[place - 1], trend.segment_means[place]
    return after / before if before else math.inf


def _shift(trend: Trend, place: int) -> str:
    ratio = _level_ratio(trend, place)
    if 0 < ratio < math.inf:
        return f"are {ratio_text(ratio)} of those before"
    before, after = (
        value_cell(trend.segment_means[at], trend.metric).shown for at in (place - 1, place)
    )
    return f"are {after} on average, those before {before}"


def _notes(trend: Trend) -> Iterator[str]:
    for place, point in enumerate(trend.points):
        if point.adjusted_p is not None:
            yield (
                f"experiment {point.experiment}: change point, the values from here on "
                f"{_shift(trend, place)} (adjusted p {point.adjusted_p:.4f})"
            )
        if point.differs:
            differs = "; ".join(found.sentence for found in point.differs)
            begins_anew = ", so it is not compared with it" if point.is_first_of_its_work else ""
            yield (
                f"experiment {point.experiment} differs from the one before{begins_anew}: {differs}"
            )
    if not trend.is_long_enough:
        yield f"too short for change points: {LEAST_VALUES} experiments of the same work are needed"
    if trend.left_out:
        yield (
            f"{units.counted(trend.left_out, 'run')} left out: not measured, invalid, or without "
            "this metric (a percentile may be not reached)"
        )


def _local_time(unix_ns: int) -> str:
    return datetime.fromtimestamp(unix_ns / 1e9).astimezone().strftime("%Y-%m-%d %H:%M")


_MEANS = "mean between change points"
_BROKEN = "the lines begin anew where an experiment did other work than the one before"


def _figure(name: str, trend: Trend) -> Figure:
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
