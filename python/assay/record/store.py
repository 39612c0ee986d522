"""Takes what `lab.run` hands over, stage by stage; keeps each piece in a transaction of its own.

What a call was given is on disk when it returns. That costs a flush, so `lab.run` calls between
stages, never while clients are at work. The order of calls is that of the stages::

    begin_experiment                                       every planned run is kept
        begin_run → provisioned
            begin_step → loaded → driving → observed → sampled, checked → end_step
            begin_step → …
        end_run
    end_experiment

A run may end after any of them. What a step is not asked to keep it leaves out; where no step is
begun the run has one, ``drive``.
"""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from types import TracebackType
from typing import Any, Literal, Self, TypeVar

from assay.drive.sampler import TimedSample
from assay.errors import Bug, SystemUnderTestError
from assay.experiment import Experiment
from assay.judge import Evidence
from assay.observation import Observation, Observed
from assay.observation.merging import merge
from assay.plan import Plan, PlannedRun
from assay.provision.deployment import Deployment
from assay.record import calibrations, cells, reading, run_steps
from assay.record.document import json_text, storable, without_secrets
from assay.record.file import RecordIsLocked, insert, reading_errors
from assay.record.process import this_process
from assay.record.read_only import open_for_reading
from assay.record.records import CalibrationRecord, ExperimentRecord, RunRecord, RunSummary
from assay.record.run_steps import StepState
from assay.record.writer import Change, OnMessage, Writer

T = TypeVar("T")
EndState = Literal["done", "failed", "interrupted", "refused"]


