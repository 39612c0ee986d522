"""Takes a record that another process writes; returns how far its last experiment is, and the
seconds of a step as they pass. Nothing that is asked here makes that process wait."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from typing import NamedTuple

import msgspec
from msgspec.structs import replace

from assay.contracts.observation import Interval, MachineSecond
from assay.judge.run import RunSummary, StepRecord
from assay.provision.machine.identity import ProcessIdentity
from assay.record.file.record_file import SqlValue
from assay.record.runs import reading, run_steps

Connection = sqlite3.Connection
"""To the record."""
Place = tuple[int, int]
"""The number of a run, and the position of its step."""
Mark = tuple[SqlValue, ...]
"""Another one where more has happened."""


class ExperimentUnderWay(NamedTuple):
    id: int
    title: str
    begun_unix_ns: int
    ended_unix_ns: int | None
    process: ProcessIdentity
    """That works on it, or did."""

    @property
    def is_under_way(self) -> bool:
        return self.ended_unix_ns is None and self.process.is_alive()


class KeptWarning(NamedTuple):
    position: int
    """Of its run, from 0."""
    name: str
    detail: str


class ListedExperiment(NamedTuple):
    """An experiment of the record."""

    id: int
    title: str
    begun_unix_ns: int
    ended_unix_ns: int | None
    planned: int
    ended: int


class KeptPace(NamedTuple):
    """Of a step that drives clients."""

    step: int
    duration_s: float | None
    """None: counts end it."""
    unmeasured_s: float
    """Of its ramp-up and warm-up, before the first second of the measurement."""
    arrival: str | None
    """None: a closed loop, or groups of clients that each have their own."""


class KeptSecond(NamedTuple):
    groups: tuple[Interval, ...]
    """Of each group of clients."""
    machine: MachineSecond | None
    """None: not known."""


class MeasuredRates(NamedTuple):
    throughput_per_s: float | None
    latency_p99_ns: float | None


_SECOND = msgspec.json.Decoder(Interval)
_OBSERVED_MACHINE = """
SELECT json_extract(document, '$.machine_seconds') FROM observations
WHERE run_id = ? AND step = ?
"""
_LATEST = """
SELECT experiments.id, title, experiments.begun_unix_ns, experiments.ended_unix_ns,
       coalesce(own.process_id, experiments.process_id),
       coalesce(own.process_started, experiments.process_started),
       coalesce(own.boot_id, experiments.boot_id)
FROM experiments LEFT JOIN continuations AS own ON own.experiment_id = experiments.id
ORDER BY experiments.id DESC, own.position DESC LIMIT 1
"""
_MARK = """
SELECT (SELECT max(rowid) FROM stages), (SELECT max(id) FROM steps),
       (SELECT max(rowid) FROM cells), (SELECT count(*) FROM runs)
