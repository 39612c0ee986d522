"""Takes an open record file; returns its experiments and runs as frozen values.

A run that has not ended is shown as interrupted if the process that began it is gone.
"""

from __future__ import annotations

import itertools
import json
import sqlite3
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from operator import attrgetter
from pathlib import Path
from typing import Any, NamedTuple

from msgspec import Struct, structs
from msgspec.structs import replace

from assay.contracts.recorded import Build, Machine
from assay.errors import ArgumentError
from assay.experiment import Experiment
from assay.experiment.settings_catalogue import DEFAULT_FILE_NAME
from assay.judge import CellVerdict, RunWarning, Verdict, judge_run, of_cell
from assay.judge.run import CalibrationRecord, CellKey, Run, RunSummary
from assay.plan.values import Cell, PlannedRun
from assay.probe.measure import Probe
from assay.provision.machine.process_table import ProcessIdentity
from assay.record.file import faults, record_file
from assay.record.runs import run_names, run_rows, run_steps, typed
from assay.record.runs.records import (
    END_STATES,
    ENDED,
    EXIT_STATUS,
    PROCESS_ENDED,
    ContinuationRecord,
    ExperimentRecord,
    parts_of_run,
)
from assay.record.runs.run_rows import RUNS
from assay.text import pattern, units
from assay.workload.workload_record import WorkloadRecord

RUNS_QUESTION = f"""
SELECT runs.id, runs.experiment_id, runs.position, workload, system_label, storage, repetition,
       in_place_of, runs.seed AS seed, cell_fingerprint, cell, state, reason, verdict,
       verdict_reason,
       coalesce(
           json_extract(experiments.experiment, '$.is_ad_hoc'),
           json_extract(experiments.experiment, '$.is_bare')  -- what earlier programs called it
       ) AS is_ad_hoc,
       runs.begun_unix_ns AS begun_unix_ns,
       runs.ended_unix_ns AS ended_unix_ns, superseded AS is_superseded,
       {EXIT_STATUS} AS exit_status,
       coalesce(own.machine, experiments.machine) AS machine,
       coalesce(own.build, experiments.build) AS build,
       coalesce(own.process_id, experiments.process_id) AS process_id,
       coalesce(own.process_started, experiments.process_started) AS process_started,
       coalesce(own.boot_id, experiments.boot_id) AS boot_id
FROM runs JOIN experiments ON experiments.id = runs.experiment_id
LEFT JOIN continuations AS own  -- in whose process it was executed
  ON own.experiment_id = runs.experiment_id AND own.position = runs.continuation
"""


Row = Mapping[str, Any]
"""Each column by its name: a text, a number or None. Documents are JSON texts."""


def rows_of(connection: sqlite3.Connection, question: str, *values: int) -> Iterator[Row]:
    """No row has a number too large for SQLite."""
    if any(value >= 2**63 for value in values):
        return
    cursor = connection.execute(question, values)
    names = [column[0] for column in cursor.description]
    for row in cursor.fetchall():
        yield dict(zip(names, row, strict=True))


_REFERENCE = pattern(r"(?i)(?:(experiment|run)[ :]?)?(\d{1,30})")

_LATEST = pattern(r"(?i)(run[ :])?latest(?:-(\d{1,9}))?")

_AT_ONCE = 256
"""Runs that are read with one question for each table; their documents are in memory twice."""

_BESIDES = "'$.only', '$.ways', '$.folder'"
SAME_COMMAND = f"json_remove(command, {_BESIDES}) = json_remove(?, {_BESIDES})"
"""Of `experiments`: which runs a process executes, how it loads and probes, and from which folder
it is started, is no part of what is asked."""
_OF_EXPERIMENT = "WHERE runs.experiment_id = ? AND superseded = 0 ORDER BY runs.position"
_OF_THE_LAST = """
WHERE runs.experiment_id IN (SELECT id FROM experiments ORDER BY id DESC LIMIT ?)
"""
_LAST_WORKLOADS = """
SELECT id, iif(json_valid(workload_facts), json_extract(workload_facts, '$.name'), '')
FROM experiments WHERE id <= ? ORDER BY id DESC
"""


