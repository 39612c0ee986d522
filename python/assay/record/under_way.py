"""Takes a record that another process may write; returns how far its last experiment is, the
seconds of a step as they pass, its load generators, and how long earlier runs took. No process
waits for it."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable, Mapping, Sequence
from statistics import fmean
from typing import NamedTuple

import msgspec
from msgspec.structs import replace

from assay.contracts.engine import ClientsSoFar
from assay.contracts.observation import GeneratorReport, Interval, MachineSecond, clients_left
from assay.contracts.recorded import Command
from assay.judge.run import RunSummary, StepRecord
from assay.plan import Plan, PlannedRun
from assay.plan.forecast import CellTimes
from assay.provision.machine.process_table import ProcessIdentity
from assay.record import continuing
from assay.record.file.kept_texts import json_text, storable
from assay.record.file.record_file import SqlValue, value
from assay.record.runs import reading, run_steps
from assay.text.secrets import without_secrets

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
    text = value(connection, _OBSERVED_MACHINE, *place)
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


_AT_WORK = """
SELECT 1, elapsed_ns / 1e9, UNMEASURED, work.document
FROM generators_at_work AS work LEFT JOIN drives USING (run_id, step)
WHERE run_id = ? AND step = ?
"""
_OBSERVED_GENERATORS = """
SELECT 0, json_extract(seen.document, '$.elapsed_ns') / 1e9, UNMEASURED,
       seen.document -> '$.generators'
FROM observations AS seen LEFT JOIN drives USING (run_id, step)
WHERE run_id = ? AND step = ?
"""
_CLIENTS = "SELECT clients FROM generators_at_work WHERE run_id = ? AND step = ?"
_UNMEASURED = (
    "coalesce(json_extract(drives.document, '$.ramp_up_s'), 0) "
    "+ coalesce(json_extract(drives.document, '$.warm_up_s'), 0)"
)


class GeneratorsOfStep(msgspec.Struct, frozen=True):
    are_at_work: bool
    """The reports are of what they have done so far; lag and how busy they were, of the last
    second."""
    elapsed_s: float
    """Of the measurement."""
    unmeasured_s: float
    """Of the ramp-up and warm-up before it, which times since clients began include."""
    reports: tuple[GeneratorReport, ...]
    clients_left: str
    """As `assay.contracts.observation.clients_left`."""


def generators_of_step(
    connection: Connection, place: Place, *, has_ended: bool
) -> GeneratorsOfStep | None:
    """None where one process drives all clients. ``has_ended``: it was observed."""
    question = (_OBSERVED_GENERATORS if has_ended else _AT_WORK).replace("UNMEASURED", _UNMEASURED)
    row = connection.execute(question, place).fetchone()
    if row is None or row[3] is None:
        return None
    are_at_work, elapsed_s, unmeasured_s, text = row
    reports = msgspec.json.decode(text, type=tuple[GeneratorReport, ...])
    measured_s = max(0.0, elapsed_s - unmeasured_s) if are_at_work else elapsed_s
    if not reports:
        return None
    return GeneratorsOfStep(
        bool(are_at_work), measured_s, unmeasured_s, reports, clients_left(reports)
    )


def clients_so_far(connection: Connection, place: Place) -> ClientsSoFar | None:
    """None where nothing is known yet, or the step has ended."""
    row = connection.execute(_CLIENTS, place).fetchone()
    return None if row is None else msgspec.json.decode(row[0], type=ClientsSoFar | None)


_LATEST_OF_EACH = 5
"""So many earlier runs count for the size of data."""


class UnfinishedExperiment(NamedTuple):
    """The experiment that `assay run` would continue."""

    experiment_id: int
    states: Mapping[int, str]
    """Position in the plan of each run that has ended → its state."""
    under_way_in: int | None
    """The process that is at work on it, in which case `assay run` refuses; None: there is none."""
    runs: Mapping[int, bool]
    """Number of each of its runs → whether it has ended."""


_TIMES = """
WITH done AS (
  SELECT id, experiment_id, repetition = 1 AS is_first, begun_unix_ns, ended_unix_ns
  FROM runs WHERE cell_fingerprint = ? AND state = 'done' AND superseded = 0)
