"""Takes one planned run; takes it through provision, load, drive and check, in the way its test
asks.

A procedure gives the reason why the run failed, or None; all else it puts on record.
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from assay.bibsql import update
from assay.bibsql.bibliography import Bibliography
from assay.bibsql.reported import reported_entries
from assay.check.answers import Agreement, Check, check_answers
from assay.check.consistency import check_consistency, chosen
from assay.check.reference import check_reference, check_together
from assay.check.verdict import (
    CONFLICTS,
    LOSSES,
    is_out_of_space,
    why_failed,
    wrong_answers,
)
from assay.drive import connect, limit, query, reference
from assay.drive.changes import run_changes_data
from assay.drive.document import document_of, scripts_of
from assay.drive.prepare import warnings
from assay.drive.sampler import TimedSample
from assay.drive.transactions import Observation
from assay.drive.watched import observe_watched
from assay.errors import (
    RESOURCES,
    RESOURCES_HINT,
    Bug,
    ExperimentError,
    RunFailed,
    SystemRefused,
)
from assay.experiment import Experiment
from assay.load.dataset import Dataset
from assay.plan import PlannedRun
from assay.pool import Pool, PooledSystem
from assay.progress import Progress
from assay.provision.deployment import Deployment
from assay.provision.stage import provision
from assay.record import Store
from assay.registry import system
from assay.row_sources.generated import request_of
from assay.row_sources.request import DataRequest
from assay.systems.abilities import CrashReport, SessionLimit
from assay.workload.reference import Reference
from assay.workload.schema import evaluate
from assay.workload.values import Script, Workload

Entries = list[tuple[str, str]]

_LOSS_PATIENCE_S = 3.0
"""How long a server whose connections are lost is given to be seen dead."""


@dataclass
class Laboratory:
    """What every run of one experiment has at hand."""

    experiment: Experiment
    workload: Workload
    bibliography: Bibliography | None
    """None: the workload's rows are from elsewhere."""
    store: Store
    pool: Pool
    progress: Progress
    agreement: Agreement = field(default_factory=Agreement)
    reported: Entries | None = None
    """Entries that a check reports, once somebody needed to know."""
    sound: list[Dataset] = field(default_factory=list)
    """What was loaded, and the workload's rules found right."""


Procedure = Callable[[Laboratory, PlannedRun], str | None]


def of(workload: Workload, planned: PlannedRun) -> Procedure:
    """The procedure that the run's test declares (`assay.workload.declared_tests.PROCEDURES`)."""
    return {
        "drive": drive_scripts,
        "update": bring_up_to_date,
        "limit": find_limit,
        "reference": compare_with_reference,
        "connect": find_cost_of_session,
    }[workload.test(planned.cell.test).procedure]


def drive_scripts(lab: Laboratory, planned: PlannedRun) -> str | None:
    """Clients run the scripts of the test; every answer is compared with the right one."""
    if lab.workload.is_ad_hoc:
        pooled, request = _acquired(lab, planned), None
    else:
        pooled, request = _loaded(lab, planned)
    dialect = pooled.system.dialect
    scripts = scripts_of(lab.workload, planned, dialect)
    expected = _expected(lab.workload, request, scripts)
    document = document_of(lab.workload, planned, dialect, scripts, expected)
    lab.store.driving(document)
    lab.progress.stage(f"drive {planned.cell.test}")
    observation, samples = _observe(lab, planned, pooled, document)
    lab.store.observed(observation)
    lab.store.sampled(samples)
    checks = []
    if request is not None:
        checks = check_answers(
            observation,
            expected,
            {script.name: script.title for script in scripts},
            None if run_changes_data(lab.workload, planned) else lab.agreement,
            request.key,
            pooled.deployment.label,
        )
    checks += _consistency(lab, planned, pooled, observation)
    return _conclusion(lab, planned, observation, checks, pooled.deployment)


def bring_up_to_date(lab: Laboratory, planned: PlannedRun) -> str | None:
    """Some files change, and the rows follow them; then they are compared with a fresh load."""
    rows_follow = lab.workload.update
    if rows_follow is None:
        raise ExperimentError(
            f"the test {planned.cell.test} needs [data.update], which says how rows follow files",
            file=lab.workload.folder / "workload.toml",
        )
    pooled, _ = _loaded(lab, planned)
    parameters = planned.cell.parameters
    task = update.UpdateTask(int(parameters["changed"]), int(parameters["vanished"]), planned.seed)
    lab.progress.stage("update")
    pooled.forget()  # from here on it holds something else than what was loaded
    with tempfile.TemporaryDirectory(prefix="assay-update-") as folder:
        observation = update.observe(
            pooled.deployment,
            pooled.system,
            lab.workload.tables,
            rows_follow,
            _bibliography(lab).files,
            Path(folder),
            task,
            lambda files: _request(lab, planned, files),
        )
    lab.store.observed(observation)
    return _conclusion(lab, planned, observation, [], pooled.deployment)


