"""Takes columns and how their sources are found; returns a table for programs (tidy output),
with the columns that several share; and says what a JSON Schema says of a document, by its keys."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple, TypedDict, cast

import msgspec
from msgspec import Struct
from msgspec.structs import replace

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
from assay.contracts.metric import ReportColumn
from assay.experiment.choices import server_limits
from assay.record import ExperimentRecord, Run
from assay.record.runs.run_names import machine_shown
from assay.report.columns import never_null, nullable, of, path, row
from assay.report.values import TidyRow, TidyValue, run_number
from assay.text import rates


def _offered_rate(run: Run) -> float | None:
    """On average over the measurement."""
    driving = run.driving
    if driving.offered_rate_per_s is None:
        return None
    measured_s = driving.duration_s if isinstance(driving.duration_s, int | float) else 0.0
    return rates.mean_per_s(driving.offered_rate_per_s, measured_s)


def _column(factor: Factor, read: Callable[[Run], Any]) -> ReportColumn:
    is_nullable = factor.part in (Part.MACHINE, Part.DRIVING) and factor.default is None
    return nullable(factor.column, factor.kind, factor.meaning, read, is_nullable=is_nullable)


def _of_levels(factor: Factor) -> ReportColumn:
    return _column(factor, lambda run: run.levels[factor.name])


def _of_machine(factor: Factor) -> Callable[[Run], Any]:
    if factor is RTT:  # that of a storage takes its place
        return lambda run: run.cell.storage.rtt_s or run.server_machine.rtt_s
    return lambda run: server_limits.plain(run.server_machine, factor.name)


def _currency(run: Run) -> str | None:
    """An experiment has its prices in one."""
    price = run.storage_price or run.system_price
    return price.currency if price else None


PARAMETER = "parameter_"
"""Begins the name of the column of a parameter."""
MACHINE_MEANING = "its name; without one, by its processors and memory"
SHOWN_IF_VARIED = tuple(
    factor.column
    for factor in (MACHINE, *VARIED_LEVELS.values(), OFFERED_RATE, *OF_MACHINE.values())
)
"""Columns of factors that forms with few columns have only where they differ."""
FACTORS = [
    never_null("experiment", "integer", "its number", path("experiment_id")),
    never_null("workload", "string", "its name, or its file"),
    never_null("test", "string", "of the workload, or the scripts in its place", path("test_name")),
    never_null("system", "string", "name, options and settings", path("system_label")),
    nullable("storage", "string", "null: not seen"),
    never_null("machine", "string", MACHINE_MEANING, machine_shown),
    nullable(
        "storage_price_per_gb", "number", "for 1,000,000,000 bytes; null: not given",
        path("storage_price", "per_gb"),
    ),
    nullable(
        "system_price", "number", "of the whole system; null: not given",
        path("system_price", "amount"),
    ),
    nullable("currency", "string", "of prices; null: not given", _currency),
    nullable("required_rate_per_s", "number", "that a storage must keep; null: not asked for"),
    *(_column(factor, _of_machine(factor)) for factor in OF_MACHINE.values()),
    _column(CLIENTS, path("clients")),
    *(_of_levels(factor) for name, factor in OF_LEVELS.items() if name not in VARIED_LEVELS),
    never_null("arrival", "string", "closed, constant, poisson", path("driving", "arrival")),
    *map(_of_levels, VARIED_LEVELS.values()),
    _column(OFFERED_RATE, _offered_rate),
]  # fmt: skip


class RunPart(NamedTuple):
    """The source of a row: a part of a run's record."""

    run: Run
    part: Any


RUN = never_null(
    "run", "integer", "its number", lambda source: source.run.id,
    title="run", is_label=True, show=run_number,
)  # fmt: skip


def of_part(columns: Sequence[ReportColumn]) -> list[ReportColumn]:
    """The same columns, read from the part of a `RunPart`, behind the run."""
    return [RUN, *of(path("part"), columns)]


Sources = Callable[[ExperimentRecord], Iterator[Any]]


def of_runs(sources: Callable[[Run], Iterable[Any]]) -> Sources:
    """Those of each run, in the order of the runs."""
    return lambda experiment: (one for run in experiment.runs for one in sources(run))


def parts(of_run: Callable[[Run], Iterable[Any]]) -> Sources:
    """A `RunPart` for each part of each run."""
    return of_runs(lambda run: (RunPart(run, one) for one in of_run(run)))


class ProgramTable(Struct, frozen=True):
    """A table of tidy output."""

    meaning: str
    """Of a row."""
    columns: Sequence[ReportColumn]
    sources: Sources
    """Of its rows."""
    is_detail: bool = False
    """Whether ``--no-detail`` leaves it out."""
    levels: Callable[[Any], Mapping[str, TidyValue]] = lambda _: {}
    """Of a source: what its row begins with."""
    has_factors: bool = False
    """Whether that has `FACTORS`."""
    has_parameters: bool = False
    """Whether that has a column for each parameter of the workload, named ``parameter_``."""

    @property
    def every_column(self) -> list[ReportColumn]:
        return [*(FACTORS if self.has_factors else ()), *self.columns]

    def named(self, *names: str) -> list[ReportColumn]:
        """Those columns, in that order."""
        by_name = {column.name: column for column in self.columns}
        return [by_name[name] for name in names]

    def rows(self, experiment: ExperimentRecord) -> list[TidyRow]:
        return [{**self.levels(one), **row(self.columns, one)} for one in self.sources(experiment)]


def levels_of(run: Run) -> dict[str, TidyValue]:
    """Those of its cell, with which a row begins."""
    parameters = {f"{PARAMETER}{name}": level for name, level in run.parameters.items()}
    return {**row(FACTORS, run), **parameters}


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
    nullable(
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


def verdict(judged: str) -> list[ReportColumn]:
    """``judged``: what the verdict is on."""
    return [
        nullable(
            "verdict",
            "string",
            f"valid, unreliable or invalid; null: no number; {judged}",
            lambda v: v.word,
        ),
        nullable("verdict_reason", "string", "the nearest reason first", lambda v: v.reason),
    ]


JsonSchema = TypedDict(
    "JsonSchema",
    {
        "$schema": str,
        "$ref": str,
        "$defs": "dict[str, JsonSchema]",
        "title": str,
        "description": str,
        "type": str | list[str],
        "const": int | str,
        "enum": Sequence[str | None],
        "properties": "dict[str, JsonSchema]",
        "patternProperties": "dict[str, JsonSchema]",
        "additionalProperties": "bool | JsonSchema",
        "required": list[str],
        "items": "JsonSchema",
        "minItems": int,
        "minimum": float,
        "maximum": float,
        "pattern": str,
        "anyOf": "list[JsonSchema]",
        "oneOf": "list[JsonSchema]",
        "allOf": "list[JsonSchema]",
        "not": "JsonSchema",
        "if": "JsonSchema",
        "then": "JsonSchema",
        "dependencies": dict[str, list[str]],
        "propertyNames": "JsonSchema",
    },
    total=False,
)


def document_schema(kind: type, title: str, command: str) -> JsonSchema:
    (found,), components = msgspec.json.schema_components([kind], ref_template="#/$defs/{name}")
    own = cast(JsonSchema, found)
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": title,
        "description": f"The output of `{command} --format json`. Names end in their unit; "
        "null: not known, or not measured.",
        **own,
        "$defs": components,
    }
