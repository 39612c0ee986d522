"""Takes how a step of a run begins and ends, and keeps it; returns all that is kept of each step.

A run that begins no step has a single one, ``drive``, which begins with the first row of the run.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable, Mapping
from typing import Any, Literal

from assay.observation import Observation, Observed, ShapeError, read_observed
from assay.observation.merging import merge
from assay.record import run_samples, storage_requests, typed
from assay.record.document import storable
from assay.record.file import insert
from assay.record.records import Document, ScriptRecord, StepRecord
from assay.text.secrets import without_secrets

StepState = Literal["done", "failed", "interrupted", "refused", "skipped"]
RUNNING = "running"
_RUN_STATES = {
    "load": "loading",
    "ddl": "loading",
    "update": "loading",
    "restart": "provisioning",
    "check": "checking",
    "compare": "checking",
    "dump": "checking",
}
"""Kind of step → state of its run meanwhile; other kinds: driving."""


def run_state(do: str) -> str:
    return _RUN_STATES.get(do, "driving")


def begin(
    connection: sqlite3.Connection, run_id: int, position: int, do: str, name: str, now_ns: int
) -> None:
    insert(
        connection,
        "steps",
        run_id=run_id,
        position=position,
        do=do,
        name=storable(name),
        state=RUNNING,
        begun_unix_ns=now_ns,
    )


def end(
    connection: sqlite3.Connection, run_id: int, position: int, state: str, reason: str, now_ns: int
) -> None:
    connection.execute(
        "UPDATE steps SET state = ?, reason = ?, ended_unix_ns = ? "
        "WHERE run_id = ? AND position = ?",
        (state, storable(without_secrets(reason)), now_ns, run_id, position),
    )


def keep_drive(
    connection: sqlite3.Connection,
    run_id: int,
    position: int,
    document: str,
    scripts: Iterable[Mapping[str, Any]],
) -> None:
    """The drive document, and the text of each script."""
    insert(connection, "drives", run_id=run_id, step=position, document=document)
    for place, script in enumerate(scripts):
        insert(
            connection,
            "scripts",
            run_id=run_id,
            step=position,
            position=place,
            name=script["name"],
            path=storable(script["path"]),
            text=storable(script["text"]),
            weight=script.get("weight", 1),
        )


def of_run(connection: sqlite3.Connection, run_id: int) -> tuple[StepRecord, ...]:
    found = connection.execute(
        "SELECT position, do, name, state, reason, begun_unix_ns, ended_unix_ns FROM steps "
        "WHERE run_id = ? ORDER BY position",
        (run_id,),
    ).fetchall()
    return tuple(_step(connection, run_id, *values) for values in found)


def _step(
    connection: sqlite3.Connection,
    run_id: int,
    position: int,
    do: str,
    name: str,
    state: str,
    reason: str,
    begun_unix_ns: int | None,
    ended_unix_ns: int | None,
) -> StepRecord:
    place = (run_id, position)
    observation, agents = _observed(connection, place)
    return StepRecord(
        position,
        do,
        name,
        state,
        reason,
        begun_unix_ns,
        ended_unix_ns,
        dataset=_document(connection, "datasets", place),
        drive=_document(connection, "drives", place),
        scripts=tuple(
            ScriptRecord(*values)
            for values in connection.execute(
                "SELECT name, path, text, weight FROM scripts WHERE run_id = ? AND step = ? "
                "ORDER BY position",
                place,
            )
        ),
        observation=observation,
        agents=agents,
        samples=run_samples.samples(connection, place),
        open_files=run_samples.open_files(connection, place),
        storage_requests=storage_requests.of_step(connection, place),
        checks=typed.checks(_document(connection, "checks", place) or (), f"run {run_id}: checks"),
    )


def _observed(
    connection: sqlite3.Connection, place: tuple[int, int]
) -> tuple[Observed | None, tuple[Observation, ...]]:
    """What the step reported, and the observations of each machine where several drove its clients;
    where only these are kept, they add up to the step's."""
    found = connection.execute(
        "SELECT agent, document FROM observations WHERE run_id = ? AND step = ? ORDER BY agent",
        place,
    )
    name = f"run {place[0]}: observation"
    whole: Observed | None = None
    agents: list[Observation] = []
    for agent, text in found:
        one = read_observed(json.loads(text), name)
        if not agent:
            whole = one
        elif isinstance(one, Observation):
            agents.append(one)
        else:
            raise ShapeError(f"{name} of agent {agent}: expected clients that were driven")
    if whole is None and agents:
        whole = merge(agents)
    return whole, tuple(agents)


def _documents(
    connection: sqlite3.Connection, table: str, place: tuple[int, int]
) -> list[Document]:
    """The JSON documents kept of that step."""
    found = connection.execute(f"SELECT document FROM {table} WHERE run_id = ? AND step = ?", place)
    return [json.loads(text) for (text,) in found]


def _document(connection: sqlite3.Connection, table: str, place: tuple[int, int]) -> Any:
    """None where the step ended before there was one."""
    found = _documents(connection, table, place)
    return found[0] if found else None