SELECT is_first, ended_unix_ns - begun_unix_ns,
       ended_unix_ns - coalesce(
         (SELECT min(begun_unix_ns) FROM stages WHERE run_id = one.id AND state = 'driving'),
         begun_unix_ns)
FROM done AS one
WHERE experiment_id = (SELECT max(experiment_id) FROM done WHERE is_first = one.is_first)
"""


def times_taken(connection: sqlite3.Connection, cells: Iterable[str]) -> dict[str, CellTimes]:
    """How long the runs of a cell took, by its fingerprint: first repetitions and later ones, each
    in the last experiment that has done one. Cells that were never done are left out."""
    found = {}
    for cell in dict.fromkeys(cells):
        runs = connection.execute(_TIMES, (cell,)).fetchall()
        if runs:
            first_s = [elapsed_ns / 1e9 for is_first, elapsed_ns, _ in runs if is_first]
            later_s = [elapsed_ns / 1e9 for is_first, elapsed_ns, _ in runs if not is_first]
            driven_s = [
                driven_ns / 1e9 for is_first, _, driven_ns in runs if is_first or not first_s
            ]
            found[cell] = CellTimes(_mean(first_s), _mean(later_s), fmean(driven_s))
    return found


def _mean(values: Sequence[float]) -> float | None:
    return fmean(values) if values else None


_SIZES = """
SELECT json_extract(cell, '$.system.options'),
       json_extract(document, '$.size_on_disk_bytes') AS size_bytes
FROM runs JOIN experiments ON experiments.id = experiment_id
          JOIN datasets ON datasets.run_id = runs.id
WHERE test = ? AND system = ? AND runs.parameters = ? AND experiments.workload = ?
      AND size_bytes IS NOT NULL
ORDER BY runs.id DESC LIMIT ?
"""


def sizes_on_disk(connection: sqlite3.Connection, runs: Iterable[PlannedRun]) -> dict[int, int]:
    """Bytes of the data that the same system was filled with for the same test and parameters, on
    any storage and at most; by the position of the run. Those that were never loaded are left
    out."""
    asked: dict[str, int | None] = {}
    found = {}
    for run in runs:
        cell = run.cell
        place = (cell.test, cell.system.name, json_text(cell.parameters), storable(cell.workload))
        options = dict(cell.system.options)
        key = json_text([place, options])
        if key not in asked:
            rows = connection.execute(_SIZES, (*place, _LATEST_OF_EACH)).fetchall()
            known = [size for given, size in rows if json.loads(given or "{}") == options]
            asked[key] = max(known, default=None)
        size_bytes = asked[key]
        if size_bytes is not None:
            found[run.position] = size_bytes
    return found


def data_bytes(
    connection: sqlite3.Connection, workload: str, run: PlannedRun, input_fingerprint: str
) -> int | None:
    """What the data of the run's test took on disk in earlier runs, at most, on any storage: with
    the same workload and input, system and parameters. None: there are none."""
    cell = run.cell
    rows = connection.execute(
        "SELECT json_extract(datasets.document, '$.size_on_disk_bytes'), "
        "json_extract(datasets.document, '$.fingerprint') "
        "FROM runs JOIN experiments ON experiments.id = runs.experiment_id "
        "JOIN datasets ON datasets.run_id = runs.id "
        "WHERE experiments.workload_fingerprint = ? AND runs.test = ? AND runs.system_label = ? "
        "AND runs.parameters = ?",
        (
            workload,
            cell.test,
            storable(without_secrets(cell.system_label)),
            json_text(cell.parameters),
        ),
    )
    sizes = [
        int(size_bytes)
        for size_bytes, loaded in rows
        if size_bytes is not None and (loaded in input_fingerprint or not input_fingerprint)
    ]
    return max(sizes, default=None)


def unfinished_experiment(
    connection: sqlite3.Connection, command: Command, plan: Plan
) -> UnfinishedExperiment | None:
    """None where `assay run` would begin anew. Runs are found by their cells: whether a script, the
    data or a version has changed is seen when they are executed."""
    found = continuing.find(connection, plan, (), command)
    if found is None or not (found.is_under_way or found.is_of_use):
        return None
    return UnfinishedExperiment(
        found.experiment_id,
        {place: old.run.state for place, old in found.kept.items()},
        found.before.identity.pid if found.is_under_way else None,
        {old.run.id: old.is_ended for old in found.runs.runs},
    )
