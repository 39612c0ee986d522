"""Takes an experiment and its plan; keeps both, with every planned run, before any is started."""

from __future__ import annotations

import sqlite3

from assay.contracts.factors import PROTOCOL, THREADS
from assay.contracts.recorded import Command, ExperimentFacts, WorkloadRecord
from assay.experiment import Experiment
from assay.plan import Plan, PlannedRun
from assay.plan.only import Patterns
from assay.provision.machine.identity import ProcessIdentity
from assay.record.file.json_text import json_text, storable
from assay.record.file.record_file import insert
from assay.record.runs import reading
from assay.text.secrets import without_secrets


def keep(
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
        title=title(experiment, facts["workload"]),
        reproduces=storable(experiment.reproduces),
        workload=storable(experiment.workload),
        workload_fingerprint=facts["workload"].get("fingerprint", ""),
        seed=str(experiment.seed),
        begun_unix_ns=now_ns,
        experiment=json_text(experiment.for_record()),
        workload_facts=json_text(facts["workload"]),
        machine=json_text(facts["machine"]),
        build=json_text(facts["build"]),
        process_id=process.pid,
        process_started=process.start_ticks,
        boot_id=process.boot,
        command=None if command is None else json_text(command),
        content=json_text(facts["content"]),
        only=json_text(only),
    )
    for run in plan.runs:
        plan_run(connection, experiment_id, run)
    return experiment_id


def title(experiment: Experiment, workload: WorkloadRecord) -> str:
    """That of the experiment, or else of its workload."""
    own = without_secrets(experiment.title or workload.get("title", ""))
    return storable(f"{own} (quick version)" if experiment.is_quick else own)


def next_position(connection: sqlite3.Connection, experiment_id: int) -> int:
    """Behind all runs of the experiment."""
    (last,) = connection.execute(
        "SELECT coalesce(max(position), -1) FROM runs WHERE experiment_id = ?", (experiment_id,)
    ).fetchone()
    return int(last) + 1


def plan_run(connection: sqlite3.Connection, experiment_id: int, run: PlannedRun) -> None:
    cell = run.cell
    insert(
        connection,
        "runs",
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