class Store:
    """The record file of a laboratory, open. One `Store` follows one experiment at a time."""

    def __init__(
        self,
        path: Path,
        *,
        must_exist: bool = False,
        waiting: OnMessage = lambda _: None,
        warning: OnMessage = lambda _: None,
    ) -> None:
        """With ``must_exist`` the file is only read. ``waiting`` and ``warning`` get a message when
        another process has locked it, and when that has ended.

        Raises `ArgumentError` where the file cannot be used, or ``must_exist`` and does not.
        """
        self._path = path
        self._writer = None if must_exist else Writer(path, waiting=waiting, warning=warning)
        self._reader = open_for_reading(path) if must_exist else None
        self._experiment_id: int | None = None
        self._run_id: int | None = None
        self._step: int | None = None
        """Position of the step under way, or else of the last one."""
        self._is_step_open = False
        self._has_named_steps = False

    @property
    def path(self) -> Path:
        """Where the records are kept: the file asked for, or a rescue file beside it."""
        return self._path if self._writer is None else self._writer.path

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Ends what is under way, and closes the file."""
        try:
            if self._run_id is not None:
                is_error = kind is not None and issubclass(kind, Exception)
                self.end_run("failed" if is_error else "interrupted", reason=str(error or ""))
            if self._experiment_id is not None:
                self.end_experiment()
        finally:
            (self._reader or self._write()).close()

    # Writing

    def begin_experiment(
        self,
        experiment: Experiment,
        plan: Plan,
        machine: Mapping[str, Any],
        *,
        workload: Mapping[str, Any],
        build: Mapping[str, Any],
    ) -> int:
        """Keeps the whole plan before anything is started; returns the experiment's number.

        ``workload``: name, title, fingerprint, report (its ``[report.*]`` tables), published.
        ``build``: versions of Assay and its engine.
        """
        process, now_ns = this_process(), time.time_ns()

        def change(connection: sqlite3.Connection) -> int:
            reading.settle_dead_runs(connection)
            experiment_id = insert(
                connection,
                "experiments",
                title=storable(experiment.title or str(workload.get("title", ""))),
                reproduces=storable(experiment.reproduces),
                workload=storable(experiment.workload),
                workload_fingerprint=str(workload.get("fingerprint", "")),
                seed=str(experiment.seed),
                begun_unix_ns=now_ns,
                experiment=json_text(experiment),
                workload_facts=json_text(workload),
                machine=json_text(machine),
                build=json_text(build),
                process_id=process.pid,
                process_started=process.started_ticks,
                boot_id=process.boot_id,
            )
            for run in plan.runs:
                _plan_run(connection, experiment_id, run)
            return experiment_id

        experiment_id = self._write().change(change)
        self._write().experiment_begins(experiment_id)
        self._experiment_id = experiment_id
        return experiment_id

    def begin_run(self, run: PlannedRun) -> int:
        """The planned run is under way: state provisioning. Returns the run's number."""
        if self._run_id is not None:
            raise Bug(f"run {self._run_id} has not ended, and another begins")
        experiment_id, now_ns = self._experiment_id, time.time_ns()

        def change(connection: sqlite3.Connection) -> int:
            found = connection.execute(
                "SELECT id FROM runs WHERE experiment_id = ? AND position = ?",
                (experiment_id, run.position),
            ).fetchone()
            if found is None:
                raise Bug(f"no run was planned at position {run.position} of this experiment")
            run_id = int(found[0])
            _enter(connection, run_id, "provisioning", now_ns)
            return run_id

        self._write().run_begins()
        self._run_id = self._write().change(change)
        self._step, self._is_step_open, self._has_named_steps = None, False, False
        return self._run_id

    def begin_step(self, position: int, do: str, name: str = "") -> None:
        """A step of the run begins; what is kept from here on is of this step. ``do`` is its kind:
        load, drive, restart, compare …"""
        if self._is_step_open:
            raise Bug(f"step {self._step} has not ended, and another begins")
        run_id, now_ns = self._run(), time.time_ns()

        def change(connection: sqlite3.Connection) -> None:
            run_steps.begin(connection, run_id, position, do, name, now_ns)
            _enter(connection, run_id, run_steps.run_state(do), now_ns)

        self._write().change(change)
        self._step, self._is_step_open, self._has_named_steps = position, True, True

    def end_step(self, state: StepState, reason: str = "") -> None:
        """The step is over; the run goes on, or ends with `end_run`."""
        run_id, position, now_ns = self._run(), self._step, time.time_ns()
        if position is None or not self._is_step_open:
            raise Bug("a step ends, and none is under way")
        self._write().change(
            lambda connection: run_steps.end(connection, run_id, position, state, reason, now_ns)
        )
        self._is_step_open = False

    def provisioned(self, deployment: Deployment) -> None:
        """What was brought up, without its password: state loading."""
        run_id, text, now_ns = self._run(), json_text(deployment.for_record()), time.time_ns()

        def change(connection: sqlite3.Connection) -> None:
            insert(connection, "sites", run_id=run_id, document=text)
            _enter(connection, run_id, "loading", now_ns)

        self._write().change(change)

    def restarted(self, deployment: Deployment) -> None:
        """The deployment was stopped and brought up again: what is kept of it is as it is now."""
        values = (json_text(deployment.for_record()), self._run())

        def change(connection: sqlite3.Connection) -> None:
            connection.execute("UPDATE sites SET document = ? WHERE run_id = ?", values)

        self._write().change(change)

    def loaded(self, dataset: Mapping[str, Any]) -> None:
        """What it was filled with (`Dataset.for_record`): state driving."""
        self._keep("datasets", json_text(dataset), state="driving")

    def driving(self, document: Mapping[str, Any]) -> None:
        """The drive document: keeps the texts, leaves the deployment out. State driving, also where
        nothing was loaded."""
        rest = {key: value for key, value in document.items() if key not in {"site", "scripts"}}
        text, scripts = json_text(rest), tuple(document.get("scripts", ()))
        now_ns = time.time_ns()

        def change(connection: sqlite3.Connection, run_id: int, step: int) -> None:
            insert(connection, "drives", run_id=run_id, step=step, document=text)
            (state,) = connection.execute(
                "SELECT state FROM runs WHERE id = ?", (run_id,)
            ).fetchone()
            if state != "driving":
                _enter(connection, run_id, "driving", now_ns)
            for position, script in enumerate(scripts):
                insert(
                    connection,
                    "scripts",
                    run_id=run_id,
                    step=step,
                    position=position,
                    name=script["name"],
                    path=storable(script["path"]),
                    text=storable(script["text"]),
                    weight=script.get("weight", 1),
                )

        self._change_step(change)

    def observed(self, observation: Observed) -> None:
        """What was measured: state checking."""
        self._keep("observations", json_text(observation.document), state="checking", agent=0)

    def observed_by_agents(self, parts: Sequence[Observation]) -> Observation:
        """The same of a step whose clients were driven by several machines: keeps what each of them
        observed, and gives all of it together, which is kept as the step's."""
        whole = merge(parts)
        for agent, one in enumerate(parts, 1):
            self._keep("observations", json_text(one.document), agent=agent)
        self.observed(whole)
        return whole

    def amended(self, observation: Observed) -> None:
        """The run's last observation, with what a later step says of it."""
        values = (json_text(observation.document), self._run())

        def change(connection: sqlite3.Connection) -> None:
            connection.execute(
                "UPDATE observations SET document = ?1 WHERE run_id = ?2 AND agent = 0 AND step = "
                "(SELECT max(step) FROM observations WHERE run_id = ?2 AND agent = 0)",
                values,
            )

        self._write().change(change)

    def sampled(self, samples: Iterable[TimedSample]) -> None:
        """The server's processes while the clients were at work."""
        taken = tuple(samples)

        def change(connection: sqlite3.Connection, run_id: int, step: int) -> None:
            for one in taken:
                insert(
                    connection,
                    "samples",
                    run_id=run_id,
                    step=step,
                    at_s=one.at_s,
                    **asdict(one.sample),
                    device_read_bytes=one.device_read_bytes,
                    device_written_bytes=one.device_written_bytes,
                )

        self._change_step(change)

    def checked(self, checks: Sequence[Mapping[str, Any]]) -> None:
        """Whether the answers were right: per check id, title, expected, found, ok, note."""
        self._keep("checks", json_text(list(checks)))

    def evidence(self, state: EndState, reason: str | None = None) -> Evidence:
        """What the run under way is judged by, if that is how it ends."""
        run_id = self._run()
        found = self._read(lambda connection: reading.run(connection, run_id))
        return replace(found.evidence, state=state, reason=reason or "")

    def end_run(
        self,
        state: EndState,
        reason: str | None = None,
        verdict: tuple[str, str] = ("", ""),
        warnings: Iterable[tuple[str, str]] = (),
    ) -> None:
        """The run is over. ``verdict``: (word, reason), and invalid where the run failed or was
        interrupted; ``warnings``: (name, detail)."""
        run_id, found, now_ns = self._run(), tuple(warnings), time.time_ns()
        step = self._step if self._is_step_open else None
        if state in ("failed", "interrupted") and verdict[0] != "invalid":
            verdict = ("invalid", storable(without_secrets(reason or state)))

        def change(connection: sqlite3.Connection) -> None:
            for position, (name, detail) in enumerate(found):
                insert(
                    connection,
                    "warnings",
                    run_id=run_id,
                    position=position,
                    name=name,
                    detail=storable(detail),
                )
            if step is not None:
                run_steps.end(connection, run_id, step, state, reason or "", now_ns)
            _enter(connection, run_id, state, now_ns)
            connection.execute(
                "UPDATE runs SET reason = ?, verdict = ?, verdict_reason = ?, ended_unix_ns = ? "
                "WHERE id = ?",
                (storable(without_secrets(reason or "")), *verdict, now_ns, run_id),
            )
            cells.settle(connection, run_id)

        self._write().change(change)
        self._write().run_ended(run_id)
        self._run_id, self._step, self._is_step_open = None, None, False

    def end_experiment(self) -> None:
        """No more runs of this experiment will begin."""
        values = (time.time_ns(), self._experiment_id)

        def change(connection: sqlite3.Connection) -> None:
            connection.execute("UPDATE experiments SET ended_unix_ns = ? WHERE id = ?", values)

        self._write().change(change)
        self._experiment_id = None

    def calibrated(
        self, calibration: CalibrationRecord, machine: Mapping[str, Any], build: Mapping[str, Any]
    ) -> None:
        """What this machine's client can do at most; ``build`` as in `begin_experiment`."""
        self._write().change(
            lambda connection: calibrations.keep(connection, calibration, machine, build)
        )

    # Reading

    def runs(self) -> list[RunSummary]:
        """Every run of every experiment, newest experiment first, in planned order within one."""
        return self._read(reading.runs)

    def run(self, run_id: int) -> RunRecord:
        """All that is kept of one run; `ArgumentError` where there is none of that number."""
        return self._read(lambda connection: reading.run(connection, run_id))

    def experiment(self, experiment_id: int) -> ExperimentRecord:
        """One experiment with all its runs."""
        return self._read(lambda one: reading.experiment(one, self.path, experiment_id))

    def latest(self) -> ExperimentRecord:
        """The experiment that was begun last."""
        return self.find("latest")

    def find(self, reference: str) -> ExperimentRecord:
        """``latest``, ``3``, ``experiment 3``: that experiment; ``run 17``: with that run only."""
        return self._read(lambda connection: reading.find(connection, self.path, reference))

    def _write(self) -> Writer:
        if self._writer is None:
            raise Bug(f"{self.path} is open to be read, and something is written")
        return self._writer

    def _read(self, question: Change[T]) -> T:
        if self._reader is None:
            return self._write().read(question)
        try:
            with reading_errors(self.path):
                return question(self._reader)
        except RecordIsLocked as error:
            raise SystemUnderTestError(
                f"{self.path} is locked by another process", hint="try again when it has ended"
            ) from error

    def _run(self) -> int:
        if self._run_id is None:
            raise Bug("a stage reports to the record, and no run is under way")
        return self._run_id

    def _change_step(self, change: Callable[[sqlite3.Connection, int, int], None]) -> None:
        """A change of the step under way, or of the last one: it is given the run and the step's
        position. A step that was not begun begins in the same transaction."""
        run_id, now_ns, is_new = self._run(), time.time_ns(), self._step is None
        step = self._step or 0
        if is_new:
            self._step, self._is_step_open = step, True

        def whole(connection: sqlite3.Connection) -> None:
            if is_new:
                run_steps.begin(connection, run_id, step, "drive", "", now_ns)
            change(connection, run_id, step)

        self._write().change(whole)

    def _keep(self, table: str, document: str, *, state: str | None = None, **key: int) -> None:
        """Adds a row of the step under way. A run that names its steps has the states of these."""
        now_ns = time.time_ns()
        entered = None if self._has_named_steps else state

        def change(connection: sqlite3.Connection, run_id: int, step: int) -> None:
            insert(connection, table, run_id=run_id, step=step, document=document, **key)
            if entered is not None:
                _enter(connection, run_id, entered, now_ns)

        self._change_step(change)


def _plan_run(connection: sqlite3.Connection, experiment_id: int, run: PlannedRun) -> None:
    cell = run.cell
    insert(
        connection,
        "runs",
        experiment_id=experiment_id,
        position=run.position,
        test=cell.test,
        system=cell.system.name,
        system_label=storable(without_secrets(cell.system.label)),
        storage=storable(cell.storage_name),
        clients=cell.clients,
        threads=cell.threads,
        protocol=cell.protocol,
        parameters=json_text(cell.parameters),
        repetition=run.repetition,
        seed=str(run.seed),
        cell=json_text(cell),
        cell_fingerprint=cell.fingerprint,
    )


def _enter(connection: sqlite3.Connection, run_id: int, state: str, now_ns: int) -> None:
    """Adds the stage, and sets the run's state to it."""
    insert(connection, "stages", run_id=run_id, state=state, begun_unix_ns=now_ns)
    connection.execute(
        "UPDATE runs SET state = ?, begun_unix_ns = coalesce(begun_unix_ns, ?) WHERE id = ?",
        (state, now_ns, run_id),
    )