def runs(
    connection: sqlite3.Connection, last: int | None = None, damage: list[ValueError] | None = None
) -> list[RunSummary]:
    """``last``: of this many experiments; None: of all. ``damage``: is given an error for each run
    that cannot be read, which is left out; None: the first one is raised."""
    chosen, values = ("", ()) if last is None else (_OF_THE_LAST, (last,))
    question = f"{RUNS_QUESTION} {chosen} ORDER BY runs.experiment_id, runs.position"
    wrong, cells, found = record_file.wrong_runs(connection), dict[str, Cell](), list[RunSummary]()
    for row in rows_of(connection, question, *values):
        try:
            if row["id"] in wrong:
                raise ValueError(f"run {row['id']}: {wrong[row['id']]}")
            found.append(_summary(row, cells))
        except ValueError as error:
            if damage is None:
                raise
            damage.append(error)
    of_each = itertools.groupby(found, key=attrgetter("experiment_id"))
    return [one for _, runs_here in of_each for one in run_names.named(list(runs_here))]


def runs_of(connection: sqlite3.Connection, experiment_id: int) -> list[RunSummary]:
    """Those of one experiment that are part of its results, in planned order, each with the names
    that it has on record."""
    return _summaries(rows_of(connection, f"{RUNS_QUESTION} {_OF_EXPERIMENT}", experiment_id))


def run(connection: sqlite3.Connection, run_id: int) -> Run:
    row = next(rows_of(connection, f"{RUNS_QUESTION} WHERE runs.id = ?", run_id), None)
    if row is None:
        raise _unknown(connection, "run", "runs", run_id)
    try:
        record_file.insist_on_runs(connection, "id", run_id)
        return next(_records(connection, row["experiment_id"], [row]))
    except faults.OF_CONTENT as error:
        name = f"run {run_id}: "
        raise ValueError(name + faults.reason(error).removeprefix(name)) from error


class KeptDocuments(NamedTuple):
    """Of a run, as JSON has them: with what this version does not know, and without what an earlier
    one did not."""

    cell: Any
    deployment: Any
    """None: there is none."""
    datasets: Mapping[int, Any]
    """By the position of the step that loaded it."""


def documents_of_run(connection: sqlite3.Connection, run_id: int) -> KeptDocuments:
    cell = record_file.value(connection, "SELECT cell FROM runs WHERE id = ?", run_id)
    deployment = connection.execute(
        "SELECT document FROM deployments WHERE run_id = ?", (run_id,)
    ).fetchone()
    datasets = connection.execute(
        "SELECT step, document FROM datasets WHERE run_id = ? ORDER BY step", (run_id,)
    )
    return KeptDocuments(
        json.loads(cell),
        None if deployment is None else json.loads(deployment[0]),
        {step: json.loads(text) for step, text in datasets},
    )


def _records(
    connection: sqlite3.Connection, experiment_id: int, rows: Iterable[Row]
) -> Iterator[Run]:
    """The whole runs of these rows of `RUNS_QUESTION`, all of that experiment."""
    calibrated = typed.calibrations_of_experiment(connection, experiment_id)
    probed = run_rows.probes_of_experiment(connection, experiment_id)
    parsed = cache(json.loads)
    machine = cache(lambda text: typed.machine(json.loads(text)))
    for some in _batches(rows):
        kept = _Kept(connection, [row["id"] for row in some])
        for row, summary in zip(some, _summaries(some), strict=True):
            facts = machine(row["machine"]), typed.build(parsed(row["build"]))
            yield _record(summary, kept, *facts, calibrated, probed)


def _batches(rows: Iterable[Row]) -> Iterator[list[Row]]:
    remaining = iter(rows)
    while some := list(itertools.islice(remaining, _AT_ONCE)):
        yield some


class _Kept:
    """All that is kept of these runs, by their numbers."""

    def __init__(self, connection: sqlite3.Connection, runs: Sequence[int]) -> None:
        def read(columns: str, table: str, order: str) -> dict[int, list[run_rows.Row]]:
            question = f"SELECT run_id, {columns} FROM {table} WHERE run_id IN {RUNS}"
            return run_rows.rows_by_run(connection, runs, f"{question} ORDER BY {order}")

        self.deployments = read("document", "deployments", "run_id")
        self.steps = run_steps.steps_of_runs(connection, runs)
        self.warnings = read("name, detail", "warnings", "position")
        self.existing_data = run_rows.existing_data_of_runs(connection, runs)
        self.stages = read("state, begun_unix_ns", "stages", "rowid")


