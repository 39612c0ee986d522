"""Takes what `lab.run` hands over, stage by stage; keeps each piece in a transaction of its own.

What a call was given is on disk when it returns. That costs a flush, so `lab.run` calls between
stages, never while clients are at work. The order of calls is that of the stages::

    begin_campaign                                       every planned run is kept
        begin_run → provisioned → loaded → driving → observed → sampled, checked → end_run
    end_campaign

A run may end after any of them.
"""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import asdict, replace
from pathlib import Path
from types import TracebackType
from typing import Any, Literal, Self

from assay.drive.sampler import TimedSample
from assay.errors import Bug
from assay.experiment import Experiment
from assay.plan import Plan, PlannedRun
from assay.provision.site import Site
from assay.record import calibrations, reading
from assay.record.document import json_text, storable, without_secrets
from assay.record.file import insert, open_file, transaction
from assay.record.process import this_process
from assay.record.records import CalibrationRecord, CampaignRecord, RunRecord, RunSummary

EndState = Literal["done", "failed", "interrupted"]


class Store:
    """The record file of a laboratory, open. One `Store` follows one campaign at a time."""

    def __init__(self, path: Path, *, must_exist: bool = False) -> None:
        """Raises `ArgumentError` where the file cannot be used, or ``must_exist`` and does not."""
        self.path = path
        self._connection = open_file(path, must_exist=must_exist)
        self._campaign_id: int | None = None
        self._run_id: int | None = None

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
            if self._campaign_id is not None:
                self.end_campaign()
        finally:
            self._connection.close()

    # Writing

    def begin_campaign(
        self,
        experiment: Experiment,
        plan: Plan,
        machine: Mapping[str, Any],
        *,
        workload: Mapping[str, Any],
        build: Mapping[str, Any],
    ) -> int:
        """Keeps the whole plan before anything is started; gives the experiment's number.

        ``workload``: name, title, fingerprint, report (its ``[report.*]`` tables), published.
        ``build``: versions of Assay and its engine.
        """
        process = this_process()
        with self._transaction() as connection:
            reading.settle_dead_runs(connection)
            campaign_id = insert(
                connection,
                "experiments",
                title=storable(experiment.title or str(workload.get("title", ""))),
                reproduces=storable(experiment.reproduces),
                workload=storable(experiment.workload),
                workload_fingerprint=str(workload.get("fingerprint", "")),
                seed=str(experiment.seed),
                begun_unix_ns=time.time_ns(),
                experiment=json_text(experiment),
                workload_facts=json_text(workload),
                machine=json_text(machine),
                build=json_text(build),
                process_id=process.pid,
                process_started=process.started_ticks,
                boot_id=process.boot_id,
            )
            for run in plan.runs:
                _plan_run(connection, campaign_id, run)
        self._campaign_id = campaign_id
        return campaign_id

    def begin_run(self, run: PlannedRun) -> int:
        """The planned run is under way: state provisioning. Gives the run's number."""
        if self._run_id is not None:
            raise Bug(f"run {self._run_id} has not ended, and another begins")
        with self._transaction() as connection:
            found = connection.execute(
                "SELECT id FROM runs WHERE experiment_id = ? AND position = ?",
                (self._campaign_id, run.position),
            ).fetchone()
            if found is None:
                raise Bug(f"no run was planned at position {run.position} of this experiment")
            run_id = int(found[0])
            _enter(connection, run_id, "provisioning")
        self._run_id = run_id
        return run_id

    def provisioned(self, site: Site) -> None:
        """What was brought up, without its password: state loading."""
        open_site = replace(site, address=replace(site.address, password=None))
        self._keep("sites", json_text(open_site), state="loading")

    def restarted(self, site: Site) -> None:
        """The site was stopped and brought up again: what is kept of it is as it is now."""
        open_site = replace(site, address=replace(site.address, password=None))
        with self._transaction() as connection:
            connection.execute(
                "UPDATE sites SET document = ? WHERE run_id = ?",
                (json_text(open_site), self._run()),
            )

    def loaded(self, dataset: Mapping[str, Any]) -> None:
        """What it was filled with (`Dataset.for_record`): state driving."""
        self._keep("datasets", json_text(dataset), state="driving")

    def driving(self, document: Mapping[str, Any]) -> None:
        """What the engine is told (a drive document): keeps the texts, leaves the site out."""
        rest = {key: value for key, value in document.items() if key not in {"site", "scripts"}}
        with self._transaction() as connection:
            insert(connection, "drives", run_id=self._run(), document=json_text(rest))
            for position, script in enumerate(document.get("scripts", ())):
                insert(
                    connection,
                    "scripts",
                    run_id=self._run(),
                    position=position,
                    name=script["name"],
                    path=storable(script["path"]),
                    text=storable(script["text"]),
                    weight=script.get("weight", 1),
                )

    def observed(self, observation: Mapping[str, Any]) -> None:
        """What was measured, as given: state checking."""
        self._keep("observations", json_text(observation), state="checking")

    def sampled(self, samples: Iterable[TimedSample]) -> None:
        """The server's processes while the clients were at work."""
        with self._transaction() as connection:
            for one in samples:
                insert(
                    connection,
                    "samples",
                    run_id=self._run(),
                    at_s=one.at_s,
                    **asdict(one.sample),
                    device_read_bytes=one.device_read_bytes,
                    device_written_bytes=one.device_written_bytes,
                )

    def checked(self, checks: Sequence[Mapping[str, Any]]) -> None:
        """Whether the answers were right: per check id, title, expected, found, ok, note."""
        self._keep("checks", json_text(list(checks)))

    def end_run(
        self,
        state: EndState,
        reason: str | None = None,
        verdict: tuple[str, str] = ("", ""),
        warnings: Iterable[tuple[str, str]] = (),
    ) -> None:
        """The run is over. ``verdict``: (word, reason); ``warnings``: (name, detail)."""
        with self._transaction() as connection:
            run_id = self._run()
            for position, (name, detail) in enumerate(warnings):
                insert(
                    connection,
                    "warnings",
                    run_id=run_id,
                    position=position,
                    name=name,
                    detail=storable(detail),
                )
            _enter(connection, run_id, state)
            connection.execute(
                "UPDATE runs SET reason = ?, verdict = ?, verdict_reason = ?, ended_unix_ns = ? "
                "WHERE id = ?",
                (storable(without_secrets(reason or "")), *verdict, time.time_ns(), run_id),
            )
        self._run_id = None

    def end_campaign(self) -> None:
        """No more runs of this campaign will begin."""
        with self._transaction() as connection:
            connection.execute(
                "UPDATE experiments SET ended_unix_ns = ? WHERE id = ?",
                (time.time_ns(), self._campaign_id),
            )
        self._campaign_id = None

    def calibrated(
        self, calibration: CalibrationRecord, machine: Mapping[str, Any], build: Mapping[str, Any]
    ) -> None:
        """What this machine's client can do at most; ``build`` as in `begin_campaign`."""
        with self._transaction() as connection:
            calibrations.keep(connection, calibration, machine, build)

    # Reading

    def runs(self) -> list[RunSummary]:
        """Every run of every experiment, newest experiment first, in planned order within one."""
        return reading.runs(self._connection)

    def run(self, run_id: int) -> RunRecord:
        """All that is kept of one run; `ArgumentError` where there is none of that number."""
        return reading.run(self._connection, run_id)

    def campaign(self, campaign_id: int) -> CampaignRecord:
        """One experiment with all its runs."""
        return reading.campaign(self._connection, self.path, campaign_id)

    def machine(self) -> Mapping[str, Any]:
        """The facts of the machine, as they were given to the campaign under way."""
        if self._campaign_id is None:
            raise Bug("a machine is asked for, and no campaign is under way")
        return reading.machine(self._connection, self._campaign_id)

    def latest(self) -> CampaignRecord:
        """The experiment that was begun last."""
        return self.find("latest")

    def find(self, reference: str) -> CampaignRecord:
        """``latest``, ``3``, ``experiment 3``: that experiment; ``run 17``: with that run only."""
        return reading.find(self._connection, self.path, reference)

    def _transaction(self) -> AbstractContextManager[sqlite3.Connection]:
        return transaction(self._connection, self.path)

    def _run(self) -> int:
        if self._run_id is None:
            raise Bug("a stage reports to the record, and no run is under way")
        return self._run_id

    def _keep(self, table: str, document: str, *, state: str | None = None) -> None:
        with self._transaction() as connection:
            insert(connection, table, run_id=self._run(), document=document)
            if state is not None:
                _enter(connection, self._run(), state)


def _plan_run(connection: sqlite3.Connection, campaign_id: int, run: PlannedRun) -> None:
    cell = run.cell
    insert(
        connection,
        "runs",
        experiment_id=campaign_id,
        position=run.position,
        test=cell.test,
        system=cell.system.name,
        system_label=storable(without_secrets(cell.system.label)),
        storage=storable(cell.storage.name),
        clients=cell.clients,
        threads=cell.threads,
        protocol=cell.protocol,
        parameters=json_text(cell.parameters),
        repetition=run.repetition,
        seed=str(run.seed),
        cell=json_text(cell),
        cell_fingerprint=cell.fingerprint,
    )


def _enter(connection: sqlite3.Connection, run_id: int, state: str) -> None:
    """Adds the stage, and sets the run's state to it."""
    now_ns = time.time_ns()
    insert(connection, "stages", run_id=run_id, state=state, begun_unix_ns=now_ns)
    connection.execute(
        "UPDATE runs SET state = ?, begun_unix_ns = coalesce(begun_unix_ns, ?) WHERE id = ?",
        (state, now_ns, run_id),
    )
