"""Takes the plan of an experiment, the states of its runs as they change, and the verdicts on
them and on their cells; writes them."""

from __future__ import annotations

import json
import sqlite3
import time
from collections.abc import Iterable
from typing import NamedTuple

from msgspec import Struct

from assay.contracts.factors import PROTOCOL, THREADS
from assay.contracts.recorded import Build, Command, Machine
from assay.errors import RunFailed
from assay.experiment import Experiment
from assay.judge import Verdict
from assay.judge.agreement import Dispute
from assay.judge.ended_runs import Judged
from assay.judge.run import Run
from assay.plan import Plan, PlannedRun
from assay.plan.fingerprint import Content
from assay.plan.values import Patterns
from assay.provision.machine.process_table import ProcessIdentity
from assay.record.file.kept_texts import json_text, storable
from assay.record.file.record_file import insert, value
from assay.record.runs import reading
from assay.record.runs.records import EndState
from assay.text.secrets import without_secrets
from assay.workload.workload_record import WorkloadRecord


class ExperimentFacts(Struct, frozen=True):
    """What determines the results of an experiment, beside what was asked."""

    machine: Machine
    workload: WorkloadRecord
    build: Build
    content: Content


def keep_plan(
    connection: sqlite3.Connection,
    experiment: Experiment,
    plan: Plan,
    facts: ExperimentFacts,
    process: ProcessIdentity,
    now_ns: int,
    command: Command | None,
    only: Patterns,
) -> int:
    """Returns the number of the experiment."""
    reading.settle_dead_runs(connection)
    experiment_id = insert(
        connection,
        "experiments",
        title=experiment_title(experiment, facts.workload),
        reproduces=storable(experiment.reproduces),
        workload=storable(experiment.workload),
        workload_fingerprint=facts.workload.fingerprint,
        seed=str(experiment.seed),
        begun_unix_ns=now_ns,
        experiment=json_text(experiment.for_record()),
        workload_facts=json_text(facts.workload.for_record()),
        machine=json_text(facts.machine),
        build=json_text(facts.build),
        process_id=process.pid,
        process_started=process.start_ticks,
        boot_id=process.boot,
        command=None if command is None else json_text(command),
        content=json_text(facts.content),
        only=json_text(only),
    )
    for run in plan.runs:
        plan_run(connection, experiment_id, run)
    return experiment_id


def experiment_title(experiment: Experiment, workload: WorkloadRecord) -> str:
    """That of the experiment, or else of its workload."""
    own = without_secrets(experiment.title or workload.title)
    return storable(f"{own} (quick version)" if experiment.is_quick else own)


def run_at(connection: sqlite3.Connection, experiment_id: int, position: int) -> int:
    """The number of the run at that position."""
    question = "SELECT id FROM runs WHERE experiment_id = ? AND position = ?"
    return int(value(connection, question, experiment_id, position))


def next_position(connection: sqlite3.Connection, experiment_id: int) -> int:
    """Behind all runs of the experiment."""
    (last,) = connection.execute(
        "SELECT coalesce(max(position), -1) FROM runs WHERE experiment_id = ?", (experiment_id,)
    ).fetchone()
    return int(last) + 1


def plan_run(
    connection: sqlite3.Connection, experiment_id: int, run: PlannedRun, run_id: int | None = None
) -> int:
    """Returns the run's number, which is the next one unless it is given."""
    cell = run.cell
    return insert(
        connection,
        "runs",
        id=run_id,
        experiment_id=experiment_id,
        position=run.position,
        test=cell.test,
        system=cell.system.name,
        system_label=storable(without_secrets(cell.system_label)),
        storage=storable(cell.storage_name),
        clients=cell.clients,
        threads=cell.levels[THREADS.name],
        protocol=cell.levels[PROTOCOL.name],
        parameters=json_text(cell.parameters),
        repetition=run.repetition,
        seed=str(run.seed),
        cell=json_text(cell.for_record()),
        cell_fingerprint=cell.fingerprint,
        content_fingerprint=run.content,
        in_place_of=run.in_place_of,
    )


def enter_state(connection: sqlite3.Connection, run_id: int, state: str, now_ns: int) -> None:
    """Adds the stage, and sets the run's state to it."""
    insert(connection, "stages", run_id=run_id, state=state, begun_unix_ns=now_ns)
    connection.execute(
        "UPDATE runs SET state = ?, begun_unix_ns = coalesce(begun_unix_ns, ?) WHERE id = ?",
        (state, now_ns, run_id),
    )