"""
_CURRENT = """
SELECT id FROM runs WHERE experiment_id = ? AND begun_unix_ns IS NOT NULL
ORDER BY begun_unix_ns DESC LIMIT 1
"""
_MACHINE = msgspec.json.Decoder(MachineSecond)
_PASSED = """
SELECT document, machine FROM seconds WHERE run_id = ? AND step = ? AND second > ?
ORDER BY second, rowid
"""
_OBSERVED = """
SELECT one.value, NULL FROM observations, json_each(document, '$.intervals') AS one
WHERE run_id = ? AND step = ? AND json_extract(one.value, '$.second') > ?
ORDER BY json_extract(one.value, '$.second'), one.id
"""


def latest(connection: Connection) -> ExperimentUnderWay | None:
    """The one that was begun last; None: the record is empty."""
    row = connection.execute(_LATEST).fetchone()
    if row is None:
        return None
    number, title, begun_unix_ns, ended_unix_ns, *process = row
    return ExperimentUnderWay(
        number, title, begun_unix_ns, ended_unix_ns, ProcessIdentity(*process)
    )


def listed(connection: Connection, most: int) -> list[ListedExperiment]:
    """The newest first."""
    question = (
        "SELECT experiments.id, title, experiments.begun_unix_ns, experiments.ended_unix_ns, "
        "count(runs.id), count(runs.ended_unix_ns) "
        "FROM experiments LEFT JOIN runs ON experiment_id = experiments.id AND superseded = 0 "
        "GROUP BY experiments.id ORDER BY experiments.id DESC LIMIT ?"
    )
    return [ListedExperiment(*row) for row in connection.execute(question, (most,))]


def mark(connection: Connection) -> Mark:
    """Of all but seconds: it costs next to nothing to ask for it."""
    return tuple(connection.execute(_MARK).fetchone())


def runs(
    connection: Connection, experiment: ExperimentUnderWay, before: Sequence[RunSummary]
) -> list[RunSummary]:
    """Those of the last experiment, in planned order, also those that count no longer. ``before``:
    as they were read the last time; of these only what changes is read, which takes a tenth of the
    time."""
    known = {run.id: run for run in before} if experiment.is_under_way else {}
    question = (
        "SELECT id, state, reason, verdict, verdict_reason, begun_unix_ns, ended_unix_ns, "
        "superseded FROM runs WHERE experiment_id = ? ORDER BY position"
    )
    found = []
    for number, state, reason, *rest in connection.execute(question, (experiment.id,)):
        run = known.get(number)
        if run is None:
            return reading.runs(connection, 1)
        verdict, verdict_reason, begun_unix_ns, ended_unix_ns, superseded = rest
        is_same = (run.state, run.verdict, run.ended_unix_ns) == (state, verdict, ended_unix_ns)
        if not is_same or run.is_superseded != bool(superseded):
            run = replace(
                run,
                state=state,
                reason=reason,
                verdict=verdict,
                verdict_reason=verdict_reason,
                begun_unix_ns=begun_unix_ns,
                ended_unix_ns=ended_unix_ns,
                is_superseded=bool(superseded),
            )
        found.append(run)
    return found


def current_run(connection: Connection, experiment_id: int) -> int | None:
    """The number of the run that was begun last."""
    row = connection.execute(_CURRENT, (experiment_id,)).fetchone()
    return None if row is None else int(row[0])


def steps(connection: Connection, run_id: int) -> list[StepRecord]:
    """Without what is kept of them."""
    columns = ", ".join(run_steps.COLUMNS)
    question = f"SELECT {columns} FROM steps WHERE run_id = ? ORDER BY position"
    return [StepRecord(*row) for row in connection.execute(question, (run_id,))]


def last_drive(connection: Connection, run_id: int) -> KeptPace | None:
    """Of the last step of the run in which clients were driven; None: there was none."""
    question = (
        "SELECT step, json_extract(document, '$.stop.duration_s'), "
        "coalesce(json_extract(document, '$.ramp_up_s'), 0) "
        "+ coalesce(json_extract(document, '$.warm_up_s'), 0), "
        "json_extract(document, '$.arrival.kind') "
        "FROM drives WHERE run_id = ? ORDER BY step DESC LIMIT 1"
    )
    row = connection.execute(question, (run_id,)).fetchone()
    return None if row is None else KeptPace(*row)


def seconds(connection: Connection, place: Place, after: int) -> tuple[list[KeptSecond], bool]:
    """Those that have passed behind that second; and whether they are all of the step, which was
    observed."""
    has_ended = connection.execute(
        "SELECT 1 FROM observations WHERE run_id = ? AND step = ?", place
    ).fetchone()
    question = _OBSERVED if has_ended else _PASSED
    found: dict[int, list[Interval]] = {}
    machine = _observed_machine(connection, place) if has_ended else {}
    for text, of_machine in connection.execute(question, (*place, after)):
        one = _SECOND.decode(text)
        found.setdefault(one.second, []).append(one)
        if of_machine is not None:
            machine[one.second] = _MACHINE.decode(of_machine)
    every = [KeptSecond(tuple(groups), machine.get(second)) for second, groups in found.items()]
    return every, has_ended is not None


def _observed_machine(connection: Connection, place: Place) -> dict[int, MachineSecond]:
    (text,) = connection.execute(_OBSERVED_MACHINE, place).fetchone()
    known = msgspec.json.decode(text or "[]", type=tuple[MachineSecond, ...])
    return {one.second: one for one in known}


def whole_seconds(connection: Connection, place: Place) -> int:
    """Of a step that was observed: how many passed before the last transactions were waited for."""
    question = (
        "SELECT (json_extract(document, '$.elapsed_ns') - json_extract(document, '$.drained_ns')) "
        "/ 1000000000 FROM observations WHERE run_id = ? AND step = ?"
    )
    row = connection.execute(question, place).fetchone()
    return 0 if row is None else max(0, row[0])


def measured(connection: Connection, experiment_id: int) -> dict[int, MeasuredRates]:
    """What each of its runs measured that has ended, by the number of the run."""
    question = (
        "SELECT run_id, json_extract(document, '$.throughput_per_s'), "
        "json_extract(document, '$.latency_p99_ns') "
        "FROM metric_values JOIN runs ON runs.id = run_id "
        "WHERE experiment_id = ? AND transaction_name = ''"
    )
    rows = connection.execute(question, (experiment_id,))
    return {int(run_id): MeasuredRates(*values) for run_id, *values in rows}


def warnings(connection: Connection, experiment_id: int) -> Sequence[KeptWarning]:
    """Of its runs that have ended, in planned order."""
    question = (
        "SELECT runs.position, name, detail FROM warnings JOIN runs ON runs.id = run_id "
        "WHERE experiment_id = ? AND superseded = 0 ORDER BY runs.position, warnings.position"
    )
    return [KeptWarning(*row) for row in connection.execute(question, (experiment_id,))]


def cells(connection: Connection, experiment_id: int) -> dict[str, tuple[str, str]]:
    """Verdict (word, reason) of each of its cells that is complete, by fingerprint."""
    question = "SELECT cell_fingerprint, verdict, verdict_reason FROM cells WHERE experiment_id = ?"
    return {
        fingerprint: (word, reason)
        for fingerprint, word, reason in connection.execute(question, (experiment_id,))
    }
