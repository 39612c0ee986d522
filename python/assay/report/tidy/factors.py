"""The columns that several tidy tables share: factors, verdicts and times."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from assay.contracts.factors import (
    CLIENTS,
    MACHINE,
    OF_LEVELS,
    OF_MACHINE,
    OFFERED_RATE,
    RTT,
    VARIED_LEVELS,
    Factor,
    Part,
)
from assay.experiment.choices import server_limits
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


def _column(factor: Factor, read: Callable[[RunRecord], Any]) -> TidyColumn:
    is_nullable = factor.part in (Part.MACHINE, Part.DRIVING) and factor.default is None
    return TidyColumn(factor.column, factor.kind, factor.meaning, read, is_nullable=is_nullable)


def _of_levels(factor: Factor) -> TidyColumn:
    return _column(factor, lambda run: run.levels[factor.name])


def _of_machine(factor: Factor) -> Callable[[RunRecord], Any]:
    if factor is RTT:  # that of a storage takes its place
        return lambda run: (run.cell.get("storage") or {}).get("rtt_s") or run.server_machine.rtt_s
    return lambda run: server_limits.plain(run.server_machine, factor.name)


def _currency(run: RunRecord) -> str | None:
    """An experiment has its prices in one."""
    price = run.storage_price or run.system_price
    return price.currency if price else None


MACHINE_MEANING = "its name; without one, by its processors and memory"
SHOWN_IF_VARIED = tuple(
    factor.column
    for factor in (MACHINE, *VARIED_LEVELS.values(), OFFERED_RATE, *OF_MACHINE.values())
)
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
        "system_price", "number", "of the whole system; null: not given",
        path("system_price", "amount"),
    ),
    TidyColumn("currency", "string", "of prices; null: not given", _currency),
    TidyColumn(
        "required_rate_per_s", "number", "that a storage must keep; null: not asked for",
        attribute("required_rate_per_s"),
    ),
    *(_column(factor, _of_machine(factor)) for factor in OF_MACHINE.values()),
    _column(CLIENTS, attribute("clients")),
    *(_of_levels(factor) for name, factor in OF_LEVELS.items() if name not in VARIED_LEVELS),
    never_null(
        "arrival", "string", "closed, constant, poisson",
        lambda run: run.driving.arrival if run.driving else "closed",
    ),
    *map(_of_levels, VARIED_LEVELS.values()),
    _column(OFFERED_RATE, _offered_rate),
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
"""Of a storage (`StorageFacts`)."""
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