def find_limit(lab: Laboratory, planned: PlannedRun) -> str | None:
    """Sessions are opened until one is refused, with the default limit and with it raised."""
    cell = planned.cell

    @contextmanager
    def open_deployment(connections: int | None) -> Iterator[Deployment]:
        with provision(cell.system, cell.storage, connections=connections) as deployment:
            if connections is None:
                lab.store.provisioned(deployment)
            yield deployment

    lab.progress.stage(f"provision {cell.system.label}")
    observation = limit.observe(open_deployment, cell.clients)
    lab.store.observed(observation)
    return _conclusion(lab, planned, observation, [], None)


def compare_with_reference(lab: Laboratory, planned: PlannedRun) -> str | None:
    """One client and then many run the scripts; what they leave must be the same rows."""
    cell = planned.cell
    declared = lab.workload.test(cell.test).reference
    if declared is None:
        raise Bug(f"the test {cell.test} has no reference")
    given = {**lab.workload.with_defaults(cell.parameters), "clients": cell.clients}
    file = lab.workload.folder / "workload.toml"
    small = {name: evaluate(one, given, file) for name, one in declared.parameters.items()}
    alone = _with(planned, parameters={**cell.parameters, **small})
    pooled = _acquired(lab, planned)
    asked = _Side(lab, planned, pooled, declared, cell.clients)
    traces = reference.observe(
        _Side(lab, alone, pooled, declared, cell.clients),
        asked,
        clients=cell.clients,
        transactions=int(cell.driving.stop["transactions"]),
        at_once=declared.at_once,
        given=reference.Pace(
            float(cell.parameters[declared.stagger]), float(cell.parameters[declared.pause])
        ),
    )
    observation = traces.observation
    checks = check_reference(traces, declared.each, lab.workload.scripts[declared.dump].title)
    verdicts = [check["ok"] for check in checks]
    observation["reference"] |= {
        "equal_dumps": verdicts.count(True),
        "overtaken": verdicts.count(None),
    }
    checks.append(check_together(traces, min(declared.at_once, cell.clients)))
    rules = _consistency(lab, planned, pooled, observation)
    observation["rules"] = {check["id"]: check["found"] for check in rules}
    asked.keep(observation)
    return _conclusion(lab, planned, observation, [*checks, *rules], pooled.deployment)


@dataclass
class _Side:
    """One of the two that are compared, as `reference.Bench`; remembers its last load and drive."""

    lab: Laboratory
    planned: PlannedRun
    pooled: PooledSystem
    declared: Reference
    dumps: int
    """How many there are: one for each of the many."""
    dataset: Dataset | None = None
    document: dict[str, Any] = field(default_factory=dict)
    samples: list[TimedSample] = field(default_factory=list)

    def load(self) -> None:
        self.dataset = _load(self.lab, self.planned, self.pooled, is_wanted_again=True)

    def drive(self, clients: int, transactions: int, pace: reference.Pace) -> Observation:
        cell = self.planned.cell
        paced = {self.declared.stagger: pace.stagger_s, self.declared.pause: pace.pause_s}
        planned = _with(
            self.planned,
            clients=clients,
            driving=cell.driving.changed({"transactions": transactions}),
            parameters={**cell.parameters, **paced},
        )
        dialect = self.pooled.system.dialect
        scripts = scripts_of(self.lab.workload, planned, dialect)
        self.document = document_of(self.lab.workload, planned, dialect, scripts)
        self.lab.progress.stage(f"drive {cell.test}, {clients} at once")
        self.pooled.forget()  # from here on it holds something else than what was loaded
        observation, self.samples = _observe(self.lab, planned, self.pooled, self.document)
        return observation

    def dump(self) -> reference.Left:
        own = self._ask(self.declared.own) if self.declared.own else ()
        return reference.Left(self._ask(self.declared.dump), own)

    def _ask(self, name: str) -> reference.Dumps:
        workload, parameters = self.lab.workload, self.planned.cell.parameters
        script = workload.script_for(name, self.pooled.system.dialect.name)
        variables = workload.with_defaults(parameters)
        identifiers = workload.identifiers_for(parameters)
        each = self.declared.each
        return tuple(
            query.ask(self.pooled.deployment, script, {**variables, each: number}, identifiers)
            for number in range(self.dumps)
        )

    def keep(self, observation: Observation) -> None:
        """Puts the last load and the last drive on record."""
        if self.dataset is not None:
            self.lab.store.loaded(self.dataset.for_record())
        self.lab.store.driving(self.document)
        self.lab.store.observed(observation)
        self.lab.store.sampled(self.samples)


