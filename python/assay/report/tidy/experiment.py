"""Takes an experiment's record; returns its tidy tables: a row per cell, run, transaction type …,
and a column per factor and number, each with a stable name and a unit, numbers as measured.

A parameter of the workload is the column ``parameter_NAME``, if any run has it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

from assay.contracts.observation import GroupReport
from assay.judge.evidence import response_limits
from assay.plan.cell_names import OFFERED_RATE
from assay.record import ExperimentRecord, RunRecord
from assay.report.cells import cell_runs, factor_order
from assay.report.declared import declaration, field_path, published, series
from assay.report.sections import derived, precision
from assay.report.storage_tables import probes as storage_probes
from assay.report.tidy import cells as tidy_cells
from assay.report.tidy import claims as tidy_claims
from assay.report.tidy import factors as tidy_factors
from assay.report.tidy import goals as tidy_goals
from assay.report.tidy import parts as tidy_parts
from assay.report.tidy import probes as tidy_probes
from assay.report.tidy import runs as tidy_runs
from assay.report.tidy import servers as tidy_servers
from assay.report.tidy import storages as tidy_storages
from assay.report.tidy.cells import CellRow
from assay.report.tidy.columns import TidyColumn, Value, row
from assay.report.tidy.continuations import CONTINUATIONS
from assay.report.tidy.parts import PassesRow, PassTimeRow, RunPart, TransactionRow
from assay.report.values import MadeWhenAsked, TidyExperiment, TidyRow

Row = dict[str, Value]
Tables = MadeWhenAsked[Sequence[TidyRow]]


def facts(experiment: ExperimentRecord) -> TidyExperiment:
    """What was run, when, on what."""
    return {
        "id": experiment.id,
        "experiments": [one.id for one in experiment.each],
        "title": experiment.title,
        "reproduces": experiment.reproduces or None,
        "workload": str(experiment.workload.get("name", "")),
        "workload_fingerprint": str(experiment.workload.get("fingerprint", "")),
        "seed": str(experiment.seed),
        "begun_unix_ns": experiment.begun_unix_ns,
        "ended_unix_ns": experiment.ended_unix_ns,
        "is_under_way": experiment.is_under_way,
        "runs_planned": experiment.runs_planned,
        "runs_ended": experiment.runs_ended,
        "continued_by": experiment.continued_by or None,
        "record": str(experiment.path),
        "machine": experiment.machine,
        "machines": {run.machine_shown: run.machine for run in experiment.runs},
        "build": experiment.build,
    }


def tables(experiment: ExperimentRecord) -> Tables:
    """Each is made when a form asks for it."""
    runs = experiment.runs

    def parts(columns: Sequence[TidyColumn], of: Any) -> Callable[[], Sequence[TidyRow]]:
        return lambda: _parts(columns, runs, of)

    def rows(columns: Sequence[TidyColumn], sources: Iterable[Any]) -> list[Row]:
        return [row(columns, one) for one in sources]

    return MadeWhenAsked(
        {
            "cells": lambda: [
                _with_factors(tidy_cells.CELLS, cell.first, cell) for cell in _cells(experiment)
            ],
            "runs": lambda: [_with_factors(tidy_runs.RUNS, run, run) for run in runs],
            "groups": parts(tidy_parts.GROUPS, _groups),
            "servers": lambda: [
                row(tidy_servers.SERVERS, one) for run in runs for one in tidy_servers.servers(run)
            ],
            "staleness": lambda: [
                row(tidy_servers.STALENESS, one) for run in runs for one in tidy_servers.stale(run)
            ],
            "transactions": parts(tidy_parts.TRANSACTIONS, _transactions),
            "transaction_types": lambda: [
                row(tidy_cells.TRANSACTION_TYPES, one)
                for cell in _cells(experiment)
                for one in tidy_cells.types_of(cell)
            ],
            "passes": parts(tidy_parts.PASSES, _passes),
            "pass_times": parts(tidy_parts.PASS_TIMES, _pass_times),
            "statements": parts(tidy_parts.STATEMENTS, _all_of("per_statement")),
            "intervals": parts(tidy_parts.INTERVALS, lambda run: run.seconds),
            "errors": parts(tidy_parts.ERRORS, _all_of("errors")),
            "checks": parts(tidy_parts.CHECKS, lambda run: run.checks),
            "response_limits": parts(
                tidy_parts.RESPONSE_LIMITS,
                lambda run: response_limits.judged(run.driven) if run.driven else (),
            ),
            "derived": lambda: rows(tidy_parts.DERIVED, derived.rows(experiment)),
            "steps": parts(tidy_parts.STEPS, lambda run: run.steps),
            "values": parts(tidy_parts.VALUES, lambda run: _values(experiment, run)),
            "published": lambda: list(_published(experiment)),
            "claims": lambda: rows(tidy_claims.CLAIMS, tidy_claims.claims(experiment)),
            "scaled": lambda: rows(tidy_claims.SCALED, experiment.experiment.get("scaled", ())),
            "goals": lambda: [
                _with_factors(tidy_goals.GOALS, one.cells[0].runs[0], one) | {OFFERED_RATE: None}
                for one in tidy_goals.searches(experiment)
            ],
            "storages": lambda: tidy_storages.rows(runs),
            "storage_probes": lambda: rows(
                tidy_probes.PROBES,
                storage_probes.used_by(factor_order.in_order(experiment)),
            ),
            "continuations": lambda: rows(CONTINUATIONS, experiment.continuations),
        }
    )


def _with_factors(columns: Sequence[TidyColumn], run: RunRecord, source: Any) -> Row:
    """A row that begins with the levels of its cell."""
    parameters: Row = {f"parameter_{name}": level for name, level in run.parameters.items()}
    return {**row(tidy_factors.FACTORS, run), **parameters, **row(columns, source)}


def _parts(columns: Sequence[TidyColumn], runs: Sequence[RunRecord], of: Any) -> list[Row]:
    return [row(columns, RunPart(run, part)) for run in runs for part in of(run)]


def _all_of(key: str) -> Any:
    return lambda run: getattr(run.driven, key) if run.driven else ()


def _groups(run: RunRecord) -> tuple[GroupReport, ...]:
    return run.driven.groups if run.driven else ()


def _transactions(run: RunRecord) -> Iterator[TransactionRow]:
    """Those of each group; of a single one, those of the whole."""
    if run.driven is None:
        return
    if len(run.driven.groups) < 2:
        elapsed_ns = run.driven.elapsed_ns
        yield from (TransactionRow("", one, elapsed_ns) for one in run.driven.transactions)
    for group in run.driven.groups if len(run.driven.groups) > 1 else ():
        for one in group.transactions:
            yield TransactionRow(group.name, one, group.elapsed_ns)


def _passes(run: RunRecord) -> Iterator[PassesRow]:
    """In the same way."""
    driven = run.driven
    if driven is not None and len(driven.groups) < 2 and driven.passes is not None:
        yield PassesRow("", driven.passes)
    for group in driven.groups if driven and len(driven.groups) > 1 else ():
        if group.passes is not None:
            yield PassesRow(group.name, group.passes)


def _pass_times(run: RunRecord) -> Iterator[PassTimeRow]:
    """In the order of their ends."""
    driven = run.driven
    if driven is not None:
        has_groups = len(driven.groups) > 1
        groups = {end.client: end.group if has_groups else "" for end in driven.client_ends}
        yield from (PassTimeRow(groups[one.client], one) for one in driven.pass_times)


def _values(experiment: ExperimentRecord, run: RunRecord) -> Iterator[Any]:
    declared = declaration.of_record(experiment.workload, run.test)
    for field in declared.fields if declared and run.observation else ():
        yield {
            "test": run.test,
            "key": field.key,
            "title": field.title,
            "unit": field_path.unit(field.key),
            "value": field_path.result(run, field.key),
        }


def _published(experiment: ExperimentRecord) -> Iterator[Row]:
    tests = list(cell_runs.tests(experiment))
    declared = series.of_record(experiment.workload)
    for test in (*tests, *(each.name for each in declared)):
        found = published.of_record(experiment.workload, test)
        for printed in found.rows if found else ():
            assert found is not None
            levels = printed.factors
            values = zip(found.columns, printed.values, found.units, strict=False)
            for column, value, unit in values:
                in_words = isinstance(value, str)
                yield {
                    **{f"parameter_{key}": levels[key] for key in levels if key != "clients"},
                    **row(
                        tidy_parts.PUBLISHED,
                        tidy_parts.PublishedNumber(
                            test,
                            found.source,
                            found.conditions,
                            printed.system,
                            levels.get("clients"),
                            column,
                            None if in_words else value,
                            value if in_words else None,
                            unit,
                        ),
                    ),
                }


def _cells(experiment: ExperimentRecord) -> Iterator[CellRow]:
    for runs in cell_runs.tests(experiment).values():
        for cell in cell_runs.cells(experiment, runs):
            yield CellRow(
                cell.runs[0],
                cell.judged,
                cell.measured,
                cell_runs.measured_runs(cell),
                precision.of_cell(experiment, cell),
            )
