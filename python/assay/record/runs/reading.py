"""Takes an open record file; returns its experiments and runs as frozen values.

A run that has not ended is shown as interrupted if the process that began it is gone.
"""

from __future__ import annotations

import itertools
import json
import re
import sqlite3
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import NamedTuple, Protocol, TypeVar

from msgspec import structs
from msgspec.structs import replace

from assay.contracts.factors import OF_LEVELS, Factor, Scalar
from assay.contracts.observation import Interval
from assay.contracts.recorded import Build, CellDocument, ExperimentDocument, Machine
from assay.errors import ArgumentError
from assay.experiment import StoragePrice, SystemPrice
from assay.experiment.settings.catalogue import DEFAULT_FILE_NAME
from assay.judge import CellVerdict, RunWarning, Verdict, judge_run, of_cell
from assay.probe import Probe
from assay.provision.machine.identity import ProcessIdentity
from assay.record.file import column_types, rows_of_runs
from assay.record.file.rows_of_runs import RUNS
from assay.record.runs import calibrations, existing_tables, probes, run_names, run_steps, typed
from assay.record.runs.records import (
    END_STATES,
    PROCESS_ENDED,
    CalibrationRecord,
    CellKey,
    ContinuationRecord,
    ExperimentRecord,
    RunRecord,
    RunSummary,
    StepRecord,
)
from assay.record.runs.run_ends import ENDED, EXIT_STATUS
from assay.record.runs.step_of_numbers import step_of_numbers
from assay.text import units

# Takes a question to an open record file; gives the rows of runs, experiments and continuations,
# each column by its name and with its type. Documents are JSON texts.

T = TypeVar("T")


def _level(factor: Factor) -> str:
    """Its name and its level in SQL. What each cell has always said has a column; an earlier Assay
    kept nothing of what it did not know, where each cell was at the default."""
    if factor.default is None:
        return f"'{factor.name}', {factor.name}"
    default = _quoted(factor.default)
    return f"'{factor.name}', coalesce(json_extract(cell, '$.{factor.name}'), {default})"


def _quoted(value: Scalar) -> str:
    """As SQL has it."""
    text = str(value).replace("'", "''")
    return f"'{text}'" if isinstance(value, str) else text


