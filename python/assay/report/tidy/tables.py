"""The tables of tidy output, each by its name, in their order."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from msgspec.structs import replace

from assay.contracts.metric import Over, ReportColumn
from assay.judge import CellVerdict, machine_load
from assay.judge import verdict as required_rate
from assay.judge.statistics import samples
from assay.judge.statistics.samples import UNREACHED
from assay.judge.verdict import RateKept
from assay.record import ExperimentRecord, Run
from assay.record.metrics import catalogue
from assay.record.metrics.catalogue import METRICS, OF_TYPES
from assay.record.runs.run_names import machine_shown
from assay.report import cell_runs
from assay.report.columns import Value, behind, never_null, nullable, of, path, why_null
from assay.report.papers.published_measured import CLAIMS, SCALED
from assay.report.program_tables import (
    MACHINE_MEANING,
    STORAGE_IN_FORCE,
    ProgramTable,
    levels_of,
    verdict,
)
from assay.report.sections import goals
from assay.report.sections.derived import DERIVED
from assay.report.sections.endpoints import SERVERS, STALENESS
from assay.report.sections.goals import GOALS, CellPrecision
from assay.report.sections.groups import GROUPS, STATEMENTS, STEPS
from assay.report.sections.headline import RESPONSE_LIMITS
from assay.report.sections.outcomes import ERRORS
from assay.report.sections.probes import PROBES
from assay.report.sections.storages import STORAGES
from assay.report.tidy.parts import (
    CHECKS,
    CONTINUATIONS,
    INTERVALS,
    PASS_TIMES,
    PASSES,
    PUBLISHED,
    TRANSACTIONS,
    VALUES,
)

# The tidy tables of cells, and of their transaction types.


class CellRow(NamedTuple):
    first: Run
    judged: CellVerdict
    measured: Sequence[Run]
    """Its repetitions that were."""
    driven: Sequence[Run]
    """Those of them that drove clients."""
    precision: CellPrecision


Summary = Callable[[Sequence[Any]], Any]
_OVER: Mapping[Over, Sequence[tuple[str, str, Summary]]] = {
    Over.SPREAD: (
        ("", "median of the repetitions", statistics.median),
        ("_min", "least", min),
        ("_max", "greatest", max),
    ),
    Over.MEDIAN: (("", "median of the repetitions", statistics.median),),
    Over.LEAST: (("", "of all repetitions", min),),
    Over.GREATEST: (("", "of all repetitions", max),),
    Over.SUM: (("", "of all repetitions", sum),),
}
"""What each makes of the values: what its column is called, says and holds."""


def _over_repetitions(metric: ReportColumn) -> Iterator[ReportColumn]:
    """Null where one of them has no number."""
    is_whole = metric.kind == "integer" and metric.over is not Over.SPREAD
    unit = metric.name.removeprefix(metric.stem)

    def over(make: Summary) -> Callable[[CellRow], Value]:
        def value(cell: CellRow) -> Value:
            values = [metric.known(run) for run in cell.measured]
            if not values or None in values:
                return None
            made: float = make(values)
            return round(made) if is_whole else made

        return value

    for at, what, make in _OVER[metric.over] if metric.over else ():
        yield replace(
            metric,
            name=f"{metric.stem}{at}{unit}",
            kind="integer" if is_whole else "number",
            meaning=f"{metric.described}; {what}",
            null="",
            value=over(make),
        )


def _why_null(cell: CellRow) -> Value:
    """Of the first repetition that says so."""
    every = (samples.why_null(run.measurement.of_clients.all_ok.latency) for run in cell.driven)
    return next(filter(None, every), None)


def _cells(experiment: ExperimentRecord) -> Iterator[CellRow]:
    for runs in cell_runs.tests(experiment).values():
        for cell in cell_runs.cells(experiment, runs):
            yield CellRow(
                cell.runs[0],
                cell.judged,
                cell.measured,
                cell_runs.measured_runs(cell),
                goals.precision_of_cell(experiment, cell),
            )


class TypeRow(NamedTuple):
    """A transaction type of a cell."""

    cell: str
    machine: str
    name: str
    runs: Sequence[Run]


def types_of(cell: CellRow) -> list[TypeRow]:
    names = dict.fromkeys(one.name for run in cell.driven for one in run.measurement.transactions)
    of = (cell.first.cell_fingerprint, machine_shown(cell.first))
    return [TypeRow(*of, name, cell.driven) for name in names]


def _type_columns(metric: ReportColumn) -> list[ReportColumn]:
    """Over the repetitions; null where one of them has no number."""

    def of(which: Callable[[Sequence[float]], float]) -> Callable[[TypeRow], Value]:
        def value(row: TypeRow) -> Value:
            read = catalogue.of_type(metric, row.name).result
            found = [read(run) for run in row.runs]
            known = [one for one in found if one is not None and one != UNREACHED]
            return which(known) if known and len(known) == len(found) else None

        return value

    stem = metric.name.removesuffix(f"_{metric.unit}")
    unit = metric.name.removeprefix(stem)
    return [
        nullable(f"{stem}{at}{unit}", "number", f"{metric.meaning}; {what}", of(which))
        for at, what, which in (
            ("", "median of the repetitions", statistics.median),
            ("_min", "least", min),
            ("_max", "greatest", max),
        )
        if not (at and metric.unit == "count")
    ]


TRANSACTION_TYPES = ProgramTable(
    "One row per cell and transaction type, over the repetitions.",
    [
        never_null("cell", "string", "fingerprint", lambda row: row.cell),
        never_null("machine", "string", MACHINE_MEANING, lambda row: row.machine),
        never_null("transaction", "string", "type", lambda row: row.name),
        never_null("measured", "integer", "repetitions", lambda row: len(row.runs)),
        *(column for one in OF_TYPES for column in _type_columns(one)),
    ],
    lambda experiment: (one for cell in _cells(experiment) for one in types_of(cell)),
)


def _keeps_required_rate(cell: CellRow) -> bool | None:
    if (required_per_s := cell.first.required_rate_per_s) is None:
        return None
    runs = [(run.driving, run.measurement) for run in cell.driven]
    answer, _ = required_rate.rate_kept(runs, cell.judged.verdict, required_per_s)
    return {RateKept.YES: True, RateKept.NO: False}.get(answer)


CELLS = ProgramTable(
    "One row per cell, in the order in which they were run.",
    [
    never_null(
        "cell", "string", "fingerprint; equal cells have equal ones, on any machine",
        lambda cell: cell.first.cell_fingerprint,
    ),
    never_null("repetitions", "integer", "planned", lambda cell: cell.judged.repetitions),
    never_null("measured", "integer", "of them", lambda cell: cell.judged.measured),
    nullable(
        "precision_ratio", "number",
        "half the width of the 95 % interval of the mean, as a share of it; null: not known",
        lambda cell: cell.precision.half_width,
    ),
    nullable(
        "repetitions_ended_by", "string",
        "with a precision or a budget: why there are no more; null: their number was given",
        lambda cell: cell.precision.ended_by,
    ),
    *of(lambda cell: cell.judged.verdict, verdict("over all repetitions")),
    *behind(
        [column for metric in METRICS.values() for column in _over_repetitions(metric)],
        {
            "throughput_max_per_s": [
                nullable(
                    "duration_s", "number",
                    "of the measurement, as asked for; null: counts end it",
                    lambda cell: cell.first.driving.duration_s,
                )
            ],
            "latency_unanswered": [
                nullable(
                    "latency_why_null", "string",
                    "why some of these times are null; the first repetition of which some are",
                    _why_null,
                )
            ],
        },
    ),
    nullable(
        "keeps_required_rate", "boolean",
        "each repetition had the rate that is required of priced storages; null: none is, or not "
        "decided",
        _keeps_required_rate,
    ),
    *of(path("first"), STORAGE_IN_FORCE),
    ],
    _cells,
    levels=lambda cell: levels_of(cell.first),
    has_factors=True,
    has_parameters=True,
)  # fmt: skip


# The tidy table of runs.

_BEHIND = {
    "latency_unanswered": [
        why_null(lambda run: run.driven.of_clients.all_ok.latency if run.driven else None)
    ],
    "machine_interrupts": [
        nullable(
            "machine_states_contradicted",
            "string",
            "how the kernel's ticks contradict the times of the machine's processors; null: they "
            "do not, or the times are not known",
            lambda run: machine_load.processor_contradiction(run),
        )
    ],
    "commit_efficiency": [
        nullable(
            "probe_begun_unix_ns",
            "integer",
            "of the storage's probe; null: not probed",
            path("probe", "begun_unix_ns"),
        )
    ],
}
"""Name of a metric → columns that explain it."""
RUNS = ProgramTable(
    "One row per run.",
    [
    never_null("run", "integer", "its number", path("id")),
    never_null("cell", "string", "fingerprint", path("cell_fingerprint")),
    never_null("repetition", "integer", "from 1"),
    nullable(
        "in_place_of",
        "integer",
        "the repetition that it repeats, since other programs disturbed that one; null: none",
    ),
    never_null("seed", "string", "of all random streams", lambda run: str(run.seed)),
    never_null(
        "state", "string",
        "done, failed, refused …; exceeded: ended early, far beyond the limit of a goal search",
    ),
    nullable("reason", "string", "why it failed, was ended early or refused"),
    *of(path("judged"), verdict("of this run alone, however many repetitions its cell has")),
    never_null(
        "warnings", "array", "their names",
        lambda run: [warning.name for warning in run.warnings],
    ),
    nullable("begun_unix_ns", "integer", "null: not begun"),
    nullable("ended_unix_ns", "integer", "null: not ended"),
    nullable("system_version", "string", "its own", path("deployment", "version")),
    nullable(
        "measured_rtt_s", "number", "round trip through the delay proxy; null: connected directly",
        path("deployment", "delay", "measured_rtt_s"),
    ),
    nullable(
        "durability_class", "string", "D0 to D3; null: not measured",
        path("deployment", "durability", "durability_class"),
    ),
    *behind(METRICS.values(), _BEHIND),
    *STORAGE_IN_FORCE,
    ],
    lambda experiment: iter(experiment.runs),
    levels=levels_of,
    has_factors=True,
    has_parameters=True,
)  # fmt: skip


TABLES: Mapping[str, ProgramTable] = {
    "cells": CELLS,
    "runs": RUNS,
    "groups": GROUPS,
    "servers": SERVERS,
    "staleness": STALENESS,
    "transactions": TRANSACTIONS,
    "transaction_types": TRANSACTION_TYPES,
    "passes": PASSES,
    "pass_times": PASS_TIMES,
    "statements": STATEMENTS,
    "intervals": INTERVALS,
    "errors": ERRORS,
    "checks": CHECKS,
    "response_limits": RESPONSE_LIMITS,
    "derived": DERIVED,
    "steps": STEPS,
    "values": VALUES,
    "published": PUBLISHED,
    "claims": CLAIMS,
    "scaled": SCALED,
    "goals": GOALS,
    "storages": STORAGES,
    "storage_probes": PROBES,
    "continuations": CONTINUATIONS,
}
DETAILS = tuple(name for name, table in TABLES.items() if table.is_detail)
"""Those that ``--no-detail`` leaves out."""
