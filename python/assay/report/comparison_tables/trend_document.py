"""Takes trends; returns them as plain data of a versioned, typed form for programs, a row for each
point; `assay schema trend` prints its schema.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass, fields
from typing import Annotated, Any, Literal, TextIO

from msgspec import Meta

from assay.comparison.trend import Trend
from assay.judge.run import RunVerdict
from assay.judge.statistics.estimate import Estimate
from assay.report.comparison_tables.document_schema import of_document
from assay.report.forms.csv import write_rows
from assay.report.forms.json import write_document
from assay.report.json_schema import JsonSchema

VERSION: Literal[1] = 1
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
    return asdict(TrendDocument(VERSION, points))


def schema() -> JsonSchema:
    """The JSON Schema of the document."""
    return of_document(TrendDocument, "A trend of Assay", "assay trend")


def write_json(trends: Sequence[Trend], stream: TextIO) -> None:
    write_document(document(trends), stream)


def write_csv(trends: Sequence[Trend], stream: TextIO) -> None:
    names = [one.name for one in fields(PointDocument)]
    write_rows(stream, VERSION, names, document(trends)["points"])


def _point(trend: Trend, place: int) -> PointDocument:
    point = trend.points[place]
    to_first, first_low, first_high = _ratio(point.to_first)
    to_previous, previous_low, previous_high = _ratio(point.to_previous)
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


def _ratio(estimate: Estimate | None) -> tuple[float | None, float | None, float | None]:
    """With the bounds of its interval."""
    if estimate is None:
        return None, None, None
    low, high = estimate.interval() or (None, None)
    return estimate.ratio, low, high if high is not None and math.isfinite(high) else None