def end_run(
    connection: sqlite3.Connection,
    run_id: int,
    state: EndState,
    reason: str,
    verdict: tuple[str, str],
    warnings: Iterable[tuple[str, str]],
    exit_status: int | None,
    now_ns: int,
) -> None:
    """Keeps why it ended so, its verdict (word, reason) and its warnings (name, detail).
    ``exit_status``: see `assay.record.runs.records`."""
    for position, (name, detail) in enumerate(warnings):
        insert(
            connection,
            "warnings",
            run_id=run_id,
            position=position,
            name=name,
            detail=storable(without_secrets(detail)),
        )
    enter_state(connection, run_id, state, now_ns)
    word, why = verdict
    connection.execute(
        "UPDATE runs SET reason = ?, verdict = ?, verdict_reason = ?, exit_status = ?, "
        "ended_unix_ns = ? WHERE id = ?",
        (
            storable(without_secrets(reason)),
            word,
            storable(without_secrets(why)),
            exit_status,
            now_ns,
            run_id,
        ),
    )


class Taken(NamedTuple):
    elapsed_s: float
    """From its beginning to its end, with provision and load."""
    driven_s: float
    """From the first step behind the load on: what a further repetition takes at least."""


def taken_repetitions(connection: sqlite3.Connection, experiment_id: int, position: int) -> Taken:
    """By the run at that position, which has ended."""
    begun_unix_ns, driven_from_ns, ended_unix_ns = connection.execute(
        """
        SELECT coalesce(begun_unix_ns, ended_unix_ns),
               (SELECT min(begun_unix_ns) FROM stages
                WHERE run_id = runs.id AND state = 'driving'),
               ended_unix_ns
        FROM runs WHERE experiment_id = ? AND position = ?
        """,
        (experiment_id, position),
    ).fetchone()
    if driven_from_ns is None:
        driven_from_ns = begun_unix_ns
    return Taken((ended_unix_ns - begun_unix_ns) / 1e9, (ended_unix_ns - driven_from_ns) / 1e9)


def ended_repetitions(
    connection: sqlite3.Connection, experiment_id: int, positions: Iterable[int]
) -> dict[int, Run]:
    """The runs at these positions, which ended in a process before."""
    found = {}
    for position in positions:
        found[position] = reading.run(connection, run_at(connection, experiment_id, position))
    return found


def spare_repetitions(
    connection: sqlite3.Connection, experiment_id: int, positions: Iterable[int]
) -> None:
    """Removes planned runs that have not begun."""
    for position in positions:
        connection.execute(
            "DELETE FROM runs WHERE experiment_id = ? AND position = ? AND state = 'planned'",
            (experiment_id, position),
        )


NO_CELL_VERDICT: Judged = {}


def keep_cell_verdicts(connection: sqlite3.Connection, experiment_id: int, judged: Judged) -> None:
    """In place of what was written of these cells before."""
    for fingerprint, cell in judged.items():
        forget_cell_verdict(connection, experiment_id, fingerprint)
        insert(
            connection,
            "cells",
            experiment_id=experiment_id,
            cell_fingerprint=fingerprint,
            repetitions=cell.repetitions,
            measured=cell.measured,
            verdict=cell.verdict.word,
            verdict_reason=cell.verdict.reason,
            warnings=json_text([warning._asdict() for warning in cell.warnings]),
            judged_unix_ns=time.time_ns(),
        )


def forget_cell_verdict(
    connection: sqlite3.Connection, experiment_id: int, fingerprint: str
) -> None:
    """The cell has other repetitions now."""
    connection.execute(
        "DELETE FROM cells WHERE experiment_id = ? AND cell_fingerprint = ?",
        (experiment_id, fingerprint),
    )


def keep_dispute(
    connection: sqlite3.Connection, run_id: int, dispute: Dispute, verdict: Verdict
) -> None:
    """The documents of its checks get the notes of the dispute, in place of an earlier one's."""
    connection.execute(
        "UPDATE runs SET verdict = ?, verdict_reason = ?, "
        "exit_status = coalesce(nullif(exit_status, 0), ?) WHERE id = ?",
        (verdict.word, storable(without_secrets(verdict.reason)), RunFailed.exit_code, run_id),
    )
    for step, document in connection.execute(
        "SELECT step, document FROM checks WHERE run_id = ?", (run_id,)
    ).fetchall():
        checks = [dispute.of_check(check) for check in json.loads(document)]
        connection.execute(
            "UPDATE checks SET document = ? WHERE run_id = ? AND step = ?",
            (json_text(checks), run_id, step),
        )
