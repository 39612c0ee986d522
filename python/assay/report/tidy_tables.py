"""The tables of tidy output, column by column."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from assay.judge import CellVerdict
from assay.judge.samples import samples_needed
from assay.judge.spread import Spread
from assay.observation import AllOk, Observation, TransactionReport
from assay.record import RunRecord
from assay.report import costs
from assay.report.cell_runs import DrivenRun
from assay.report.tidy_columns import OUTCOMES, TidyColumn, Value, of, path
from assay.report.tidy_columns import times as time_columns


class Part(NamedTuple):
    """A row's source: a part of a run's record."""

    run: RunRecord
    part: Any


class TransactionRow(NamedTuple):
    group: str
    transaction: TransactionReport


class CellRow(NamedTuple):
    first: RunRecord
    judged: CellVerdict
    throughput: Spread | None
    elapsed: Spread | None
    middle: DrivenRun | None
    """The repetition with the median throughput."""


def _attribute(name: str) -> Callable[[Any], Any]:
    return lambda source: getattr(source, name)


def _kept(field: str, *names: str) -> Callable[[RunRecord], Any]:
    """A field of what the clients did, or what stands within it; None where it was not kept."""
    read = path(field, *names)
    return lambda run: read(run.driven) if run.driven and run.driven.has(field) else None


def _enough(share: float, count: int) -> bool:
    return count >= samples_needed(share)


def _all_ok(run: RunRecord) -> AllOk | None:
    """Times of the transactions of all types that ended ok."""
    return run.driven.all_ok if run.driven else None


def _checks(ok: bool | None) -> Callable[[RunRecord], int]:
    return lambda run: sum(check["ok"] is ok for check in run.checks)


def _cpu_each(cpu_ns: Callable[[Observation], int | None]) -> Callable[[RunRecord], float | None]:
    """CPU time per transaction."""

    def value(run: RunRecord) -> float | None:
        if run.driven is None or not (ended := costs.ended(run.driven)):
            return None
        total_ns = cpu_ns(run.driven)
        return None if total_ns is None else total_ns / ended

    return value


def _client_cpu_ns(driven: Observation) -> int | None:
    return driven.client_cost.cpu_ns if driven.has("client_cost") else None


def _server_cpu_ns(driven: Observation) -> int | None:
    return driven.server_cost.cpu_ns if driven.server_cost else None


def elapsed_ns(run: RunRecord) -> int | None:
    """Of an update, too."""
    elapsed_ns: int | None = getattr(run.observation, "elapsed_ns", None)
    return elapsed_ns


def _rows_loaded(run: RunRecord) -> int | None:
    return sum(run.data.rows.values()) or None if run.data else None


LATENCY = time_columns("latency", "latency", "latency", _enough)
SERVICE_TIME = time_columns("service_time", "service_time", "service time", _enough)
SCHEDULE_LAG = time_columns("schedule_lag", "schedule_lag", "schedule lag", _enough)
_COUNT = TidyColumn("count", "integer", "samples", path("count"))

FACTORS = [
    TidyColumn("experiment", "integer", "its number", _attribute("experiment_id"), False),
    TidyColumn("workload", "string", "its name, or its file", _attribute("workload"), False),
    TidyColumn("test", "string", "of the workload", _attribute("test"), False),
    TidyColumn(
        "system", "string", "name, options and settings", _attribute("system_label"), False
    ),
    TidyColumn("storage", "string", "empty: not seen", _attribute("storage"), False),
    TidyColumn("clients", "integer", "concurrent clients", _attribute("clients"), False),
    TidyColumn("protocol", "string", "simple, extended, prepared", _attribute("protocol"), False),
    TidyColumn(
        "threads", "integer", "of the client; 0: one per processor", _attribute("threads"), False
    ),
    TidyColumn(
        "arrival", "string", "closed, constant, poisson",
        lambda run: run.driving.arrival if run.driving else "closed", False,
    ),
    TidyColumn(
        "offered_rate_per_s", "number", "of all clients; null: closed loop",
        lambda run: run.driving.offered_rate_per_s if run.driving else None,
    ),
]  # fmt: skip

_VERDICT = [
    TidyColumn(
        "verdict", "string", "valid, indicative or invalid; empty: no number", lambda v: v[0]
    ),
    TidyColumn("verdict_reason", "string", "the nearest reason first", lambda v: v[1]),
]


def _spread_columns(name: str, unit: str, kind: str, meaning: str, at: str) -> list[TidyColumn]:
    def value(which: str) -> Callable[[CellRow], Value]:
        def read(cell: CellRow) -> Value:
            over: Spread | None = getattr(cell, at)
            return None if over is None else getattr(over, which)

        return read

    return [
        TidyColumn(f"{name}{unit}", kind, f"{meaning}; median of the repetitions", value("median")),
        TidyColumn(f"{name}_min{unit}", kind, f"{meaning}; least", value("low")),
        TidyColumn(f"{name}_max{unit}", kind, f"{meaning}; greatest", value("high")),
    ]


CELLS = [
    TidyColumn(
        "cell", "string", "fingerprint; equal cells have equal ones",
        lambda cell: cell.first.cell_fingerprint, False,
    ),
    TidyColumn("repetitions", "integer", "planned", lambda cell: cell.judged.repetitions, False),
    TidyColumn("measured", "integer", "of them", lambda cell: cell.judged.measured, False),
    *of(lambda cell: cell.judged.verdict, _VERDICT),
    *_spread_columns(
        "throughput", "_per_s", "number", "transactions that ended ok per second", "throughput"
    ),
    *_spread_columns("elapsed", "_ns", "number", "measurement, to the last end", "elapsed"),
    *of(lambda cell: cell.middle.driven.all_ok if cell.middle else None, LATENCY),
]  # fmt: skip

RUNS = [
    TidyColumn("run", "integer", "its number", _attribute("id"), False),
    TidyColumn("cell", "string", "fingerprint", _attribute("cell_fingerprint"), False),
    TidyColumn("repetition", "integer", "from 1", _attribute("repetition"), False),
    TidyColumn("seed", "string", "of all random streams", lambda run: str(run.seed), False),
    TidyColumn("state", "string", "done, failed, refused …", _attribute("state"), False),
    TidyColumn("reason", "string", "why it failed or was refused", _attribute("reason"), False),
    *of(_attribute("judged"), _VERDICT),
    TidyColumn(
        "warnings", "array", "their names",
        lambda run: [warning.name for warning in run.warnings], False,
    ),
    TidyColumn("begun_unix_ns", "integer", "null: not begun", _attribute("begun_unix_ns")),
    TidyColumn("ended_unix_ns", "integer", "null: not ended", _attribute("ended_unix_ns")),
    TidyColumn("system_version", "string", "its own", path("deployment", "version")),
    TidyColumn(
        "throughput_per_s", "number", "transactions that ended ok per second",
        lambda run: run.driven.throughput_per_s if run.driven else None,
    ),
    TidyColumn("elapsed_ns", "integer", "measurement, to the last end", elapsed_ns),
    TidyColumn("drained_ns", "integer", "of it, waiting for the last", _kept("drained_ns")),
    *of(_attribute("driven"), OUTCOMES),
    TidyColumn("statements", "integer", "sent in the measurement", _kept("statements")),
    TidyColumn("reconnects", "integer", "of all clients", _kept("reconnects")),
    *of(_all_ok, LATENCY),
    TidyColumn("client_cpu_per_transaction_ns", "number", "CPU time of the client",
        _cpu_each(_client_cpu_ns),
    ),
    TidyColumn(
        "server_cpu_per_transaction_ns", "number",
        "CPU time of the server; null: not seen, or embedded in the client",
        _cpu_each(_server_cpu_ns),
    ),
    TidyColumn(
        "waited_for_processor_ns", "integer", "client threads, ready to run; summed",
        _kept("client_cost", "waited_for_processor_ns"),
    ),
    TidyColumn(
        "client_memory_bytes", "integer", "resident, at most",
        _kept("client_cost", "resident_peak_bytes"),
    ),
    TidyColumn(
        "server_memory_bytes", "integer", "resident, at most",
        _kept("server_cost", "resident_peak_bytes"),
    ),
    TidyColumn(
        "device_read_bytes", "integer", "by the whole device under the data",
        _kept("device_cost", "read_bytes"),
    ),
    TidyColumn(
        "device_written_bytes", "integer", "by the whole device under the data",
        _kept("device_cost", "written_bytes"),
    ),
    TidyColumn("rows_loaded", "integer", "in all tables", _rows_loaded),
    *of(
        _attribute("data"),
        [
            TidyColumn(name, "integer", meaning, path(name))
            for name, meaning in (
                ("size_on_disk_bytes", "after the load"),
                ("load_ns", "rows sent in one transaction"),
                ("index_ns", "indexes and keys"),
                ("analyze_ns", "statistics"),
            )
        ],
    ),
    TidyColumn("checks_right", "integer", "result checks", _checks(True), False),
    TidyColumn("checks_wrong", "integer", "result checks", _checks(False), False),
    TidyColumn("checks_unknown", "integer", "no expected result", _checks(None), False),
]  # fmt: skip

_RUN = TidyColumn("run", "integer", "its number", lambda part: part.run.id, False)


def _of_part(columns: list[TidyColumn]) -> list[TidyColumn]:
    return [_RUN, *of(lambda part: part.part, columns)]


def _text(name: str, meaning: str, key: str = "") -> TidyColumn:
    return TidyColumn(name, "string", meaning, path(key or name))


def _number(name: str, meaning: str, key: str = "") -> TidyColumn:
    return TidyColumn(name, "integer", meaning, path(key or name))


GROUPS = [
    *_of_part([_text("group", "empty: the only one", "name"), _number("clients", "in it")]),
    TidyColumn(
        "throughput_per_s", "number", "transactions that ended ok per second",
        lambda part: part.part.throughput_per_s if part.run.driven.elapsed_ns else None,
    ),
    *of(lambda part: part.part, OUTCOMES),
    *of(lambda part: part.part.all_ok, LATENCY),
]  # fmt: skip

TRANSACTIONS = _of_part(
    [
        _text("group", "of clients; empty: the only one"),
        *of(
            path("transaction"),
            [
                _text("transaction", "type", "name"),
                _text("outcome", "ok, aborted, failed, unknown"),
                _COUNT,
                *LATENCY,
                *SERVICE_TIME,
                *SCHEDULE_LAG,
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

INTERVALS = [
    *_of_part([_number("second", "of the measurement, from 0")]),
    TidyColumn("group", "string", "of clients", lambda part: part.part.group, False),
    *of(
        lambda part: part.part,
        [
            *(
                _number(name, meaning)
                for name, meaning in (
                    ("ok", "transactions that ended ok"),
                    ("aborted", "rolled back as asked"),
                    ("failed", "ended with an error"),
                    ("unknown", "may have committed, or not"),
                    ("late", "beyond the latency limit"),
                    ("skipped", "could not start in time"),
                    ("retries", "further attempts"),
                    ("clients_connected", "at its end"),
                )
            ),
            _number("latency_p50_ns", "of transactions that ended ok", "p50_ns"),
            _number("latency_p99_ns", "of transactions that ended ok", "p99_ns"),
            _number("latency_max_ns", "of transactions that ended ok", "max_ns"),
            _number("schedule_lag_p99_ns", "null: closed loop"),
            _number("stalled_ns", "of it, the system was stalled"),
            _number("suspended_ns", "of it, the client did not run"),
        ],
    ),
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
        _number("expected", "rows; null: not known for these data"),
        _number("found", "rows"),
        TidyColumn("is_right", "boolean", "null: no expected result", path("ok")),
        _text("note", "why it is wrong"),
    ]
)

STEPS = _of_part(
    [
        _number("position", "from 0"),
        _text("do", "kind of step"),
        _text("name", "in the workload"),
        _text("state", "running, done, failed, interrupted, refused, skipped"),
        _text("reason", "why it failed or was refused"),
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
    TidyColumn("value", "number", "in unit", path("value")),
    _text("unit", "as published"),
]

TABLES: Mapping[str, tuple[str, list[TidyColumn]]] = {
    "cells": ("One row per cell, in the order in which they were run.", [*FACTORS, *CELLS]),
    "runs": ("One row per run.", [*FACTORS, *RUNS]),
    "groups": ("One row per run and group of clients.", GROUPS),
    "transactions": ("One row per run, group, transaction type and outcome.", TRANSACTIONS),
    "statements": ("One row per statement, of runs that timed them.", STATEMENTS),
    "intervals": ("One row per run, second and group.", INTERVALS),
    "errors": ("One row per run and kind of error.", ERRORS),
    "checks": ("One row per run and result check.", CHECKS),
    "steps": ("One row per step of a run.", STEPS),
    "values": ("One row per run and field that the workload's report declares.", VALUES),
    "published": ("One row per number that was published of this test.", PUBLISHED),
}
HAVE_PARAMETERS = ("cells", "runs", "published")
"""Tables that also have a column per parameter of the workload."""
