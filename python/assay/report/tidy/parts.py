"""The columns of the tidy tables of what a run consists of: its groups, transactions, seconds …"""

from __future__ import annotations

from typing import Any, NamedTuple

from assay.contracts.observation import Passes, PassTime, TransactionReport
from assay.experiment import Scalar
from assay.judge.check.answers import expected_rows
from assay.judge.statistics.samples import UNREACHED
from assay.record import RunRecord
from assay.record.metrics import work
from assay.record.metrics.clients import OF_SECONDS, UNANSWERED
from assay.report.tidy.columns import (
    TidyColumn,
    never_null,
    of,
    of_metric,
    of_work,
    path,
    times,
    why_null,
)


class RunPart(NamedTuple):
    """A row's source: a part of a run's record."""

    run: RunRecord
    part: Any


class PassesRow(NamedTuple):
    group: str
    passes: Passes


class PassTimeRow(NamedTuple):
    group: str
    pass_time: PassTime


class PublishedNumber(NamedTuple):
    test: str
    source: str
    conditions: str
    system: str
    clients: Scalar | None
    column: str
    value: float | str | None
    words: float | str | None
    unit: str


class TransactionRow(NamedTuple):
    group: str
    transaction: TransactionReport
    elapsed_ns: int
    """Of the group."""

    @property
    def per_s(self) -> float | None:
        return self.transaction.count / (self.elapsed_ns / 1e9) if self.elapsed_ns else None


SERVICE_TIME = times("service_time", "service_time", "service time")
_COUNT = TidyColumn("count", "integer", "samples", path("count"))


_RUN = never_null("run", "integer", "its number", lambda part: part.run.id)


def _of_part(columns: list[TidyColumn]) -> list[TidyColumn]:
    return [_RUN, *of(lambda part: part.part, columns)]


def _text(name: str, meaning: str, key: str = "") -> TidyColumn:
    return TidyColumn(name, "string", meaning, path(key or name))


def _number(name: str, meaning: str, key: str = "") -> TidyColumn:
    return TidyColumn(name, "integer", meaning, path(key or name))


def _group(meaning: str, key: str = "group") -> TidyColumn:
    return never_null("group", "string", meaning, path(key))


GROUPS = [
    *_of_part([_group("empty: the only one", "name"), _number("clients", "in it")]),
    *of_work(lambda part: work.of_all(part.part)),
    why_null(lambda part: part.part.all_ok.latency),
]  # fmt: skip

TRANSACTIONS = _of_part(
    [
        _group("of clients; empty: the only one"),
        *of(
            path("transaction"),
            [
                _text("transaction", "type", "name"),
                _text("outcome", "ok, aborted, failed, unknown"),
                _COUNT,
            ],
        ),
        TidyColumn("throughput_per_s", "number", "of these per second", path("per_s")),
        *of(
            path("transaction"),
            [
                *times("latency", "latency", "latency"),
                of_metric(UNANSWERED, path("latency", "unanswered")),
                why_null(path("latency")),
                *SERVICE_TIME,
                *times("schedule_lag", "schedule_lag", "schedule lag"),
            ],
        ),
    ]
)

PASSES = _of_part(
    [
        _group("of clients; empty: the only one"),
        *of(
            path("passes"),
            [
                _COUNT,
                *times("latency", "latency", "time of a pass of which every transaction ended ok"),
            ],
        ),
    ]
)

PASS_TIMES = _of_part(
    [
        _group("of clients; empty: the only one"),
        *of(
            path("pass_time"),
            [
                _number("client", "its number, from 0"),
                _number("end_ns", "since the start of the measurement"),
                _number("latency_ns", "of the whole pass"),
            ],
        ),
    ]
)

STATEMENTS = _of_part(
    [
        _text("transaction", "type"),
        _number("line", "of the script"),
        _text("statement", "as it is sent", "text"),
        _COUNT,
        *SERVICE_TIME,
    ]
)


def _length_s(part: RunPart) -> float:
    left_s: float = part.run.driven.elapsed_ns / 1e9 - part.part.second if part.run.driven else 1.0
    return round(min(1.0, max(0.0, left_s)), 9)


INTERVALS = [
    *_of_part([_number("second", "of the measurement, from 0")]),
    TidyColumn(
        "length_s", "number", "of the interval: the last one may be a part of a second", _length_s
    ),
    *of(lambda part: part.part, [_group("of clients; empty: the only one")]),
    *of(lambda part: part.part, [of_metric(metric, metric.value) for metric in OF_SECONDS]),
]

ERRORS = _of_part(
    [
        _text("transaction", "type"),
        _text("class", "of the error", "class_"),
        _text("code", "the system's own"),
        _text("certainty", "undone, or unknown: may have committed"),
        _number("count", "how often"),
        _number("retried", "of them, tried again"),
        _text("message", "the first one"),
    ]
)

CHECKS = _of_part(
    [
        _text("check", "its name", "id"),
        _text("title", "what it looks for"),
        TidyColumn(
            "expected",
            "integer",
            "rows; null: not known for these data, or only counted",
            expected_rows,
        ),
        _number("found", "rows"),
        TidyColumn(
            "is_right",
            "boolean",
            "null: only counted, not decided, not run, or no expected result",
            path("ok"),
        ),
        _text("note", "why it is wrong or was not run"),
    ]
)

RESPONSE_LIMITS = _of_part(
    [
        *of(
            path("limit"),
            [
                _text("transaction", "type"),
                _text("percentile", "p50, p90 …"),
                _number("limit_ns", "below which it must be"),
            ],
        ),
        TidyColumn(
            "found_ns",
            "number",
            "the percentile, transactions that were rolled back as the workload asked included; "
            "null: too few, or not reached",
            lambda judged: None if judged.found_ns == UNREACHED else judged.found_ns,
        ),
        _number("samples", "transactions that it is of"),
        _text("judgement", "met, missed, not judged (too few samples)", "word"),
    ]
)

DERIVED = [
    _text("metric", "its name in the workload", "name"),
    _text("title", "in reports"),
    TidyColumn("runs", "array", "their numbers; one: it is of a run", path("runs")),
    TidyColumn("value", "number", "null: there is none", path("value")),
    _text("why_null", "why there is none; empty: there is one", "why_none"),
]

STEPS = _of_part(
    [
        _number("position", "from 0"),
        _text("do", "kind of step"),
        _text("name", "in the workload"),
        _text("state", "running, done, failed, exceeded, interrupted, refused, skipped"),
        _text("reason", "why it failed, was ended early or refused"),
        _number("begun_unix_ns", "null: not begun"),
        _number("ended_unix_ns", "null: not ended"),
    ]
)

VALUES = _of_part(
    [
        _text("test", "of the workload"),
        _text("key", "path through the observation"),
        _text("title", "in the report"),
        _text("unit", "ns, bytes, per_s, count"),
        TidyColumn("value", "scalar", "null: none", path("value")),
    ]
)

PUBLISHED = [
    _text("test", "of the workload, or a series of them"),
    _text("source", "where it was published"),
    _text("conditions", "under which it was measured"),
    _text("system", "as published"),
    _number("clients", "null: not published"),
    _text("column", "as published"),
    TidyColumn("value", "number", "in unit; null: in words, or nothing", path("value")),
    _text("words", "what was published in place of a number; null: a number"),
    _text("unit", "as published"),
]
