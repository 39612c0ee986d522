"""The columns of the tidy table of runs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from assay.judge import machine_states
from assay.metrics.commits import efficiency
from assay.observation import AllOk, Observation
from assay.record import RunRecord
from assay.report.tidy.columns import OUTCOMES, TidyColumn, attribute, never_null, of, path
from assay.report.tidy.factors import LATENCY, STORAGE_IN_FORCE, verdict


def _kept(field: str, *names: str) -> Callable[[RunRecord], Any]:
    """A field of what the clients did, or what stands within it; None where it was not kept."""
    read = path(field, *names)
    return lambda run: read(run.driven) if run.driven and run.driven.has(field) else None


def _all_ok(run: RunRecord) -> AllOk | None:
    """Times of the transactions of all types that ended ok."""
    return run.driven.all_ok if run.driven else None


def _checks(ok: bool | None) -> Callable[[RunRecord], int]:
    return lambda run: sum(check["ok"] is ok for check in run.checks)


def _cpu_each(cpu_ns: Callable[[Observation], int | None]) -> Callable[[RunRecord], float | None]:
    """CPU time per transaction."""

    def value(run: RunRecord) -> float | None:
        if run.driven is None or not (ended := run.driven.outcomes.ended):
            return None
        total_ns = cpu_ns(run.driven)
        return None if total_ns is None else total_ns / ended

    return value


def _client_cpu_ns(driven: Observation) -> int | None:
    return driven.client_cost.cpu_ns if driven.has("client_cost") else None


def _server_cpu_ns(driven: Observation) -> int | None:
    return driven.server_cost.known_cpu_ns if driven.server_cost else None


def elapsed_ns(run: RunRecord) -> int | None:
    """Of an update, too."""
    elapsed_ns: int | None = getattr(run.observation, "elapsed_ns", None)
    return elapsed_ns


def _rows_loaded(run: RunRecord) -> int | None:
    return sum(run.data.rows.values()) or None if run.data else None


RUNS = [
    never_null("run", "integer", "its number", attribute("id")),
    never_null("cell", "string", "fingerprint", attribute("cell_fingerprint")),
    never_null("repetition", "integer", "from 1", attribute("repetition")),
    never_null("seed", "string", "of all random streams", lambda run: str(run.seed)),
    never_null("state", "string", "done, failed, refused …", attribute("state")),
    TidyColumn("reason", "string", "why it failed or was refused", attribute("reason")),
    *of(attribute("judged"), verdict("of this run alone, however many repetitions its cell has")),
    never_null(
        "warnings", "array", "their names",
        lambda run: [warning.name for warning in run.warnings],
    ),
    TidyColumn("begun_unix_ns", "integer", "null: not begun", attribute("begun_unix_ns")),
    TidyColumn("ended_unix_ns", "integer", "null: not ended", attribute("ended_unix_ns")),
    TidyColumn("system_version", "string", "its own", path("deployment", "version")),
    TidyColumn(
        "measured_rtt_s", "number", "round trip through the delay proxy; null: connected directly",
        path("deployment", "delay", "measured_rtt_s"),
    ),
    TidyColumn(
        "durability_class", "string", "D0 to D3; null: not measured",
        path("deployment", "durability", "durability_class"),
    ),
    TidyColumn(
        "throughput_per_s", "number", "transactions that ended ok per second",
        lambda run: run.driven.throughput_per_s if run.driven else None,
    ),
    TidyColumn("elapsed_ns", "integer", "measurement, to the last end", elapsed_ns),
    TidyColumn("drained_ns", "integer", "of it, waiting for the last", _kept("drained_ns")),
    *of(attribute("driven"), OUTCOMES),
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
    *(
        TidyColumn(f"log_{name}", "integer", meaning, path("driven", "log", name))
        for name, meaning in (
            ("rows", "transactions that --log wrote; null: it was not asked for"),
            ("bytes", "of them in the file, as CSV"),
            ("cpu_ns", "of the thread that wrote them, part of the client's"),
        )
    ),
    TidyColumn(
        "device_read_bytes", "integer", "by the whole device under the data",
        _kept("device_cost", "read_bytes"),
    ),
    TidyColumn(
        "device_written_bytes", "integer", "by the whole device under the data",
        _kept("device_cost", "written_bytes"),
    ),
    *(
        TidyColumn(f"device_{name}", "integer", meaning, _kept("device_cost", name))
        for name, meaning in (
            ("reads", "requests, by the whole device"),
            ("writes", "requests, by the whole device, with flushes that carry no data"),
            ("empty_writes", "of these writes, flushes that carry no data; null: not counted"),
            ("flushes", "of the device's cache; null also: it has none"),
            ("busy_ns", "with a request under way"),
            ("queue_ns", "of all requests under way, summed"),
        )
    ),
    *(
        TidyColumn(f"machine_{name}", kind, meaning, _kept("machine_cost", name))
        for name, kind, meaning in (
            ("user_ns", "integer", "all processors of the machine"),
            ("system_ns", "integer", "all processors, in the kernel"),
            ("idle_ns", "integer", "all processors"),
            ("iowait_ns", "integer", "all processors, idle with a thread waiting for a device"),
            ("steal_ns", "integer", "all processors, taken by other virtual machines"),
            ("load_1min_peak", "number", "load of one minute, at most"),
            ("cached_peak_bytes", "integer", "files in the page cache, at most"),
            ("dirty_peak_bytes", "integer", "of them not yet written, at most"),
            ("load_5min_peak", "number", "load of five minutes, at most"),
            ("load_15min_peak", "number", "load of fifteen minutes, at most"),
            ("used_peak_bytes", "integer", "memory that programs could not have, at most"),
            ("free_least_bytes", "integer", "memory that held nothing, at least"),
            ("buffers_peak_bytes", "integer", "blocks of devices in the page cache, at most"),
            ("shared_peak_bytes", "integer", "shared by processes, and files in memory, at most"),
            ("swap_used_peak_bytes", "integer", "at most"),
            ("context_switches", "integer", "of all processors"),
            ("interrupts", "integer", "of all processors"),
        )
    ),
    TidyColumn(
        "machine_states_contradicted", "string",
        "how the kernel's ticks contradict the times of the machine's processors; null: they do "
        "not, or the times are not known",
        lambda run: machine_states.contradiction(run.evidence),
    ),
    *(
        TidyColumn(f"data_{name}", "integer", meaning, _kept("data_in_memory", name))
        for name, meaning in (
            ("file_bytes", "of the data directory, at the end"),
            ("cached_bytes", "of them, in the page cache"),
        )
    ),
    TidyColumn(
        "commits", "integer", "transactions that ended ok and change data; null: not counted",
        path("driven", "commits"),
    ),
    TidyColumn(
        "commit_efficiency", "number",
        "commits per second, divided by the flushes per second of the storage's probe",
        efficiency,
    ),
    TidyColumn(
        "probe_begun_unix_ns", "integer", "of the storage's probe; null: not probed",
        path("probe", "begun_unix_ns"),
    ),
    TidyColumn("rows_loaded", "integer", "in all tables", _rows_loaded),
    *of(
        attribute("data"),
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
    never_null("checks_right", "integer", "result checks", _checks(True)),
    never_null("checks_wrong", "integer", "result checks", _checks(False)),
    never_null("checks_unknown", "integer", "no expected result", _checks(None)),
    *STORAGE_IN_FORCE,
]  # fmt: skip