def find_cost_of_session(lab: Laboratory, planned: PlannedRun) -> str | None:
    """Clients run the scripts within one session, and with a session for each transaction."""
    pooled, _ = _loaded(lab, planned)
    dialect = pooled.system.dialect
    scripts = scripts_of(lab.workload, planned, dialect)
    samples: list[TimedSample] = []

    def drive(connection: str) -> Observation:
        run = _with(planned, driving=planned.cell.driving.changed({"connection": connection}))
        document = document_of(lab.workload, run, dialect, scripts)
        if connection == planned.cell.driving.connection:
            lab.store.driving(document)
        lab.progress.stage(f"drive {planned.cell.test}, sessions {connection}")
        observation, samples[:] = _observe(lab, run, pooled, document)
        return observation

    observation = connect.observe(drive)
    lab.store.observed(observation)
    lab.store.sampled(samples)
    checks = _consistency(lab, planned, pooled, observation)
    return _conclusion(lab, planned, observation, checks, pooled.deployment)


def _with(planned: PlannedRun, **changes: Any) -> PlannedRun:
    """The run with other levels."""
    return replace(planned, cell=replace(planned.cell, **changes))


def _observe(
    lab: Laboratory, planned: PlannedRun, pooled: PooledSystem, document: Mapping[str, Any]
) -> tuple[Observation, list[TimedSample]]:
    isolation = planned.cell.driving.isolation
    session_statements = pooled.system.dialect.session_isolation(isolation) if isolation else ()
    told = lab.progress.driving
    if not pooled.deployment.is_private and isinstance(pooled.system, SessionLimit):
        pooled.system.refuse_too_many(pooled.deployment, planned.cell.clients)
    if not lab.workload.is_ad_hoc and run_changes_data(lab.workload, planned):
        pooled.forget()  # from here on it holds something else than what was loaded
    observation, samples = observe_watched(
        pooled.deployment, pooled.system, document, told, session_statements
    )
    observation["script_warnings"] = warnings(lab.workload, planned)
    return observation, samples


def _consistency(
    lab: Laboratory,
    planned: PlannedRun,
    pooled: PooledSystem,
    observation: Observation | None = None,
) -> list[Check]:
    """The queries of the test that must find nothing, asked now; none where the system is gone."""
    if observation is not None and (observation.get("ended_by") == "lost" or _is_deaf(observation)):
        return []
    workload, parameters = lab.workload, planned.cell.parameters
    known = workload.checks_for(pooled.system.dialect.name)
    return check_consistency(
        pooled.deployment,
        chosen(known, workload.test(planned.cell.test).checks),
        workload.with_defaults(parameters),
        workload.identifiers_for(parameters),
        pooled.system.dialect,
        workload.folder,
    )


def _expected(
    workload: Workload, request: DataRequest | None, scripts: Sequence[Script]
) -> dict[str, int | None]:
    """Rows that each script must find; None where nobody knows."""
    if request is None:
        return {}
    known = workload.expected_counts(request.fingerprint, request.replicas, request.variant)
    return {script.name: known.get(script.name) for script in scripts}


def _acquired(lab: Laboratory, planned: PlannedRun) -> PooledSystem:
    """A deployment as it stands."""
    lab.progress.stage(f"provision {planned.cell.system.label}")
    pooled = lab.pool.acquire(planned)
    lab.store.provisioned(pooled.deployment)
    return pooled


def _loaded(lab: Laboratory, planned: PlannedRun) -> tuple[PooledSystem, DataRequest]:
    """A deployment that holds the data of this run."""
    pooled = _acquired(lab, planned)
    dataset = _load(lab, planned, pooled)
    lab.store.loaded(dataset.for_record())
    return pooled, dataset.request


def _load(
    lab: Laboratory, planned: PlannedRun, pooled: PooledSystem, *, is_wanted_again: bool = False
) -> Dataset:
    """The data of this run in the deployment, which the workload's own rules find right."""
    lab.progress.stage("load")
    parameters = planned.cell.parameters
    if parameters.get("variant") == "clean" and int(parameters.get("replicas", 1)) > 1:
        _find_reported(lab, planned, pooled)
    request = _request(lab, planned)
    tables = lab.workload.tables_for(parameters)
    again = is_wanted_again or _is_wanted_again(lab, planned)
    dataset = pooled.load(tables, request, lab.progress, is_wanted_again=again)
    if all(dataset is not one for one in lab.sound):
        wrong = [check for check in _consistency(lab, planned, pooled) if check["ok"] is False]
        if wrong:
            raise RunFailed(f"after the load, {wrong_answers(wrong)}")
        lab.sound.append(dataset)
    dataset = pooled.size_buffer(dataset, _data_to_buffer(lab, planned))
    lab.store.restarted(pooled.deployment)
    return dataset


