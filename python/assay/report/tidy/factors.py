"""The columns that several tidy tables share: factors, verdicts and times."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from assay.experiment import CACHES, CLIENT_PROGRAMS
from assay.record import RunRecord
from assay.report.tidy.columns import TidyColumn, attribute, never_null, of, path
from assay.text import rates


def _offered_rate(run: RunRecord) -> float | None:
    """On average over the measurement."""
    driving = run.driving
    if driving is None or driving.offered_rate_per_s is None:
        return None
    measured_s = driving.duration_s if isinstance(driving.duration_s, int | float) else 0.0
    return rates.mean_per_s(driving.offered_rate_per_s, measured_s)


MACHINE_MEANING = "its name; without one, by its processors and memory"
SHOWN_IF_VARIED = (
    "machine", "cache", "client_program", "offered_rate_per_s", "memory_bytes", "cpus", "rtt_s",
    "log_storage",
)  # fmt: skip
"""Columns of factors that forms with few columns have only where they differ."""
FACTORS = [
    never_null("experiment", "integer", "its number", attribute("experiment_id")),
    never_null("workload", "string", "its name, or its file", attribute("workload")),
    never_null(
        "test", "string", "of the workload, or the scripts in its place",
        attribute("test_name"),
    ),
    never_null(
        "system", "string", "name, options and settings", attribute("system_label")
    ),
    TidyColumn("storage", "string", "null: not seen", attribute("storage")),
    never_null("machine", "string", MACHINE_MEANING, attribute("machine_shown")),
    TidyColumn(
        "storage_price_per_gb", "number", "for 1,000,000,000 bytes; null: not given",
        path("storage_price", "per_gb"),
    ),
    TidyColumn(
        "currency", "string", "of the price; null: not given", path("storage_price", "currency")
    ),
    TidyColumn(
        "required_rate_per_s", "number", "that a storage must keep; null: not asked for",
        attribute("required_rate_per_s"),
    ),
    TidyColumn(
        "memory_bytes", "integer", "of the server, page cache included; null: none",
        lambda run: run.server_machine.memory_bytes,
    ),
    TidyColumn(
        "cpus", "number", "processors of the server; null: all",
        lambda run: run.server_machine.cpus,
    ),
    never_null(
        "rtt_s", "number", "round-trip time added between clients and server",
        lambda run: (run.cell.get("storage") or {}).get("rtt_s") or run.server_machine.rtt_s,
    ),
    TidyColumn(
        "log_storage", "string", "of the server's log; null: that of its data",
        path("server_machine", "log_storage", "name"),
    ),
    never_null("clients", "integer", "concurrent clients", attribute("clients")),
    never_null("protocol", "string", "simple, extended, prepared", attribute("protocol")),
    never_null(
        "threads", "integer", "of the client; 0: one per processor", attribute("threads")
    ),
    never_null(
        "arrival", "string", "closed, constant, poisson",
        lambda run: run.driving.arrival if run.driving else "closed",
    ),
    never_null("cache", "string", ", ".join(CACHES), attribute("cache")),
    never_null(
        "client_program", "string", ", ".join(CLIENT_PROGRAMS), attribute("client_program")
    ),
    TidyColumn(
        "offered_rate_per_s", "number", "of all clients; null: closed loop",
        _offered_rate,
    ),
]  # fmt: skip

IN_FORCE = [
    never_null(
        "in_force", "array", "limits and parameters of a model, in effect: name=value",
        lambda storage: _name_values(storage.in_force) if storage else [],
    ),
    never_null(
        "profile_values", "array",
        "of the parameters that differ from the model's profile, the profile's: name=value",
        lambda storage: _name_values(storage.profile_values) if storage else [],
    ),
    TidyColumn(
        "limits_write_back", "boolean",
        "limits of writes hold for what the kernel writes back; null: there are none",
        lambda storage: storage.limits_write_back if storage and storage.limits else None,
    ),
]  # fmt: skip
"""Of a storage (`RecordedStorage`)."""
STORAGE_IN_FORCE = [
    replace(column, name=f"storage_{column.name}")
    for column in of(path("deployment", "storage"), IN_FORCE)
]
"""The same of the storage of a run."""


def _name_values(named: Mapping[str, str]) -> list[str]:
    return [f"{name}={value}" for name, value in named.items()]


def verdict(judged: str) -> list[TidyColumn]:
    """``judged``: what the verdict is on."""
    return [
        TidyColumn(
            "verdict",
            "string",
            f"valid, indicative or invalid; null: no number; {judged}",
            lambda v: v.word,
        ),
        TidyColumn("verdict_reason", "string", "the nearest reason first", lambda v: v.reason),
    ]
