"""The columns of tidy output: the name of each with its unit, its meaning, and how it is read from
a run. The published schema is generated from them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, replace
from typing import Any

from assay.judge import samples
from assay.judge.samples import BY_NAME
from assay.observation import Latency

Value = str | int | float | bool | None | list[str]


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


OUTCOMES = [
    TidyColumn(name, "integer", meaning, path("outcomes", name))
    for name, meaning in (
        ("scheduled", "transactions; ok + aborted + failed + unknown + skipped"),
        ("ok", "of them, succeeded"),
        ("aborted", "rolled back as the workload asked"),
        ("failed", "ended with an error"),
        ("unknown", "may have committed, or not"),
        ("skipped", "could not start in time"),
        ("late", "ended beyond the latency limit"),
        ("retries", "further attempts after deadlocks and serialization failures"),
        ("attempts", "scheduled - skipped + retries"),
    )
]

UNANSWERED, WHY_NULL = "unanswered", "why_null"


def times(prefix: str, key: str, what: str) -> list[TidyColumn]:
    """Percentiles of the time that stands under ``key``; null where there is none."""

    def of_times(read: Callable[[Latency], Value]) -> Callable[[Any], Value]:
        def value(source: Any) -> Value:
            found = path(key)(source)
            return read(found) if isinstance(found, Latency) else None

        return value

    def time(name: str) -> Callable[[Any], Value]:
        return of_times(lambda found: samples.known_ns(found, name))

    return [
        TidyColumn(f"{prefix}_min_ns", "integer", f"least {what}", time("min")),
        TidyColumn(f"{prefix}_mean_ns", "number", f"mean {what}", time("mean")),
        *(
            TidyColumn(
                f"{prefix}_{name}_ns",
                "integer",
                f"{name.replace('_', '.')} {what}; null: too few samples, or not reached",
                time(name),
            )
            for name in BY_NAME
        ),
        TidyColumn(f"{prefix}_max_ns", "integer", f"greatest {what}", time("max")),
    ]


def unanswered(prefix: str, key: str) -> list[TidyColumn]:
    """What stands above every percentile of these times, and why some of them are null."""

    def why(source: Any) -> Value:
        found = path(key)(source)
        return samples.why_null(found) if isinstance(found, Latency) else None

    return [
        TidyColumn(
            f"{prefix}_{UNANSWERED}",
            "integer",
            "of an open loop: transactions that were due and had no answer (skipped, unknown), "
            "which are above every percentile",
            path(key, UNANSWERED),
        ),
        TidyColumn(f"{prefix}_{WHY_NULL}", "string", "why some of these times are null", why),
    ]