def _is_wanted_again(lab: Laboratory, planned: PlannedRun) -> bool:
    """Whether the deployment has a later run that may want the same data, after one that changes
    them."""
    later = lab.pool.later(planned)
    before = [planned, *later[:-1]] if later else []
    return any(run_changes_data(lab.workload, run) for run in before)


def _data_to_buffer(lab: Laboratory, planned: PlannedRun) -> float | None:
    """How many times the size of the buffer the data of this run must have."""
    asked = lab.workload.test(planned.cell.test).data_to_buffer
    value = planned.cell.parameters[asked] if isinstance(asked, str) else asked
    return None if value is None else float(value)


def _find_reported(lab: Laboratory, planned: PlannedRun, pooled: PooledSystem) -> None:
    """Loads the plain data and asks the checks which entries they report; once per experiment."""
    if lab.reported is None and lab.workload.update is not None:
        plain = _bibliography(lab).request(replicas=1)
        pooled.load(lab.workload.tables, plain, lab.progress)
        test = lab.workload.test(planned.cell.test)
        scripts = lab.workload.scripts_for(test, pooled.system.dialect.name)
        document = document_of(lab.workload, planned, pooled.system.dialect, scripts)
        lab.reported = reported_entries(
            pooled.deployment, pooled.system.dialect, document, lab.workload.update
        )


def _request(
    lab: Laboratory, planned: PlannedRun, files: Sequence[Path] | None = None
) -> DataRequest:
    """The data of this run; with ``files``, the same taken from these instead."""
    parameters = planned.cell.parameters
    if lab.workload.data_source == "generated":
        is_empty = lab.workload.test(planned.cell.test).data == "empty"
        return request_of(lab.workload, parameters, is_empty=is_empty)
    bibliography = _bibliography(lab)
    source = bibliography if files is None else bibliography.of_files(files)
    return source.request(
        replicas=int(parameters.get("replicas", 1)),
        variant=str(parameters.get("variant", "full")),
        seed=int(parameters.get("data_seed", 1)),
        reported=lab.reported or [],
    )


def _bibliography(lab: Laboratory) -> Bibliography:
    if lab.bibliography is None:
        raise Bug(f"{lab.workload.name} was to be loaded with bibliographies, and none was read")
    return lab.bibliography


def _conclusion(
    lab: Laboratory,
    planned: PlannedRun,
    observation: Observation,
    checks: list[Check],
    deployment: Deployment | None,
) -> str | None:
    """Why the run failed, or None; a deployment that is broken is not used again."""
    lab.store.checked(checks)
    is_lost = observation.get("ended_by") == "lost"
    died = _why_it_died(planned, deployment, is_lost) if deployment is not None else None
    if died is not None or is_lost or _is_in_disorder(observation):
        lab.pool.discard(planned)
    counted: set[str] = set()
    if planned.cell.driving.reconnect_patience_s is not None:
        counted |= LOSSES
    if lab.workload.is_ad_hoc:
        counted |= CONFLICTS
    reason = why_failed(observation, checks, died, counted=counted)
    if reason is not None and is_out_of_space(observation, died):
        raise SystemRefused(reason, error_class=RESOURCES, hint=RESOURCES_HINT)
    return reason


def _is_deaf(observation: Observation) -> bool:
    """Whether transactions did not end, and the system opened no further session behind them."""
    unfinished = observation.get("unfinished")
    return unfinished is not None and not unfinished["responds"]


def _is_in_disorder(observation: Observation) -> bool:
    """Whether the system may still be at work on transactions that were given up."""
    unfinished = observation.get("unfinished")
    if unfinished is None:
        return False
    return _is_deaf(observation) or unfinished["cancelled"] < unfinished["transactions"]


def _why_it_died(planned: PlannedRun, deployment: Deployment, is_lost: bool) -> str | None:
    """What the system says of its own end. Connections are lost before their server has ended, so
    after a loss it is asked again for a while."""
    under_test = system(planned.cell.system.name)
    if not isinstance(under_test, CrashReport):
        return None
    deadline_s = time.monotonic() + (_LOSS_PATIENCE_S if is_lost else 0)
    while (died := under_test.why_it_died(deployment)) is None and time.monotonic() < deadline_s:
        time.sleep(0.05)
    return died
