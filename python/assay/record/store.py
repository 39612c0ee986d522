"""Takes the results of each stage from `lab.run`; writes each in its own transaction.

The arguments of a call are on disk when it returns. That costs a flush, so `lab.run` calls between
stages, never while clients are running; then, only their seconds are kept, as events
(`assay.record.runs.run_steps`). The calls are in the order of the stages::

    begin_experiment, or continue_experiment               every planned run is kept
        begin_run → probed → provisioned → existing_data
            begin_step → loaded → driving → observed → sampled, accounted, checked → end_step
            begin_step → …
        existing_data → end_run
    end_experiment

A run may end after any of them. A step may leave out any of its calls; a run without `begin_step`
has a single step, ``drive``.

The file is long because it has a method for each of these calls.
"""

from __future__ import annotations

import json
import sqlite3
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Concatenate, ParamSpec, Self, TypeVar

from msgspec.structs import replace

from assay.contracts.deployment import Deployment
from assay.contracts.events import ClientsAtWork, Event, SecondMeasured
from assay.contracts.observation import Observed
from assay.contracts.recorded import Build, Command, Machine
from assay.contracts.storages.abilities import AccountedSecond
from assay.drive.sampling import TimedSample
from assay.errors import AssayError, Bug
from assay.experiment import Experiment
from assay.judge import RunWarning, Verdict
from assay.judge.agreement import ComparedAnswer, Dispute
from assay.judge.ended_runs import Judged
from assay.judge.result_checks import Check
from assay.judge.run import CalibrationRecord, Run
from assay.load.dataset import Dataset
from assay.load.existing_data import ExistingTable
from assay.plan import Plan, PlannedRun
from assay.plan.values import Patterns
from assay.probe.measure import Probe
from assay.provision.machine.process_table import ProcessIdentity
from assay.record import continuing, planned_runs, run_so_far
from assay.record.continuing import NO_VERSIONS, Continued
from assay.record.file import kept_texts
from assay.record.file.kept_texts import NO_TEXTS, Texts, json_text
from assay.record.file.record_file import insert, value
from assay.record.planned_runs import ExperimentFacts, Taken
from assay.record.reader import Reader, RecordQuestions
from assay.record.runs import run_rows, run_steps, typed
from assay.record.runs.records import EndState
from assay.record.runs.run_steps import StepState
from assay.record.writer import Change, OnMessage, Writer

T = TypeVar("T")
P = ParamSpec("P")


