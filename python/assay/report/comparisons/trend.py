"""Takes trends; returns their `Report`: a table and a chart of each cell."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import datetime
from pathlib import Path

from assay.comparison.change_points import LEAST_VALUES
from assay.comparison.trend import Trend
from assay.judge.estimate import CONFIDENCE
from assay.report import footnotes
from assay.report.comparisons.ratio_cells import interval_cell, ratio_text, value_cell
from assay.report.figure import Axis, DataSeries, Figure, Mark, Point
from assay.report.values import (
    Report,
    ReportCell,
    ReportColumn,
    ReportTable,
    Row,
    Section,
    absent,
    text,
)
from assay.text import units


def build(found: Sequence[Trend], records: Sequence[Path]) -> Report:
    return Report(
        title="Trend",
        experiment_id=0,
        record=records[0],
        facts={"records": ", ".join(map(str, records))},
        sections=tuple(_section(one) for one in found),
        warnings=(),
        cell_count=len(found),
    )


def _section(one: Trend) -> Section:
    is_of_several = len({point.record for point in one.points}) > 1
    labels = (*(["record"] if is_of_several else []), "experiment", "begun")
    name = f"trend_{one.fingerprint[:12]}"
    table = ReportTable(
        name,
        f"{one.metric.name}, with {units.share(CONFIDENCE)} intervals of the ratios",
        (
            *(ReportColumn(name) for name in labels),
            ReportColumn("value", is_number=True),
            ReportColumn("runs", is_number=True),
            ReportColumn("to first", is_number=True),
            ReportColumn("to previous", is_number=True),
            ReportColumn("interval", is_number=True),
            ReportColumn("change"),
        ),
        tuple(
            Row((*([text(point.record)] if is_of_several else []), *_cells(one, place)))
            for place, point in enumerate(one.points)
        ),
        tuple(_notes(one)),
        label_columns=len(labels),
    )
    figures = (_figure(name, one),) if len(one.points) > 1 else ()
    return Section(one.name, (), (footnotes.numbered(table),), figures)


def _cells(one: Trend, place: int) -> Iterator[ReportCell]:
    point = one.points[place]
    previous = point.to_previous
    yield text(point.experiment)
    yield text(_local_time(point.begun_unix_ns))
    reasons = "; ".join(sorted(point.runs_reasons))
    is_limited = point.runs_verdict == "indicative"
    yield replace(
        value_cell(point.value, one.metric), note=f"indicative: {reasons}" if is_limited else ""
    )
    yield text(len(point.values))
    for found in (point.to_first, previous):
        yield absent("") if found is None else text(ratio_text(found.ratio))
    if previous is None or previous.interval() is None:
        yield absent("")
    else:
        repetitions = min(len(point.values), len(one.points[place - 1].values))
        yield interval_cell(previous, repetitions)
    yield text(_change(one, place))


def _change(one: Trend, place: int) -> str:
    point = one.points[place]
    if point.is_first_of_its_work:
        return "other work"
    if point.adjusted_p is None:
        return ""
    return one.metric.word(_level_ratio(one, place))


def _level_ratio(one: Trend, place: int) -> float:
    """Of the values from a change to the next, to those from the one before."""
    before, after = one.segment_means[place - 1], one.segment_means[place]
    return after / before if before else math.inf


def _shift(one: Trend, place: int) -> str:
    ratio = _level_ratio(one, place)
    if 0 < ratio < math.inf:
        return f"are {ratio_text(ratio)} of those before"
    before, after = (
        value_cell(one.segment_means[at], one.metric).shown for at in (place - 1, place)
    )
    return f"are {after} on average, those before {before}"


def _notes(one: Trend) -> Iterator[str]:
    for place, point in enumerate(one.points):
        if point.adjusted_p is not None:
            yield (
                f"experiment {point.experiment}: change point, the values from here on "
                f"{_shift(one, place)} (adjusted p {point.adjusted_p:.4f})"
            )
        if point.differs:
            differs = "; ".join(found.sentence for found in point.differs)
            begins_anew = ", so it is not compared with it" if point.is_first_of_its_work else ""
            yield (
                f"experiment {point.experiment} differs from the one before{begins_anew}: {differs}"
            )
    if not one.is_long_enough:
        yield f"too short for change points: {LEAST_VALUES} experiments of the same work are needed"
    if one.left_out:
        yield (
            f"{units.counted(one.left_out, 'run')} left out: not measured, invalid, or without "
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
