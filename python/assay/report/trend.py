"""Takes trends; returns their `Report`, a table and a chart of each cell; and plain data of a
versioned, typed form for programs, whose schema `assay schema trend` prints."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, fields
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import Annotated, Any, Literal, TextIO

from msgspec import Meta
from msgspec.structs import replace

from assay.comparison.trend import LEAST_VALUES, Trend, TrendPoint
from assay.contracts.metric import ReportColumn
from assay.judge.run import RunVerdict
from assay.judge.statistics.estimate import CONFIDENCE, Estimate
from assay.report import columns
from assay.report.columns import numbers, words
from assay.report.comparison_report import interval_cell, ratio_text, value_cell
from assay.report.figure import Axis, DataSeries, Figure, Mark, Point
from assay.report.forms.csv import write_rows
from assay.report.forms.json import finite, write_document
from assay.report.program_tables import JsonSchema, document_schema
from assay.report.values import Report, ReportCell, Section, absent, text
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
    return Section(trend.name, (), (columns.numbered_footnotes(table),), figures)


def _value(trend: Trend, point: TrendPoint) -> ReportCell:
    reasons = "; ".join(sorted(point.runs_reasons))
    is_limited = point.runs_verdict == "unreliable"
    return replace(
        value_cell(point.value, trend.metric), note=f"unreliable: {reasons}" if is_limited else ""
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
            f"{units.counted(trend.left_out, 'run')} left out: not measured, invalid, disturbed by "
            "other programs, or without this metric (a percentile may be not reached)"
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


VERSION_OF_DOCUMENT: Literal[1] = 1
"""Incremented when readers of the document have to change."""

Bound = Annotated[
    float | None, Meta(description="of the interval; null: there is none, or it is unbounded")
]


@dataclass(frozen=True)
class PointDocument:
    cell: str
    cell_fingerprint: str
    workload: str
    test: str
    metric: str
    unit: Annotated[str, Meta(description="ns, bytes, per_s or count")]
    point: Annotated[int, Meta(description="from 1, in the order of time")]
    record: Annotated[str, Meta(description="the record file")]
    experiment: int
    begun_unix_ns: Annotated[int, Meta(description="of its first run")]
    value: Annotated[
        float,
        Meta(
            description="geometric mean of the repetitions (the arithmetic one where one of them "
            "is 0; a report has their median)"
        ),
    ]
    count: Annotated[int, Meta(description="of repetitions")]
    ratio_to_first: Annotated[
        float | None,
        Meta(
            description="to the first point that did the same work; null: it is that one, or a "
            "value is 0"
        ),
    ]
    ratio_to_first_low: Bound
    ratio_to_first_high: Bound
    ratio_to_previous: Annotated[
        float | None, Meta(description="null: the one before did other work, or a value is 0")
    ]
    ratio_to_previous_low: Bound
    ratio_to_previous_high: Bound
    is_change_point: Annotated[bool, Meta(description="the level is another from here on")]
    adjusted_p_value: Annotated[
        float | None,
        Meta(
            description="of the change point, for the number of cells in the output; null: it is "
            "none"
        ),
    ]
    runs_verdict: Annotated[RunVerdict, Meta(description="the worst of its runs")]
    runs_reasons: Annotated[str | None, Meta(description="why it is no better")]
    differs: Annotated[str | None, Meta(description="what is not as at the point before")]


@dataclass(frozen=True)
class TrendDocument:
    version: Literal[1]
    points: list[PointDocument]


def document(trends: Sequence[Trend]) -> dict[str, Any]:
    """As JSON has it: the points of each cell in the order of time."""
    points = [_point(one, place) for one in trends for place in range(len(one.points))]
    return asdict(TrendDocument(VERSION_OF_DOCUMENT, points))


def trend_schema() -> JsonSchema:
    return document_schema(TrendDocument, "A trend of Assay", "assay trend")


def write_json(trends: Sequence[Trend], stream: TextIO) -> None:
    write_document(document(trends), stream)


def write_csv(trends: Sequence[Trend], stream: TextIO) -> None:
    names = [one.name for one in fields(PointDocument)]
    write_rows(stream, VERSION_OF_DOCUMENT, names, document(trends)["points"])


def _point(trend: Trend, place: int) -> PointDocument:
    point = trend.points[place]
    to_first, first_low, first_high = _ratio_of_document(point.to_first)
    to_previous, previous_low, previous_high = _ratio_of_document(point.to_previous)
    return PointDocument(
        cell=trend.name,
        cell_fingerprint=trend.fingerprint,
        workload=trend.workload,
        test=trend.test,
        metric=trend.metric.name,
        unit=trend.metric.unit,
        point=place + 1,
        record=point.record,
        experiment=point.experiment,
        begun_unix_ns=point.begun_unix_ns,
        value=point.value,
        count=len(point.values),
        ratio_to_first=to_first,
        ratio_to_first_low=first_low,
        ratio_to_first_high=first_high,
        ratio_to_previous=to_previous,
        ratio_to_previous_low=previous_low,
        ratio_to_previous_high=previous_high,
        is_change_point=point.adjusted_p is not None,
        adjusted_p_value=point.adjusted_p,
        runs_verdict=point.runs_verdict,
        runs_reasons="; ".join(point.runs_reasons) or None,
        differs="; ".join(one.sentence for one in point.differs) or None,
    )


def _ratio_of_document(
    estimate: Estimate | None,
) -> tuple[float | None, float | None, float | None]:
    """With the bounds of its interval."""
    if estimate is None:
        return None, None, None
    low, high = estimate.interval() or (None, None)
    return estimate.ratio, low, finite(high)