def _record(
    run: RunSummary,
    kept: _Kept,
    machine: Machine,
    build: Build,
    calibrated: Sequence[CalibrationRecord],
    probed: Sequence[Probe],
) -> Run:
    run_id = run.id
    of_run = kept.deployments.get(run_id)
    document = None if of_run is None else json.loads(of_run[0][0])
    deployment = typed.deployment(document, f"run {run_id}: deployment")
    found = Run(
        **structs.asdict(run),
        **parts_of_run(kept.steps.get(run_id, ()), deployment, calibrated, run.ended_unix_ns),
        deployment=deployment,
        warnings=tuple(RunWarning(*values) for values in kept.warnings.get(run_id, ())),
        stages=tuple((str(state), int(at_ns)) for state, at_ns in kept.stages.get(run_id, ())),
        probe=run_rows.probe_of_run(probed, run.storage, run.ended_unix_ns),
        machine=machine,
        build=build,
        existing_data=kept.existing_data.get(run_id),
    )
    return found if _has_verdict(found) else _judged(found)


def _has_verdict(run: Run) -> bool:
    """Whether it was judged when it ended, or has no number to judge."""
    return bool(run.verdict) or run.state == "refused" or run.observation is None


def _judged(run: Run) -> Run:
    """What can be said so far of a run that has not ended, or was kept without a verdict."""
    verdict, _ = judge_run(run)
    return replace(run, verdict=verdict.word, verdict_reason=verdict.reason)


def experiment(
    connection: sqlite3.Connection, path: Path, experiment_id: int, only_run: int | None = None
) -> ExperimentRecord:
    row = next(rows_of(connection, "SELECT * FROM experiments WHERE id = ?", experiment_id), None)
    if row is None:
        raise _unknown(connection, "experiment", "experiments", experiment_id)
    if only_run is None:
        record_file.insist_on_runs(connection, "experiment_id", experiment_id)
    else:
        record_file.insist_on_runs(connection, "id", only_run)
    went_on = _continuations(connection, experiment_id)
    asked = Experiment.of_record(json.loads(row["experiment"]), f"experiment {experiment_id}")
    if only_run is None:
        rows = rows_of(connection, f"{RUNS_QUESTION} {_OF_EXPERIMENT}", experiment_id)
    else:
        rows = rows_of(connection, f"{RUNS_QUESTION} WHERE runs.id = ?", only_run)
    found = list(_records(connection, experiment_id, rows))
    # One run alone has the name that it has among all.
    named = run_names.with_machines(run_names.named(found)) if only_run is None else found
    runs = tuple(
        replace(
            one,
            storage_price=asked.prices.get(one.storage),
            system_price=asked.system_prices.get(run_names.label_without_machine(one)),
            required_rate_per_s=asked.required_rate_per_s,
        )
        if asked.prices or asked.system_prices
        else one
        for one in named
    )
    judged = cells_of_runs(runs)
    if only_run is None:
        judged.update(_kept(connection, experiment_id, tuple(judged)))
    states = [
        state
        for (state,) in connection.execute(
            "SELECT state FROM runs WHERE experiment_id = ? AND superseded = 0", (experiment_id,)
        )
    ]
    runs_ended = sum(state in ENDED for state in states)
    is_unfinished = runs_ended < len(states)
    process = went_on[-1].process if went_on else _process(row)
    return ExperimentRecord(
        **_columns(ExperimentRecord, row)
        | {
            "seed": int(row["seed"]),
            "is_under_way": row["ended_unix_ns"] is None and process.is_alive(),
            "runs_planned": len(states),
            "runs_ended": runs_ended,
            "continued_by": _continued_by(connection, path, row) if is_unfinished else "",
            "experiment": asked,
            "workload": WorkloadRecord.of_record(json.loads(row["workload_facts"])),
            "machine": typed.machine(json.loads(row["machine"])),
            "build": typed.build(json.loads(row["build"])),
            "runs": runs,
            "cells": judged,
            "path": path,
            "continuations": went_on,
            "only": json.loads(row["only"]),
        }
    )


