"""The columns of tidy output: the name of each with its unit, its meaning, and how it is read from
a run. The published schema is generated from them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, replace
from typing import Any

from assay.contracts.metric import Metric, Read
from assay.contracts.observation import Latency
from assay.judge.statistics import samples
from assay.judge.statistics.samples import UNREACHED
from assay.record.metrics import clients
from assay.record.metrics.catalogue import METRICS
from assay.record.metrics.work import Work
from assay.report.values import TidyValue

Value = TidyValue


@dataclass(frozen=True)
class TidyColumn:
    name: str
    kind: str
    """A type of JSON Schema: integer, number, string, boolean, array (of strings); or scalar."""
    meaning: str
    value: Callable[[Any], Value]
    """Reads the value from the source of a row."""
    _: KW_ONLY
    is_nullable: bool = True


def never_null(name: str, kind: str, meaning: str, value: Callable[[Any], Value]) -> TidyColumn:
    return TidyColumn(name, kind, meaning, value, is_nullable=False)


def row(columns: Sequence[TidyColumn], source: Any) -> dict[str, Value]:
    return {column.name: _known(column, column.value(source)) for column in columns}


def _known(column: TidyColumn, value: Value) -> Value:
    """An empty text says that there is nothing, which is null where a column may be."""
    return None if column.is_nullable and value == "" else value


def path(*names: str) -> Callable[[Any], Any]:
    """Reads what stands at the end of these fields; None where one on the way is None."""

    def value(source: Any) -> Any:
        for name in names:
            if source is None:
                return None
            is_document = isinstance(source, Mapping)
            source = source.get(name) if is_document else getattr(source, name)
        return source

    return value


def attribute(name: str) -> Callable[[Any], Any]:
    return lambda source: getattr(source, name)


def of(read: Callable[[Any], Any], columns: Sequence[TidyColumn]) -> list[TidyColumn]:
    """The same columns, read from a part of the source."""

    def within(column: TidyColumn) -> Callable[[Any], Value]:
        return lambda source: column.value(read(source))

    return [replace(column, value=within(column)) for column in columns]


def of_metric(metric: Metric, read: Read | None = None) -> TidyColumn:
    """``read``: from the source of a row, which is a `RunRecord` where it is None."""
    null = f"; null: {metric.null}" if metric.null else ""
    of_source = read or metric.value

    def value(source: Any) -> Value:
        found = of_source(source)
        return None if found == UNREACHED else found

    return TidyColumn(
        metric.name,
        metric.kind,
        f"{metric.meaning}{null}",
        value,
        is_nullable=not metric.is_never_null,
    )


def behind(
    columns: Iterable[TidyColumn], further: Mapping[str, Sequence[TidyColumn]]
) -> list[TidyColumn]:
    """``further``: name of a column → what explains it, and stands behind it."""
    return [each for column in columns for each in (column, *further.get(column.name, ()))]


def times(prefix: str, key: str, what: str) -> list[TidyColumn]:
    """Of the times that stand under ``key``; null where there are none."""
    return [of_metric(metric) for metric in clients.times(prefix, what, path(key)).values()]


def of_work(read: Callable[[Any], Work]) -> list[TidyColumn]:
    """The metrics of what clients did; ``read`` takes that from the source of a row."""
    return [
        of_metric(metric, _within(metric.of_work, read))
        for metric in METRICS.values()
        if metric.of_work
    ]


def _within(of_work: Read, read: Callable[[Any], Work]) -> Read:
    return lambda source: of_work(read(source))


def why_null(latency: Callable[[Any], Latency | None]) -> TidyColumn:
    """Behind latencies."""

    def why(source: Any) -> Value:
        found = latency(source)
        return None if found is None else samples.why_null(found)

    return TidyColumn("latency_why_null", "string", "why some of these times are null", why)