_LEVELS = ", ".join(map(_level, OF_LEVELS.values()))
RUNS_QUESTION = f"""
SELECT runs.id, runs.experiment_id, runs.position, workload, test, system, system_label, storage,
       clients, parameters, repetition, in_place_of, runs.seed AS seed, cell_fingerprint,
       cell,
       state, reason, verdict, verdict_reason, json_extract(cell, '$.driving') AS driving,
       json_extract(cell, '$.group_clients') AS group_clients,
       json_extract(cell, '$.scripts') AS scripts_given,
       json_object({_LEVELS}) AS levels,
       json_extract(cell, '$.system.machine') AS server_machine,
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


class RunRow(NamedTuple):
    """What `RUNS_QUESTION` asks for."""

    id: int
    experiment_id: int
    position: int
    workload: str
    test: str
    system: str
    system_label: str
    storage: str
    clients: int
    parameters: str
    repetition: int
    in_place_of: int | None
    seed: str
    cell_fingerprint: str
    cell: str
    state: str
    reason: str
    verdict: str
    verdict_reason: str
    driving: str | None
    group_clients: str | None
    scripts_given: str | None
    levels: str
    server_machine: str | None
    is_ad_hoc: int | None
    begun_unix_ns: int | None
    ended_unix_ns: int | None
    is_superseded: int
    exit_status: int
    machine: str
    build: str
    process_id: int
    process_started: int
    boot_id: str


class ExperimentRow(NamedTuple):
    """A row of ``experiments``."""

    id: int
    title: str
    reproduces: str
    seed: str
    begun_unix_ns: int
    ended_unix_ns: int | None
    experiment: str
    workload_facts: str
    machine: str
    build: str
    command: str | None
    only: str
    process_id: int
    process_started: int
    boot_id: str


class ContinuationRow(NamedTuple):
    """A row of ``continuations``."""

    position: int
    begun_unix_ns: int
    ended_process_id: int
    ended_unix_ns: int | None
    last_unix_ns: int
    run_position: int | None
    run_state: str | None
    changes: str
    experiment: str | None
    process_id: int
    process_started: int
    boot_id: str


class NamesProcess(Protocol):
    """A row that names the process that began something."""

    @property
    def process_id(self) -> int: ...
    @property
    def process_started(self) -> int: ...
    @property
    def boot_id(self) -> str: ...


def rows_of(
    connection: sqlite3.Connection, kind: Callable[..., T], question: str, *values: int
) -> Iterator[T]:
    """Rows of this kind, by column name. No row has a number too large for SQLite."""
    if any(value >= 2**63 for value in values):
        return
    cursor = connection.execute(question, values)
    names = [column[0] for column in cursor.description]
    for row in cursor.fetchall():
        yield kind(**dict(zip(names, row, strict=True)))


_REFERENCE = re.compile(r"(?:(experiment|run)[ :]?)?(\d{1,30})", re.IGNORECASE)

_LATEST = re.compile(r"latest(?:-(\d{1,9}))?", re.IGNORECASE)

_AT_ONCE = 256
"""Runs that are read with one question for each table; their documents are in memory twice."""

_BESIDES = "'$.only', '$.ways', '$.folder'"
SAME_COMMAND = f"json_remove(command, {_BESIDES}) = json_remove(?, {_BESIDES})"
"""Of `experiments`: which runs a process executes, how it loads and probes, and from which folder
it is started, is no part of what is asked."""
_OF_THE_LAST = """
WHERE runs.experiment_id IN (SELECT id FROM experiments ORDER BY id DESC LIMIT ?)
"""


def runs(connection: sqlite3.Connection, last: int | None = None) -> list[RunSummary]:
    """``last``: of this many experiments; None: of all."""
    chosen, values = ("", ()) if last is None else (_OF_THE_LAST, (last,))
    question = f"{RUNS_QUESTION} {chosen} ORDER BY runs.experiment_id, runs.position"
    rows = list(rows_of(connection, RunRow, question, *values))
    cells = [_cell(row) for row in rows]
    return run_names.named([_summary(row) for row in rows], cells)


def run(connection: sqlite3.Connection, run_id: int) -> RunRecord:
    row = next(rows_of(connection, RunRow, f"{RUNS_QUESTION} WHERE runs.id = ?", run_id), None)
    if row is None:
        raise _unknown(connection, "run", "runs", run_id)
    column_types.insist_on_runs(connection, "id", run_id)
    return next(_records(connection, row.experiment_id, [row]))


def _records(
    connection: sqlite3.Connection, experiment_id: int, rows: Iterable[RunRow]
) -> Iterator[RunRecord]:
    """The whole runs of these rows of `RUNS_QUESTION`, all of that experiment."""
    calibrated = calibrations.of_experiment(connection, experiment_id)
    probed = probes.of_experiment(connection, experiment_id)
    parsed = cache(json.loads)
    for some in _batches(rows):
        kept = _Kept(connection, [row.id for row in some])
        for row in some:
            facts = parsed(row.machine), typed.build(parsed(row.build))
            yield _record(row, kept, *facts, calibrated, probed)


def _batches(rows: Iterable[RunRow]) -> Iterator[list[RunRow]]:
    remaining = iter(rows)
    while some := list(itertools.islice(remaining, _AT_ONCE)):
        yield some


class _Kept:
    """All that is kept of these runs, by their numbers."""

    def __init__(self, connection: sqlite3.Connection, runs: Sequence[int]) -> None:
        def read(columns: str, table: str, order: str) -> dict[int, list[rows_of_runs.Row]]:
            question = f"SELECT run_id, {columns} FROM {table} WHERE run_id IN {RUNS}"
            return rows_of_runs.by_run(connection, runs, f"{question} ORDER BY {order}")

        self.deployments = read("document", "deployments", "run_id")
        self.steps = run_steps.of_runs(connection, runs)
        self.warnings = read("name, detail", "warnings", "position")
        self.existing_data = existing_tables.of_runs(connection, runs)
        self.stages = read("state, begun_unix_ns", "stages", "rowid")


def _record(
    row: RunRow,
    kept: _Kept,
    machine: Machine,
    build: Build,
    calibrated: Sequence[CalibrationRecord],
    probed: Sequence[Probe],
) -> RunRecord:
    run_id = row.id
    of_run = kept.deployments.get(run_id)
    deployment = None if of_run is None else json.loads(of_run[0][0])
    steps = kept.steps.get(run_id, ())
    measured = step_of_numbers(steps)
    observation = measured.observation if measured else None
    dataset = next((one.dataset for one in reversed(steps) if one.dataset is not None), None)
    ended_unix_ns = row.ended_unix_ns
    facts = typed.run_facts(deployment, dataset, machine, f"run {run_id}")
    found = RunRecord(
        **structs.asdict(_summary(row)),
        deployment_document=deployment,
        dataset=dataset,
        drive=measured.drive if measured else None,
        observation=observation,
        checks=tuple(check for step in steps for check in step.checks),
        scripts=measured.scripts if measured else (),
        samples=measured.samples if measured else (),
        open_files=measured.open_files if measured else (),
        storage_requests=measured.storage_requests if measured else (),
        steps=steps,
        seconds=_seconds(measured),
        warnings=tuple(RunWarning(*values) for values in kept.warnings.get(run_id, ())),
        stages=tuple((str(state), int(at_ns)) for state, at_ns in kept.stages.get(run_id, ())),
        calibration=calibrations.nearest_to(
            calibrated, facts.deployment, observation, ended_unix_ns
        ),
        probe=probes.of_run(probed, row.storage, ended_unix_ns),
        machine=machine,
        build=build,
        cell=_cell(row),
        existing_data=kept.existing_data.get(run_id),
        facts=facts,
    )
    return found if _has_verdict(found) else _judged(found)


def _seconds(step: StepRecord | None) -> tuple[Interval, ...]:
    if step is None:
        return ()
    return step.seconds if step.driven is None else step.driven.intervals


def _cell(row: RunRow) -> CellDocument:
    return typed.cell(json.loads(row.cell), f"run {row.id}")


def _has_verdict(run: RunRecord) -> bool:
    """Whether it was judged when it ended, or has no number to judge."""
    return bool(run.verdict) or run.state == "refused" or run.observation is None


def _judged(run: RunRecord) -> RunRecord:
    """What can be said so far of a run that has not ended, or was kept without a verdict."""
    verdict, _ = judge_run(run.evidence)
    return replace(run, verdict=verdict.word, verdict_reason=verdict.reason)


def experiment(
    connection: sqlite3.Connection, path: Path, experiment_id: int, only_run: int | None = None
) -> ExperimentRecord:
    question = f"SELECT {', '.join(ExperimentRow._fields)} FROM experiments WHERE id = ?"
    row = next(rows_of(connection, ExperimentRow, question, experiment_id), None)
    if row is None:
        raise _unknown(connection, "experiment", "experiments", experiment_id)
    if only_run is None:
        column_types.insist_on_runs(connection, "experiment_id", experiment_id)
    else:
        column_types.insist_on_runs(connection, "id", only_run)
    went_on = _continuations(connection, experiment_id)
    asked: ExperimentDocument = json.loads(row.experiment)
    prices = {
        name: StoragePrice(float(one["per_gb"]), str(one["currency"]))
        for name, one in asked.get("prices", {}).items()
    }
    system_prices = {
        label: SystemPrice(float(one["amount"]), str(one["currency"]))
        for label, one in asked.get("system_prices", {}).items()
    }
    if only_run is None:
        of_experiment = "WHERE runs.experiment_id = ? AND superseded = 0 ORDER BY runs.position"
        rows = rows_of(connection, RunRow, f"{RUNS_QUESTION} {of_experiment}", experiment_id)
    else:
        rows = rows_of(connection, RunRow, f"{RUNS_QUESTION} WHERE runs.id = ?", only_run)
    found = list(_records(connection, experiment_id, rows))
    # One run alone has the name that it has among all.
    named = run_names.with_machines(run_names.of_records(found)) if only_run is None else found
    required = asked.get("required_rate_per_s")
    runs = tuple(
        replace(
            one,
            storage_price=prices.get(one.storage),
            system_price=system_prices.get(run_names.label_without_machine(one)),
            required_rate_per_s=required,
        )
        if prices or system_prices
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
    return ExperimentRecord(
        id=experiment_id,
        title=row.title,
        reproduces=row.reproduces,
        seed=int(row.seed),
        begun_unix_ns=row.begun_unix_ns,
        ended_unix_ns=row.ended_unix_ns,
        is_under_way=row.ended_unix_ns is None
        and (went_on[-1].process if went_on else _process(row)).is_alive(),
        runs_planned=len(states),
        runs_ended=runs_ended,
        continued_by=_continued_by(connection, path, row) if is_unfinished else "",
        experiment=asked,
        workload=typed.workload(json.loads(row.workload_facts)),
        machine=json.loads(row.machine),
        build=typed.build(json.loads(row.build)),
        runs=runs,
        cells=judged,
        path=path,
        continuations=went_on,
        only=json.loads(row.only),
    )


def _continued_by(connection: sqlite3.Connection, path: Path, experiment: ExperimentRow) -> str:
    """The command that continues an unfinished experiment; empty where it had no file, or was begun
    anew since."""
    if experiment.command is None:
        return ""
    (last_id,) = connection.execute(
        f"SELECT max(id) FROM experiments WHERE {SAME_COMMAND}", (experiment.command,)
    ).fetchone()
    if last_id != experiment.id:
        return ""
    from assay.experiment.command import spelled

    return spelled(json.loads(experiment.command), path, DEFAULT_FILE_NAME)


def _continuations(
    connection: sqlite3.Connection, experiment_id: int
) -> tuple[ContinuationRecord, ...]:
    columns = ", ".join(ContinuationRow._fields)
    question = f"SELECT {columns} FROM continuations WHERE experiment_id = ? ORDER BY position"
    return tuple(
        ContinuationRecord(
            position=row.position,
            begun_unix_ns=row.begun_unix_ns,
            ended_process_id=row.ended_process_id,
            last_unix_ns=row.last_unix_ns,
            run_position=row.run_position,
            run_state=row.run_state or "",
            changes=typed.changes(json.loads(row.changes)),
            is_asked_otherwise=row.experiment is not None,
            process=_process(row),
            ended_unix_ns=row.ended_unix_ns,
        )
        for row in rows_of(connection, ContinuationRow, question, experiment_id)
    )


def tables_of_runs(connection: sqlite3.Connection) -> list[str]:
    """Every table whose rows belong to a run."""
    question = (
        "SELECT m.name FROM sqlite_master AS m, pragma_table_info(m.name) AS c "
        "WHERE m.type = 'table' AND c.name = 'run_id' ORDER BY m.name"
    )
    return [str(name) for (name,) in connection.execute(question)]


def find(connection: sqlite3.Connection, path: Path, reference: str) -> ExperimentRecord:
    if (from_the_end := _LATEST.fullmatch(reference.strip())) is not None:
        number = _from_the_end(connection, path, int(from_the_end[1] or 0))
        return experiment(connection, path, number)
    parts = _REFERENCE.fullmatch(reference.strip())
    if parts is None:
        raise ArgumentError(
            f"expected an experiment or a run of the record, found {reference!r}",
            hint="latest, latest-1 (the one before it), 3 (experiment 3) or run:17",
        )
    number = int(parts[2])
    if (parts[1] or "").lower() != "run":
        return experiment(connection, path, number)
    return experiment(connection, path, run(connection, number).experiment_id, only_run=number)


def _from_the_end(connection: sqlite3.Connection, path: Path, before: int) -> int:
    """The number of the experiment that was begun last, or so many before it."""
    numbers = [int(one) for (one,) in connection.execute("SELECT id FROM experiments ORDER BY id")]
    if not numbers:
        raise ArgumentError(f"{path} holds no experiment yet", hint="start one with `assay run`")
    if before >= len(numbers):
        held = units.counted(len(numbers), "experiment")
        raise ArgumentError(f"there is no latest-{before}: {path} holds {held}")
    return numbers[-1 - before]


def cells_of_runs(runs: Iterable[RunRecord]) -> dict[CellKey, CellVerdict]:
    """What can be said of the cells of these runs."""
    of_cells: dict[CellKey, list[RunRecord]] = {}
    for one in runs:
        of_cells.setdefault(one.cell_key, []).append(one)
    return {
        key: of_cell([(one.evidence, one.judged) for one in found])
        for key, found in of_cells.items()
    }


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
    for row in rows_of(connection, RunRow, unended):
        if row.state not in END_STATES and _summary(row).state == "interrupted":
            connection.execute(
                "UPDATE runs SET state = 'interrupted', reason = ?, verdict = 'invalid', "
                "verdict_reason = ? WHERE id = ?",
                (PROCESS_ENDED, PROCESS_ENDED, row.id),
            )
            connection.execute(
                "UPDATE steps SET state = 'interrupted', reason = ? "
                "WHERE run_id = ? AND ended_unix_ns IS NULL",
                (PROCESS_ENDED, row.id),
            )


def _summary(row: RunRow) -> RunSummary:
    name = f"run {row.id}"
    is_unended = row.state not in (*END_STATES, "planned")
    if is_unended and not _process(row).is_alive():
        row = row._replace(
            state="interrupted",
            reason=PROCESS_ENDED,
            verdict="invalid",
            verdict_reason=PROCESS_ENDED,
        )
    return RunSummary(
        id=row.id,
        experiment_id=row.experiment_id,
        position=row.position,
        workload=row.workload,
        test=row.test,
        is_ad_hoc=bool(row.is_ad_hoc),
        system=row.system,
        system_label=row.system_label,
        storage=row.storage,
        clients=row.clients,
        parameters=typed.parameters(json.loads(row.parameters), f"{name}: parameters"),
        repetition=row.repetition,
        in_place_of=row.in_place_of,
        seed=int(row.seed),
        cell_fingerprint=row.cell_fingerprint,
        state=row.state,
        reason=row.reason,
        verdict=row.verdict,
        verdict_reason=row.verdict_reason,
        scripts_given=typed.scripts_given(json.loads(row.scripts_given or "[]"), name),
        driving=typed.driving(json.loads(row.driving or "{}"), f"{name}: driving"),
        server_machine=typed.server_machine(json.loads(row.server_machine or "{}"), name),
        group_clients=typed.group_clients(json.loads(row.group_clients or "{}"), name),
        levels=typed.parameters(json.loads(row.levels), f"{name}: levels"),
        begun_unix_ns=row.begun_unix_ns,
        ended_unix_ns=row.ended_unix_ns,
        is_superseded=bool(row.is_superseded),
        exit_status=row.exit_status,
    )


def _process(row: NamesProcess) -> ProcessIdentity:
    return ProcessIdentity(row.process_id, row.process_started, row.boot_id)


def _unknown(connection: sqlite3.Connection, what: str, table: str, number: int) -> ArgumentError:
    (last,) = connection.execute(f"SELECT max(id) FROM {table}").fetchone()
    known = f"the last one is {what} {last}" if last else "the record is empty"
    return ArgumentError(f"there is no {what} {number} in this record", hint=known)