def _continued_by(connection: sqlite3.Connection, path: Path, experiment: Row) -> str:
    """The command that continues an unfinished experiment; empty where it had no file, or was begun
    anew since."""
    command = experiment["command"]
    if command is None:
        return ""
    last_id = record_file.value(
        connection, f"SELECT max(id) FROM experiments WHERE {SAME_COMMAND}", command
    )
    if last_id != experiment["id"]:
        return ""
    from assay.experiment.origin import spelled_command

    return spelled_command(json.loads(command), path, DEFAULT_FILE_NAME)


def _continuations(
    connection: sqlite3.Connection, experiment_id: int
) -> tuple[ContinuationRecord, ...]:
    question = "SELECT * FROM continuations WHERE experiment_id = ? ORDER BY position"
    return tuple(
        ContinuationRecord(
            **_columns(ContinuationRecord, row)
            | {
                "run_state": row["run_state"] or "",
                "changes": typed.changes(json.loads(row["changes"])),
                "is_asked_otherwise": row["experiment"] is not None,
                "process": _process(row),
            }
        )
        for row in rows_of(connection, question, experiment_id)
    )


def _columns(kind: type[Struct], row: Row) -> dict[str, Any]:
    """What the row has of its fields; columns that are more than a text or number have to be read
    in their place."""
    return {name: row[name] for name in kind.__struct_fields__ if name in row}


def tables_of_runs(connection: sqlite3.Connection) -> list[str]:
    """Every table whose rows belong to a run."""
    question = (
        "SELECT m.name FROM sqlite_master AS m, pragma_table_info(m.name) AS c "
        "WHERE m.type = 'table' AND c.name = 'run_id' ORDER BY m.name"
    )
    return [str(name) for (name,) in connection.execute(question)]


def find(connection: sqlite3.Connection, path: Path, reference: str) -> ExperimentRecord:
    if (from_the_end := _LATEST.fullmatch(reference.strip())) is not None:
        is_run, before = bool(from_the_end[1]), int(from_the_end[2] or 0)
        if not is_run:
            return experiment(connection, path, _from_the_end(connection, path, before))
        number = _begun_run_from_the_end(connection, before)
        return experiment(connection, path, run(connection, number).experiment_id, only_run=number)
    parts = _REFERENCE.fullmatch(reference.strip())
    if parts is None:
        raise ArgumentError(
            f"expected an experiment or a run of the record, found {reference!r}",
            hint="latest, latest-1 (the one before it), 3 (experiment 3), run:17 or run:latest",
        )
    number = int(parts[2])
    if (parts[1] or "").lower() != "run":
        return experiment(connection, path, number)
    return experiment(connection, path, run(connection, number).experiment_id, only_run=number)


def last_two(connection: sqlite3.Connection, path: Path) -> tuple[str, int, int | None]:
    """The workload of the last experiment, this, and the one of that workload before it; None:
    there is none. No experiment is read whole."""
    found = connection.execute(_LAST_WORKLOADS, (_from_the_end(connection, path, 0),))
    last, name = next(found)
    return str(name), last, next((number for number, other in found if other == name), None)


def _from_the_end(connection: sqlite3.Connection, path: Path, before: int) -> int:
    """The number of the experiment that was begun last, or so many before it."""
    numbers = [int(one) for (one,) in connection.execute("SELECT id FROM experiments ORDER BY id")]
    if not numbers:
        raise ArgumentError(f"{path} holds no experiment yet", hint="start one with `assay run`")
    if before >= len(numbers):
        held = units.counted(len(numbers), "experiment")
        raise ArgumentError(f"there is no latest-{before}: {path} holds {held}")
    return numbers[-1 - before]


def _begun_run_from_the_end(connection: sqlite3.Connection, before: int) -> int:
    question = "SELECT id FROM runs WHERE begun_unix_ns IS NOT NULL ORDER BY begun_unix_ns, id"
    numbers = [int(one) for (one,) in connection.execute(question)]
    if not numbers:
        raise ArgumentError("no run has begun yet", hint="start one with `assay run`")
    if before >= len(numbers):
        raise ArgumentError(
            f"there is no run:latest-{before}: {units.counted(len(numbers), 'run')} began",
            hint="`assay list runs` shows the numbers",
        )
    return numbers[-1 - before]


