"""Takes the command and the plan of an experiment that is unfinished; continues it in this process:
runs that have ended are kept, all others are planned again.

Everything is one transaction, so that of two processes one continues it, and a process that is
killed here has changed nothing.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any, NamedTuple

from msgspec import Struct

from assay.contracts.recorded import Command
from assay.errors import ArgumentError
from assay.judge.agreement import ComparedAnswer
from assay.judge.run import RunSummary
from assay.plan import Plan, PlannedRun
from assay.plan.values import Patterns, either_of_patterns
from assay.provision.machine.process_table import ProcessIdentity
from assay.record import planned_runs
from assay.record.file.kept_texts import json_text, storable
from assay.record.file.record_file import SqlValue, insert, value
from assay.record.planned_runs import ExperimentFacts
from assay.record.runs import reading
from assay.record.runs.records import ENDED, RunEnd, end_of
from assay.text.phrases import Mention, phrase
from assay.workload.workload_record import WorkloadRecord

# Takes the runs of an unfinished experiment as they are on record, and its plan; makes the runs
# on record those of the plan.
#
# Runs that have ended are kept. What an interrupted run had written is removed, and it is planned
# again; `continuations` says where it was. A run that has ended and whose content has changed
# since is superseded: it is kept, and is no part of the results.


class RunBefore(NamedTuple):
    """A run as it is on record, with what says whether it is of use."""

    run: RunSummary
    content: str
    was: str
    """The last state it was in before it was interrupted."""
    version: str
    """Of the system that it was measured on; empty: not known."""

    @property
    def key(self) -> tuple[str, int, int]:
        return self.run.cell_fingerprint, self.run.repetition, self.run.seed

    @property
    def is_ended(self) -> bool:
        return self.run.state in ENDED


_QUESTION = """
SELECT id, content_fingerprint,
       coalesce((SELECT stages.state FROM stages WHERE run_id = runs.id
                 AND stages.state <> 'interrupted' ORDER BY rowid DESC LIMIT 1), ''),
       coalesce((SELECT json_extract(document, '$.version') FROM deployments
                 WHERE run_id = runs.id), '')
