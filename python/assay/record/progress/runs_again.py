"""Takes the runs of an unfinished experiment as they are on record, and its plan; makes the runs on
record those of the plan.

Runs that have ended are kept. What an interrupted run had written is removed, and it is planned
again; `continuations` says where it was. A run that has ended and whose content has changed since
is superseded: it is kept, and is no part of the results.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping
from dataclasses import replace
from typing import NamedTuple

from assay.plan import Plan, PlannedRun
from assay.record.progress import cell_verdicts, planned
from assay.record.runs import reading
from assay.record.runs.run_ends import ENDED, EXIT_STATUS, RunEnd


class RunOnRecord(NamedTuple):
    """A run as it is on record."""

    id: int
    state: str
    position: int
    cell: str
    """Fingerprint."""
    repetition: int
    in_place_of: int | None
    seed: str
    content: str
    was: str
    """The last state it was in before it was interrupted."""
    version: str
    """Of the system that it was measured on; empty: not known."""
    exit_status: int

    @property
    def end(self) -> RunEnd:
        return RunEnd(self.state, self.exit_status)


_QUESTION = f"""
SELECT id, state, position, cell_fingerprint, repetition, in_place_of, seed, content_fingerprint,
       coalesce((SELECT stages.state FROM stages WHERE run_id = runs.id
                 AND stages.state <> 'interrupted' ORDER BY rowid DESC LIMIT 1), '') AS was,
       coalesce((SELECT json_extract(document, '$.version') FROM deployments
                 WHERE run_id = runs.id), '') AS version,
       {EXIT_STATUS}
FROM runs WHERE experiment_id = ? AND superseded = 0 ORDER BY position
"""


def runs_of(connection: sqlite3.Connection, experiment_id: int) -> list[RunOnRecord]:
    return [RunOnRecord(*row) for row in connection.execute(_QUESTION, (experiment_id,))]


class Runs:
    """The runs of the experiment as they are, found by what they are of."""

    def __init__(
        self,
        connection: sqlite3.Connection,
        experiment_id: int,
        chosen: set[int],
        versions: Mapping[str, str],
    ) -> None:
        """``chosen``, ``versions``: see `assay.record.progress.continuing.go_on`."""
        self.runs = runs_of(connection, experiment_id)
        self._chosen = chosen
        self._versions = versions
        self._by_cell = {(old.cell, old.repetition, old.seed): old for old in self.runs}

    def match(self, run: PlannedRun) -> RunOnRecord | None:
        """The run on record that this one would repeat."""
        old = self._by_cell.get(_key(run))
        if old is None or (run.position in self._chosen and not self._is_of_use(old, run)):
            return None
        return old

    def _is_of_use(self, old: RunOnRecord, run: PlannedRun) -> bool:
        """Whether its content and the version it was measured on are those of now. A version that
        is not known is no other one."""
        now = self._versions.get(run.cell.system.label)
        return old.content == run.content and (not (now and old.version) or now == old.version)

    def place(self, old: RunOnRecord, plan: Plan) -> int | None:
        """Where the plan has the run on record, whatever its content; None: it no longer does."""
        for run in plan.runs:
            if self._by_cell.get(_key(run)) is old:
                return run.position
        return None

    def beyond(self, plan: Plan, matched: Mapping[int, RunOnRecord]) -> list[PlannedRun]:
        """The runs on record that a process before added to the plan (`assay.lab.added_runs`) and
        that have ended, as runs behind the plan. One counts where what its cell has in the plan
        does: all of them are of the same texts, data and versions."""
        kept = {old.id for old in matched.values()}
        of_cells = {run.cell.fingerprint: run for run in plan.runs if run.position in matched}
        planned = {_key(run) for run in plan.runs}
        added = [
            old
            for old in self.runs
            if old.state in ENDED
            and old.id not in kept
            and old.cell in of_cells
            and (old.cell, old.repetition, old.seed) not in planned
            and old.repetition > plan.experiment.most_repetitions
        ]
        return [
            replace(
                of_cells[old.cell],
                repetition=old.repetition,
                in_place_of=old.in_place_of,
                seed=int(old.seed),
                content=old.content,
                position=position,
            )
            for position, old in enumerate(added, len(plan.runs))
        ]

    def under_way(self) -> RunOnRecord | None:
        """The run that the last process was at."""
        begun = [old for old in self.runs if old.state not in (*ENDED, "planned")]
        return begun[0] if begun else None


def _key(run: PlannedRun) -> tuple[str, int, str]:
    return run.cell.fingerprint, run.repetition, str(run.seed)


class LaidOut(NamedTuple):
    """The runs of the record, beside those of the plan."""

    superseded: int
    """How many."""
    changed_cells: frozenset[str]
    """Fingerprints of those that have other repetitions now, and no verdict any more."""


def lay_out(
    connection: sqlite3.Connection,
    experiment_id: int,
    plan: Plan,
    matched: Mapping[int, RunOnRecord],
    runs: Runs,
) -> LaidOut:
    """Makes the runs on record those of the plan."""
    again = {old.cell for old in runs.runs if old.state not in ENDED}
    connection.execute(
        "UPDATE runs SET position = -1 - id WHERE experiment_id = ?", (experiment_id,)
    )
    kept_ids = {old.id for old in matched.values()}
    superseded = 0
    for old in runs.runs:
        if old.id in kept_ids:
            if old.state not in ENDED:
                _plan_again(connection, old.id)
        elif old.state in ENDED:
            superseded += 1
            again.add(old.cell)
            connection.execute("UPDATE runs SET superseded = 1 WHERE id = ?", (old.id,))
        else:
            _plan_again(connection, old.id)
            connection.execute("DELETE FROM runs WHERE id = ?", (old.id,))
    for run in plan.runs:
        if run.position in matched:
            connection.execute(
                "UPDATE runs SET position = ? WHERE id = ?",
                (run.position, matched[run.position].id),
            )
        else:
            again.add(run.cell.fingerprint)
            planned.plan_run(connection, experiment_id, run)
    _number_superseded(connection, experiment_id, len(plan.runs))
    for fingerprint in again:
        cell_verdicts.forget(connection, experiment_id, fingerprint)
    return LaidOut(superseded, frozenset(again))


def _plan_again(connection: sqlite3.Connection, run_id: int) -> None:
    """Removes what the run had written; it is planned as before it began."""
    for table in reading.tables_of_runs(connection):
        connection.execute(f"DELETE FROM {table} WHERE run_id = ?", (run_id,))
    connection.execute(
        "UPDATE runs SET state = 'planned', reason = '', verdict = '', verdict_reason = '', "
        "begun_unix_ns = NULL, ended_unix_ns = NULL, continuation = 0, exit_status = NULL "
        "WHERE id = ?",
        (run_id,),
    )


def _number_superseded(connection: sqlite3.Connection, experiment_id: int, first: int) -> None:
    """Behind the plan."""
    ids = connection.execute(
        "SELECT id FROM runs WHERE experiment_id = ? AND superseded = 1 ORDER BY id",
        (experiment_id,),
    ).fetchall()
    for place, (run_id,) in enumerate(ids, first):
        connection.execute("UPDATE runs SET position = ? WHERE id = ?", (place, run_id))