def cells_of_runs(runs: Iterable[Run]) -> dict[CellKey, CellVerdict]:
    """What can be said of the cells of these runs."""
    of_cells: dict[CellKey, list[Run]] = {}
    for one in runs:
        of_cells.setdefault(one.cell_key, []).append(one)
    return {key: of_cell(found) for key, found in of_cells.items()}


def _kept(
    connection: sqlite3.Connection, experiment_id: int, known: Iterable[CellKey]
) -> Iterator[tuple[CellKey, CellVerdict]]:
    """Of the known cells, those that were kept when their last repetition ended. What was kept of
    one that was run on several machines is of none of them."""
    of_cells: dict[str, list[CellKey]] = {}
    for key in known:
        of_cells.setdefault(key[0], []).append(key)
    question = (
        "SELECT cell_fingerprint, verdict, verdict_reason, warnings, repetitions, measured "
        "FROM cells WHERE experiment_id = ? ORDER BY judged_unix_ns"
    )
    for fingerprint, word, reason, text, *counts in connection.execute(question, (experiment_id,)):
        warnings = tuple(RunWarning(one["name"], one["detail"]) for one in json.loads(text))
        if len(keys := of_cells.get(fingerprint, [])) == 1:
            yield keys[0], CellVerdict(Verdict.of_record(word, reason), warnings, *counts)


def settle_dead_runs(connection: sqlite3.Connection) -> None:
    """Marks runs of dead processes as interrupted in the file, for people who query it with SQL."""
    unended = f"{RUNS_QUESTION} WHERE runs.begun_unix_ns IS NOT NULL AND runs.ended_unix_ns IS NULL"
    for row in rows_of(connection, unended):
        if row["state"] not in END_STATES and not _process(row).is_alive():
            connection.execute(
                "UPDATE runs SET state = 'interrupted', reason = ?, verdict = 'invalid', "
                "verdict_reason = ? WHERE id = ?",
                (PROCESS_ENDED, PROCESS_ENDED, row["id"]),
            )
            connection.execute(
                "UPDATE steps SET state = 'interrupted', reason = ? "
                "WHERE run_id = ? AND ended_unix_ns IS NULL",
                (PROCESS_ENDED, row["id"]),
            )


def _summaries(rows: Iterable[Row]) -> list[RunSummary]:
    """The repetitions of a cell have one."""
    cells: dict[str, Cell] = {}
    return [_summary(row, cells) for row in rows]


def _summary(row: Row, cells: dict[str, Cell]) -> RunSummary:
    """``cells``: those that were read before, by their texts."""
    text = row["cell"]
    if text not in cells:
        try:
            cells[text] = Cell.of_record(json.loads(text), "cell")
        except faults.OF_CONTENT as error:
            raise ValueError(f"run {row['id']}: {faults.reason(error)}") from error
    columns = _columns(RunSummary, row) | {
        "planned": PlannedRun(
            cells[text],
            row["repetition"],
            int(row["seed"]),
            row["position"],
            in_place_of=row["in_place_of"],
        ),
        "is_ad_hoc": bool(row["is_ad_hoc"]),
        "is_superseded": bool(row["is_superseded"]),
    }
    is_unended = row["state"] not in (*END_STATES, "planned")
    return RunSummary(**columns | (_OF_DEAD if is_unended and not _process(row).is_alive() else {}))


_OF_DEAD = {
    "state": "interrupted",
    "reason": PROCESS_ENDED,
    "verdict": "invalid",
    "verdict_reason": PROCESS_ENDED,
}
"""Of a run whose process is gone."""


def _process(row: Row) -> ProcessIdentity:
    return ProcessIdentity(row["process_id"], row["process_started"], row["boot_id"])


def _unknown(connection: sqlite3.Connection, what: str, table: str, number: int) -> ArgumentError:
    (last,) = connection.execute(f"SELECT max(id) FROM {table}").fetchone()
    known = f"the last one is {what} {last}" if last else "the record is empty"
    return ArgumentError(f"there is no {what} {number} in this record", hint=known)
