"""Takes a question to an open record file; gives the rows of runs, experiments and continuations,
each column by its name and with its type. Documents are JSON texts.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator
from typing import NamedTuple, Protocol, TypeVar

from assay.contracts.factors import OF_LEVELS, Factor, Scalar
from assay.record.runs.run_ends import EXIT_STATUS

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