class Store(RecordQuestions):
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
        self._reader = Reader(path) if must_exist else None
        self._experiment_id: int | None = None
        self._continuation = 0
        self._run_id: int | None = None
        self._run_so_far: Run | None = None
        self._calibrated: Sequence[CalibrationRecord] = ()
        """Before it, on this machine with this build."""
        self._machine = Machine()
        """Of this process."""
        self._step: int | None = None
        """Position of the current step, or of the last one."""
        self._is_step_open = False
        self._has_named_steps = False
        self._seconds: run_steps.LiveProgress | None = None
        """Of the step that is under way."""

    @property
    def path(self) -> Path:
        """The file that is written: the given one, or a rescue file beside it."""
        return self._path if self._writer is None else self._writer.path

    def __enter__(self) -> Self:
        return self

    def __exit__(self, _kind: Any, error: BaseException | None, _trace: Any) -> None:
        """Ends the current run and experiment, and closes the file."""
        self._end_seconds()
        try:
            if self._run_id is not None:
                self.end_run(
                    "failed" if isinstance(error, Exception) else "interrupted",
                    reason=str(error or ""),
                    exit_status=error.exit_code if isinstance(error, AssayError) else None,
                )
            if self._experiment_id is not None:
                self._end_experiment("ended_unix_ns = ?")
        finally:
            (self._reader or self._write()).close()

    def begin_experiment(
        self,
        experiment: Experiment,
        plan: Plan,
        facts: ExperimentFacts,
        command: Command | None = None,
        only: Patterns = (),
    ) -> int:
        """Keeps the whole plan before anything is started; returns the experiment's number.

        ``command``: the experiment file and the options beside it, by which `continue_experiment`
        finds it again. ``only``: by which its runs are chosen.
        """
        process, now_ns = ProcessIdentity.own(), time.time_ns()
        experiment_id = self._change(
            planned_runs.keep_plan, experiment, plan, facts, process, now_ns, command, only
        )
        self._machine = facts.machine
        self._begins(experiment_id, 0)
        return experiment_id

    def continue_experiment(
        self,
        plan: Plan,
        chosen: Iterable[PlannedRun],
        command: Command,
        facts: ExperimentFacts,
        versions: Mapping[str, str] = NO_VERSIONS,
        only: Patterns = (),
    ) -> Continued | None:
        """Continues the command's last experiment in this process, if it is unfinished: see
        `assay.record.continuing`."""
        process, now_ns, runs = ProcessIdentity.own(), time.time_ns(), tuple(chosen)
        found = self._change(
            continuing.go_on, plan, runs, command, facts, process, now_ns, versions, only
        )
        if found is not None:
            self._machine = facts.machine
            self._begins(found.experiment_id, found.position)
        return found

    def _begins(self, experiment_id: int, continuation: int) -> None:
        self._write().experiment_begins(experiment_id)
        self._experiment_id, self._continuation = experiment_id, continuation

    def begin_run(self, run: PlannedRun) -> int:
        """The planned run is under way: state provisioning. Returns the run's number."""
        if self._run_id is not None:
            raise Bug(f"run {self._run_id} has not ended, and another begins")
        experiment_id, now_ns = self._experiment_id, time.time_ns()
        continuation = self._continuation

        def change(connection: sqlite3.Connection) -> int:
            found = connection.execute(
                "SELECT id FROM runs WHERE experiment_id = ? AND position = ?",
                (experiment_id, run.position),
            ).fetchone()
            if found is None:
                raise Bug(f"no run was planned at position {run.position} of this experiment")
            run_id = int(found[0])
            connection.execute(
                "UPDATE runs SET continuation = ? WHERE id = ?", (continuation, run_id)
            )
            planned_runs.enter_state(connection, run_id, "provisioning", now_ns)
            return run_id

        self._run_id = self._write().change(change)
        self._step, self._is_step_open, self._has_named_steps = None, False, False
        self._calibrated, probed = self._read(
            lambda connection: (
                typed.calibrations_of_experiment(connection, self._experiment()),
                run_rows.probes_of_experiment(connection, self._experiment()),
            )
        )
        begun = run_so_far.begun(self._run_id, self._experiment(), run, self._machine)
        probe = run_rows.probe_of_run(probed, run.cell.storage_name, None)
        self._run_so_far = replace(begun, probe=probe)
        return self._run_id

    def begin_step(self, position: int, do: str, name: str = "") -> None:
        """A step of the run begins, to which the following calls belong. ``do`` is its kind: load,
        drive, restart, compare …"""
        if self._is_step_open:
            raise Bug(f"step {self._step} has not ended, and another begins")
        run_id, now_ns = self._run(), time.time_ns()

        def change(connection: sqlite3.Connection) -> None:
            run_steps.begin_step(connection, run_id, position, do, name, now_ns)
            planned_runs.enter_state(connection, run_id, run_steps.run_state(do), now_ns)

        self._write().change(change)
        self._with_step(position, do, name)
        self._step, self._is_step_open, self._has_named_steps = position, True, True

    def end_step(self, state: StepState, reason: str = "") -> None:
        """The step has ended; the run continues, or ends with `end_run`."""
        run_id, position, now_ns = self._run(), self._step, time.time_ns()
        if position is None or not self._is_step_open:
            raise Bug("a step ends, and none is under way")
        self._change(run_steps.end_step, run_id, position, state, reason, now_ns)
        self._is_step_open = False

    def probed(self, probe: Probe) -> None:
        """Writes what the storage of the current run did in a probe."""
        run_id = self._run()
        self._run_so_far = replace(self._so_far(), probe=probe)
        self._change(run_rows.keep_probe, run_id, probe)

    def provisioned(self, deployment: Deployment) -> None:
        """Writes the deployment, without its password: state loading."""
        run_id, text, now_ns = self._run(), self._deployed(deployment), time.time_ns()

        def change(connection: sqlite3.Connection) -> None:
            insert(connection, "deployments", run_id=run_id, document=text)
            planned_runs.enter_state(connection, run_id, "loading", now_ns)

        self._write().change(change)

    def deployment_changed(self, deployment: Deployment) -> None:
        """Replaces the deployment: after a restart, or where a run showed more of it."""
        values = (self._deployed(deployment), self._run())

        def change(connection: sqlite3.Connection) -> None:
            connection.execute("UPDATE deployments SET document = ? WHERE run_id = ?", values)

        self._write().change(change)

    def _deployed(self, deployment: Deployment) -> str:
        """The document that the record keeps."""
        text = json_text(deployment.for_record())
        kept = typed.deployment(json.loads(text), "deployment")
        self._run_so_far = replace(self._so_far(), deployment=kept)
        return text

    def existing_data(self, tables: Sequence[ExistingTable], *, is_after: bool) -> None:
        """Writes what the tables of a server hold that Assay did not fill."""
        run_id = self._run()
        self._run_so_far = run_so_far.existed(self._so_far(), tables, is_after=is_after)
        self._change(run_rows.keep_existing_tables, run_id, tables, is_after=is_after)

    def loaded(self, dataset: Dataset) -> None:
        """Writes the loaded data set (`Dataset.for_record`): state driving."""
        text = json_text(dataset.for_record())
        self._keep("datasets", text, state="driving")
        self._add(dataset=Dataset.of_record(json.loads(text), "data set"))

    def driving(self, document: Mapping[str, Any]) -> None:
        """Writes the drive document and its scripts, without the deployment. State driving, also if
        nothing was loaded."""
        rest = {
            key: value for key, value in document.items() if key not in {"deployment", "scripts"}
        }
        text, scripts = json_text(rest), tuple(document.get("scripts", ()))
        now_ns = time.time_ns()

        def change(connection: sqlite3.Connection, run_id: int, step: int) -> None:
            run_steps.keep_drive(connection, run_id, step, text, scripts)
            state = value(connection, "SELECT state FROM runs WHERE id = ?", run_id)
            if state != "driving":
                planned_runs.enter_state(connection, run_id, "driving", now_ns)

        self._change_step(change)
        self._add(drive=rest)

    def heard(self, event: Event) -> None:
        """Keeps each second of a measurement at once, and what clients and load generators have
        done so far, without waiting for it. A sink of the events of the experiment."""
        if self._run_id is None:
            return
        if isinstance(event, SecondMeasured):
            self._live(self._run_id).add(event.groups, event.machine)
        elif isinstance(event, ClientsAtWork):
            report = event.report
            if report.generators or report.so_far is not None:
                live = self._live(self._run_id)
                live.add_at_work(report.elapsed_s, report.generators, report.so_far)

    def _live(self, run_id: int) -> run_steps.LiveProgress:
        """Of the step that is under way."""
        if self._seconds is None:
            self._seconds = run_steps.LiveProgress(self.path, run_id, self._step or 0)
        return self._seconds

    def observed(self, observation: Observed) -> None:
        """What was measured, in place of its single seconds: state checking."""
        self._end_seconds()
        document, texts = kept_texts.texts_apart(json_text(observation.document))
        self._keep("observations", document, texts, state="checking")
        self._add(observation=observation)

    def amended(self, observation: Observed) -> None:
        """The run's last observation of clients, with what a later step says of it."""
        document, texts = kept_texts.texts_apart(json_text(observation.document))
        values = (document, self._run())
        self._run_so_far = run_so_far.amended(self._so_far(), observation)

        def change(connection: sqlite3.Connection) -> None:
            kept_texts.keep_texts(connection, texts)
            connection.execute(
                "UPDATE observations SET document = ?1 WHERE run_id = ?2 AND step = "
                # A report beside it, of a later step, has a kind.
                "(SELECT max(step) FROM observations WHERE run_id = ?2 "
                "AND json_extract(document, '$.kind') IS NULL)",
                values,
            )

        self._write().change(change)

    def sampled(self, samples: Iterable[TimedSample]) -> None:
        """Writes the samples of the server's processes."""
        taken = tuple(samples)
        self._change_step(
            lambda connection, run_id, step: run_rows.keep_samples(connection, run_id, step, taken)
        )

    def accounted(self, seconds: Sequence[AccountedSecond]) -> None:
        """Writes what a storage with an account of its own says of the measurement."""
        if seconds:
            self._change_step(
                lambda connection, run_id, step: run_rows.keep_storage_requests(
                    connection, run_id, step, seconds
                )
            )

    def checked(self, checks: Sequence[Check]) -> None:
        """Writes the result checks: id, title, expected, found, ok and note of each."""
        self._keep("checks", json_text(list(checks)))
        self._add(checks=tuple(checks))

    def compared(self, answers: Sequence[ComparedAnswer]) -> None:
        """Writes what the run answered of the questions that all systems are asked alike."""
        text = json_text([list(one) for one in answers])
        self._change(insert, "compared_answers", run_id=self._run(), document=text)

    def run_so_far(self, state: EndState, reason: str | None = None) -> Run:
        """The current run as it is judged if it ends in this state: of the values that were handed
        over, none is read back."""
        return run_so_far.whole(self._so_far(), self._calibrated, state, reason or "")

    def end_run(
        self,
        state: EndState,
        reason: str | None = None,
        verdict: tuple[str, str] = ("", ""),
        warnings: Iterable[tuple[str, str]] = (),
        exit_status: int | None = None,
        cells: Judged = planned_runs.NO_CELL_VERDICT,
    ) -> None:
        """The run has ended. ``verdict``: (word, reason), invalid if the run failed or was
        interrupted; ``warnings``: (name, detail); ``exit_status``: see
        `assay.record.runs.records`, None where it follows from the state and the observation;
        ``cells``: the verdict of its cell, if that is complete."""
        self._end_seconds()
        run_id, found, now_ns = self._run(), tuple(warnings), time.time_ns()
        experiment_id = self._experiment()
        step = self._step if self._is_step_open else None
        if state in ("failed", "interrupted") and verdict[0] != "invalid":
            verdict = ("invalid", reason or state)
        words = {"verdict": verdict[0], "verdict_reason": verdict[1]}
        ended = replace(
            self.run_so_far(state, reason),
            warnings=tuple(RunWarning(*one) for one in found),
            **words,
        )
        # Here: packages that bring metrics may import the record.
        from assay.record.metrics import catalogue

        measured = [
            {"transaction_name": transaction, "document": json_text(values)}
            for transaction, values in catalogue.kept_values(ended).items()
            if values
        ]

        def change(connection: sqlite3.Connection) -> None:
            if step is not None:
                run_steps.end_step(connection, run_id, step, state, reason or "", now_ns)
            planned_runs.end_run(
                connection, run_id, state, reason or "", verdict, found, exit_status, now_ns
            )
            planned_runs.keep_cell_verdicts(connection, experiment_id, cells)
            for row in measured:
                insert(connection, "metric_values", run_id=run_id, **row)

        self._write().change(change)
        self._run_id, self._step, self._is_step_open = None, None, False
        self._run_so_far = None

    def disputed(self, position: int, dispute: Dispute, verdict: Verdict, cells: Judged) -> None:
        """Another run was answered otherwise: ``verdict`` is that of the run at that position,
        which has ended, ``cells`` that of its cell, if that is complete; its checks are wrong."""
        experiment_id = self._experiment()

        def change(connection: sqlite3.Connection) -> None:
            run_id = planned_runs.run_at(connection, experiment_id, position)
            planned_runs.keep_dispute(connection, run_id, dispute, verdict)
            planned_runs.keep_cell_verdicts(connection, experiment_id, cells)

        self._write().change(change)

    def ended_before(self, positions: Iterable[int]) -> dict[int, Run]:
        """The runs at these positions, which ended in a process before; they are read once, when
        the experiment goes on."""
        experiment_id, asked = self._experiment(), tuple(positions)
        return self._read(
            lambda connection: planned_runs.ended_repetitions(connection, experiment_id, asked)
        )

    def judged(self, cells: Judged) -> None:
        """Writes the verdicts of cells that are complete."""
        self._change(planned_runs.keep_cell_verdicts, self._experiment(), cells)

    def taken(self, position: int) -> Taken:
        """How long the run at that position, which has ended, took."""
        experiment_id = self._experiment()
        return self._read(
            lambda connection: planned_runs.taken_repetitions(connection, experiment_id, position)
        )

    def plan_again(self, again: Callable[[int], PlannedRun]) -> PlannedRun:
        """Plans one more run. ``again``: gets its position and gives the run."""
        experiment_id = self._experiment()
        run = self._read(
            lambda connection: again(planned_runs.next_position(connection, experiment_id))
        )
        numbers: list[int] = []

        def change(connection: sqlite3.Connection) -> None:
            # In the copy of the experiment it has the number that the record has given it.
            numbers.append(planned_runs.plan_run(connection, experiment_id, run, *numbers))

        self._write().change(change)
        return run

    def spare(self, positions: Iterable[int], cells: Judged = planned_runs.NO_CELL_VERDICT) -> None:
        """These planned runs are not needed: they are no part of the experiment any more.
        ``cells``: the verdicts of those that are complete by that."""
        experiment_id, found = self._experiment(), tuple(positions)

        def change(connection: sqlite3.Connection) -> None:
            planned_runs.spare_repetitions(connection, experiment_id, found)
            planned_runs.keep_cell_verdicts(connection, experiment_id, cells)

        self._write().change(change)

    def end_experiment(self) -> None:
        """No more runs of this experiment will begin; those of ``--only`` have ended."""
        self._end_experiment("ended_unix_ns = ?, command = json_remove(command, '$.only')")

    def _end_experiment(self, changes: str) -> None:
        values = (time.time_ns(), self._experiment_id)

        def change(connection: sqlite3.Connection) -> None:
            connection.execute(f"UPDATE experiments SET {changes} WHERE id = ?", values)

        self._write().change(change)
        self._write().experiment_ended()
        self._experiment_id = None

    def calibrated(self, calibration: CalibrationRecord, machine: Machine, build: Build) -> None:
        """Writes a calibration of this machine's client; ``build``: what measured it."""
        self._change(typed.keep_calibration, calibration, machine, build)

    def _change(
        self,
        change: Callable[Concatenate[sqlite3.Connection, P], T],
        *of: P.args,
        **named: P.kwargs,
    ) -> T:
        return self._write().change(lambda connection: change(connection, *of, **named))

    def _write(self) -> Writer:
        if self._writer is None:
            raise Bug(f"{self.path} is open for reading, and cannot be written")
        return self._writer

    def _read(self, question: Change[T]) -> T:
        if self._reader is None:
            return self._write().read(question)
        return self._reader.read(question)

    def _experiment(self) -> int:
        if self._experiment_id is None:
            raise Bug("an experiment is written to, and none has begun")
        return self._experiment_id

    def run_id(self) -> int:
        """The number of the run that is under way."""
        return self._run()

    def _run(self) -> int:
        if self._run_id is None:
            raise Bug("a stage writes to the record, and no run has begun")
        return self._run_id

    def _so_far(self) -> Run:
        if self._run_so_far is None:
            raise Bug("a stage writes to the record, and no run has begun")
        return self._run_so_far

    def _with_step(self, position: int, do: str, name: str) -> None:
        self._run_so_far = run_so_far.with_step(
            self._so_far(), position, do, name, run_steps.RUNNING
        )

    def _add(self, **values: Any) -> None:
        """What the current step found."""
        self._run_so_far = run_so_far.added(self._so_far(), **values)

    def _end_seconds(self) -> None:
        if self._seconds is not None:
            self._seconds.end()
            self._seconds = None

    def _change_step(self, change: Callable[[sqlite3.Connection, int, int], None]) -> None:
        """Applies a change to the current or the last step; ``change`` gets the run and the step's
        position. If no step has begun, one begins in the same transaction."""
        run_id, now_ns, is_new = self._run(), time.time_ns(), self._step is None
        step = self._step or 0
        if is_new:
            self._step, self._is_step_open = step, True
            self._with_step(step, "drive", "")

        def whole(connection: sqlite3.Connection) -> None:
            if is_new:
                run_steps.begin_step(connection, run_id, step, "drive", "", now_ns)
            change(connection, run_id, step)

        self._write().change(whole)

    def _keep(
        self, table: str, document: str, texts: Texts = NO_TEXTS, *, state: str | None = None
    ) -> None:
        """Adds a row to the current step, and the texts of its document that stand apart. ``state``
        is ignored if the run has named steps, whose kinds decide its state."""
        now_ns = time.time_ns()
        entered = None if self._has_named_steps else state

        def change(connection: sqlite3.Connection, run_id: int, step: int) -> None:
            kept_texts.keep_texts(connection, texts)
            if table == "observations":
                run_steps.forget_live_progress(connection, run_id, step)
            insert(connection, table, run_id=run_id, step=step, document=document)
            if entered is not None:
                planned_runs.enter_state(connection, run_id, entered, now_ns)

        self._change_step(change)