FROM runs WHERE experiment_id = ? AND superseded = 0
"""


def runs_before(connection: sqlite3.Connection, experiment_id: int) -> list[RunBefore]:
    """Those of the experiment, in planned order."""
    found = {number: values for number, *values in connection.execute(_QUESTION, (experiment_id,))}
    runs = reading.runs_of(connection, experiment_id)
    return [RunBefore(run, *found[run.id]) for run in runs]


class Runs:
    """The runs of the experiment as they are, found by what they are of."""

    def __init__(
        self,
        connection: sqlite3.Connection,
        experiment_id: int,
        chosen: set[int],
        versions: Mapping[str, str],
    ) -> None:
        """``chosen``, ``versions``: see `assay.record.continuing.go_on`."""
        self.runs = runs_before(connection, experiment_id)
        self._chosen = chosen
        self._versions = versions
        self._by_cell = {old.key: old for old in self.runs}

    def match(self, run: PlannedRun) -> RunBefore | None:
        """The run on record that this one would repeat."""
        old = self._by_cell.get(_key(run))
        if old is None or (run.position in self._chosen and not self._is_of_use(old, run)):
            return None
        return old

    def _is_of_use(self, old: RunBefore, run: PlannedRun) -> bool:
        """Whether its content and the version it was measured on are those of now. A version that
        is not known is no other one."""
        now = self._versions.get(run.cell.system.label)
        return old.content == run.content and (not (now and old.version) or now == old.version)

    def place(self, old: RunBefore, plan: Plan) -> int | None:
        """Where the plan has the run on record, whatever its content; None: it no longer does."""
        for run in plan.runs:
            if self._by_cell.get(_key(run)) is old:
                return run.position
        return None

    def beyond(self, plan: Plan, matched: Mapping[int, RunBefore]) -> list[PlannedRun]:
        """The runs on record that a process before added to the plan (`assay.lab.repetitions`) and
        that have ended, as runs behind the plan. One counts where what its cell has in the plan
        does: all of them are of the same texts, data and versions."""
        kept = {old.run.id for old in matched.values()}
        of_cells = {run.cell.fingerprint: run for run in plan.runs if run.position in matched}
        planned = {_key(run) for run in plan.runs}
        added = [
            old
            for old in self.runs
            if old.is_ended
            and old.run.id not in kept
            and old.run.cell_fingerprint in of_cells
            and old.key not in planned
            and old.run.repetition > plan.experiment.most_repetitions
        ]
        return [
            replace(
                of_cells[old.run.cell_fingerprint],
                repetition=old.run.repetition,
                in_place_of=old.run.in_place_of,
                seed=old.run.seed,
                content=old.content,
                position=position,
            )
            for position, old in enumerate(added, len(plan.runs))
        ]

    def under_way(self) -> RunBefore | None:
        """The run that the last process was at."""
        begun = [old for old in self.runs if old.run.state not in (*ENDED, "planned")]
        return begun[0] if begun else None


def _key(run: PlannedRun) -> tuple[str, int, int]:
    return run.cell.fingerprint, run.repetition, run.seed


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
    matched: Mapping[int, RunBefore],
    runs: Runs,
) -> LaidOut:
    """Makes the runs on record those of the plan."""
    again = {old.run.cell_fingerprint for old in runs.runs if not old.is_ended}
    connection.execute(
        "UPDATE runs SET position = -1 - id WHERE experiment_id = ?", (experiment_id,)
    )
    kept_ids = {old.run.id for old in matched.values()}
    superseded = 0
    for old in runs.runs:
        if old.run.id in kept_ids:
            if not old.is_ended:
                _plan_again(connection, old.run.id)
        elif old.is_ended:
            superseded += 1
            again.add(old.run.cell_fingerprint)
            connection.execute("UPDATE runs SET superseded = 1 WHERE id = ?", (old.run.id,))
        else:
            _plan_again(connection, old.run.id)
            connection.execute("DELETE FROM runs WHERE id = ?", (old.run.id,))
    for run in plan.runs:
        if run.position in matched:
            connection.execute(
                "UPDATE runs SET position = ? WHERE id = ?",
                (run.position, matched[run.position].run.id),
            )
        else:
            again.add(run.cell.fingerprint)
            planned_runs.plan_run(connection, experiment_id, run)
    _number_superseded(connection, experiment_id, len(plan.runs))
    for fingerprint in again:
        planned_runs.forget_cell_verdict(connection, experiment_id, fingerprint)
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


NO_VERSIONS: Mapping[str, str] = {}
_PARTS = ("machine", "build", "content")
"""Of `ExperimentFacts`: those that a process that goes on with an experiment has too."""
Leaf = str | int | float | bool | list[str] | None
"""A value in a document, no object."""


class KeptRun(NamedTuple):
    """A run that had ended in a process before."""

    end: RunEnd
    answers: tuple[ComparedAnswer, ...]
    reason: str
    """Of its verdict."""


class Continued(Struct, frozen=True):
    """What was found of the experiment that goes on."""

    experiment_id: int
    position: int
    """Of this continuation: 1 for the first."""
    kept: Mapping[int, KeptRun]
    """Position in the plan → the run there, which has ended."""
    changed_cells: frozenset[str]
    """Fingerprints of those that have other repetitions than before, to be judged again."""
    superseded: int
    """Runs that had ended and are no longer part of the results."""
    no_longer_planned: int
    """Those of them that the plan does not have; the content of the others has changed."""
    changes: Mapping[str, tuple[Leaf, Leaf]]
    """Of machine, build and content: name → before, now."""
    interrupted: str
    """The state of the run that was under way; empty: none was."""
    added: tuple[PlannedRun, ...] = ()
    """Runs that a process before added to the plan, and that have ended."""


class _Process(NamedTuple):
    """The last process that worked on the experiment, with what it found."""

    identity: ProcessIdentity
    facts: Mapping[str, Leaf]
    """The values of `_PARTS`, by their paths."""


class LastExperiment(Struct, frozen=True):
    """The last experiment of a command, which is not finished."""

    experiment_id: int
    before: _Process
    ended_unix_ns: int | None
    """When that process ended by itself; None: it was killed, or is under way."""
    runs: Runs
    plan: Plan
    """With the runs that a process before added to it."""
    matched: Mapping[int, RunBefore]
    """Position in the plan → the run on record that it would repeat."""

    @property
    def is_under_way(self) -> bool:
        """In another process, which is alive."""
        return self.ended_unix_ns is None and self.before.identity.is_alive()

    @property
    def kept(self) -> dict[int, RunBefore]:
        """Those that have ended."""
        return {place: old for place, old in self.matched.items() if old.is_ended}

    @property
    def is_of_use(self) -> bool:
        """Whether something of it can be kept, or nothing has ended yet."""
        return bool(self.kept) or not any(old.is_ended for old in self.runs.runs)


def find(
    connection: sqlite3.Connection,
    plan: Plan,
    chosen: Iterable[PlannedRun],
    command: Command,
    versions: Mapping[str, str] = NO_VERSIONS,
) -> LastExperiment | None:
    """The last experiment of the command, with what can be kept of it; None where that is finished,
    or there is none. ``chosen``, ``versions``: see `go_on`."""
    experiment_id = _unfinished(connection, command)
    if experiment_id is None:
        return None
    before = _last_process(connection, experiment_id)
    ended_unix_ns = value(
        connection, "SELECT ended_unix_ns FROM experiments WHERE id = ?", experiment_id
    )
    runs = Runs(connection, experiment_id, {run.position for run in chosen}, versions)
    matched = {run.position: old for run in plan.runs if (old := runs.match(run)) is not None}
    added = runs.beyond(plan, matched)
    matched |= {run.position: old for run in added if (old := runs.match(run)) is not None}
    whole = replace(plan, runs=(*plan.runs, *added))
    return LastExperiment(experiment_id, before, ended_unix_ns, runs, whole, matched)


def _unfinished(connection: sqlite3.Connection, command: Command) -> int | None:
    """The number of the last experiment of this command, unless it is finished."""
    row = connection.execute(
        f"SELECT id, ended_unix_ns FROM experiments WHERE {reading.SAME_COMMAND} "
        "ORDER BY id DESC LIMIT 1",
        (json_text(command),),
    ).fetchone()
    if row is None:
        return None
    experiment_id, ended_unix_ns = row
    states = [run.state for run in reading.runs_of(connection, experiment_id)]
    is_finished = ended_unix_ns is not None and all(state in ENDED for state in states)
    return None if is_finished else int(experiment_id)


def go_on(
    connection: sqlite3.Connection,
    plan: Plan,
    chosen: Iterable[PlannedRun],
    command: Command,
    facts: ExperimentFacts,
    process: ProcessIdentity,
    now_ns: int,
    versions: Mapping[str, str] = NO_VERSIONS,
    only: Patterns = (),
) -> Continued | None:
    """Continues the last experiment of the command; None where that is finished, or nothing of it
    can be kept. ``facts``: machine, build, content and workload, as a new experiment keeps them.
    ``chosen``: the runs of the plan that may be executed now; the content of others is not looked
    at. ``versions``: label of a server by URL → its version now; one that is not in it is not
    known. ``only``: by which they were chosen.

    Raises `ArgumentError` where another process is at work on it.
    """
    last = find(connection, plan, chosen, command, versions)
    if last is None:
        return None
    if last.is_under_way:
        raise ArgumentError(
            f"experiment {last.experiment_id} of this file is under way in process "
            f"{last.before.identity.pid}",
            hint=phrase(
                "wait until it has ended, or begin another one: {}", Mention("new", is_wished=True)
            ),
        )
    if not last.is_of_use:
        return None
    planned_runs, plan = len(plan.runs), last.plan
    reading.settle_dead_runs(connection)
    left_out = [old for old in last.runs.runs if old.is_ended and not _is_in(plan, last, old)]
    under_way = last.runs.under_way()  # before the runs are laid out anew
    end = _end_of_process(connection, last, plan, under_way)
    laid_out = lay_out(connection, last.experiment_id, plan, last.matched, last.runs)
    changes = _changes(last.before.facts, facts)
    position = _next_position(connection, last.experiment_id)
    insert(
        connection,
        "continuations",
        experiment_id=last.experiment_id,
        position=position,
        begun_unix_ns=now_ns,
        **end,
        changes=json_text(changes),
        experiment=_asked_before(connection, last.experiment_id, plan, facts.workload),
        machine=json_text(facts.machine),
        build=json_text(facts.build),
        content=json_text(facts.content),
        process_id=process.pid,
        process_started=process.start_ticks,
        boot_id=process.boot,
    )
    connection.execute(
        "UPDATE experiments SET ended_unix_ns = NULL, command = ?, only = ? WHERE id = ?",
        (
            json_text(command),
            json_text(either_of_patterns(_only(connection, last.experiment_id), only)),
            last.experiment_id,
        ),
    )
    return Continued(
        last.experiment_id,
        position,
        {place: _kept(connection, old) for place, old in last.kept.items()},
        laid_out.changed_cells,
        laid_out.superseded,
        len(left_out),
        changes,
        under_way.was if under_way else "",
        plan.runs[planned_runs:],
    )


def _only(connection: sqlite3.Connection, experiment_id: int) -> Patterns:
    text = value(connection, "SELECT only FROM experiments WHERE id = ?", experiment_id)
    found: Patterns = json.loads(text)
    return found


def _is_in(plan: Plan, last: LastExperiment, old: RunBefore) -> bool:
    return last.runs.place(old, plan) is not None


def _end_of_process(
    connection: sqlite3.Connection, last: LastExperiment, plan: Plan, under_way: RunBefore | None
) -> dict[str, SqlValue]:
    """Columns of a continuation. ``under_way``: the run that the process before was at."""
    return {
        "ended_process_id": last.before.identity.pid,
        "ended_unix_ns": None if under_way else last.ended_unix_ns,
        "last_unix_ns": _last_sign_ns(connection, last.experiment_id),
        "run_position": last.runs.place(under_way, plan) if under_way else None,
        "run_state": under_way.was if under_way else None,
    }


def _next_position(connection: sqlite3.Connection, experiment_id: int) -> int:
    continuations = value(
        connection, "SELECT count(*) FROM continuations WHERE experiment_id = ?", experiment_id
    )
    return int(continuations) + 1


def _kept(connection: sqlite3.Connection, old: RunBefore) -> KeptRun:
    reason = value(connection, "SELECT verdict_reason FROM runs WHERE id = ?", old.run.id)
    row = connection.execute(
        "SELECT document FROM compared_answers WHERE run_id = ?", (old.run.id,)
    ).fetchone()
    answers = tuple(ComparedAnswer(*one) for one in json.loads(row[0])) if row else ()
    return KeptRun(end_of(old.run), answers, str(reason))


def _last_process(connection: sqlite3.Connection, experiment_id: int) -> _Process:
    names = f"process_id, process_started, boot_id, {', '.join(_PARTS)}"
    row = (
        connection.execute(
            f"SELECT {names} FROM continuations WHERE experiment_id = ? "
            "ORDER BY position DESC LIMIT 1",
            (experiment_id,),
        ).fetchone()
        or connection.execute(
            f"SELECT {names} FROM experiments WHERE id = ?", (experiment_id,)
        ).fetchone()
    )
    facts = dict(zip(_PARTS, map(json.loads, row[3:]), strict=True))
    return _Process(ProcessIdentity(*row[:3]), _flat("", facts))


def _last_sign_ns(connection: sqlite3.Connection, experiment_id: int) -> int:
    """When the process before entered a stage of a run for the last time, or began."""
    last_ns = value(
        connection,
        "SELECT max(stages.begun_unix_ns) FROM stages JOIN runs ON runs.id = run_id "
        "WHERE experiment_id = ?",
        experiment_id,
    )
    if last_ns is None:
        last_ns = value(
            connection, "SELECT begun_unix_ns FROM experiments WHERE id = ?", experiment_id
        )
    return int(last_ns)


def _changes(then: Mapping[str, Leaf], now: ExperimentFacts) -> dict[str, tuple[Leaf, Leaf]]:
    """``machine.kernel`` → what it was, what it is; of what was known both times."""
    found = _flat("", json.loads(json_text({part: getattr(now, part) for part in _PARTS})))
    return {
        name: (then[name], value)
        for name, value in found.items()
        if name in then and then[name] != value
    }


def _flat(path: str, value: Any) -> Mapping[str, Leaf]:
    """The values of nested objects, by their path."""
    if not isinstance(value, Mapping):
        return {path: value}
    return {
        name: one
        for key, item in value.items()
        for name, one in _flat(f"{path}.{key}" if path else str(key), item).items()
    }


def _asked_before(
    connection: sqlite3.Connection, experiment_id: int, plan: Plan, workload: WorkloadRecord
) -> str | None:
    """What had been asked, where it is something else now; that takes its place."""
    experiment = plan.experiment
    now = json_text(experiment.for_record())
    (before, workload_before) = connection.execute(
        "SELECT experiment, workload_facts FROM experiments WHERE id = ?", (experiment_id,)
    ).fetchone()
    if (before, workload_before) == (now, json_text(workload.for_record())):
        return None
    connection.execute(
        "UPDATE experiments SET experiment = ?, title = ?, reproduces = ?, workload = ?, "
        "workload_fingerprint = ?, workload_facts = ?, seed = ? WHERE id = ?",
        (
            now,
            planned_runs.experiment_title(experiment, workload),
            storable(experiment.reproduces),
            storable(experiment.workload),
            workload.fingerprint,
            json_text(workload.for_record()),
            str(experiment.seed),
            experiment_id,
        ),
    )
    return str(before)
