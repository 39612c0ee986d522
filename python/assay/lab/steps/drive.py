"""Runs the clients and measures them; compares their answers with the expected ones."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from itertools import groupby
from operator import attrgetter
from typing import TYPE_CHECKING, Any, Self

from msgspec import UNSET, UnsetType, structs

from assay.contracts.deployment import Deployment
from assay.contracts.engine import DriveDocument, LogDocument
from assay.contracts.events import ClientsAtWork, Event, SecondMeasured, Sink, ignored
from assay.contracts.factors import CLIENT_PROGRAM, GENERATORS
from assay.contracts.observation import Observation
from assay.contracts.observation.clients import numbers_of_all
from assay.contracts.systems.abilities import SessionLimit
from assay.drive import staleness
from assay.drive.document import document_of, scripts_of
from assay.drive.observe import number_of_parts, sessions_at_each
from assay.drive.prepare import (
    WHY_REFUSED,
    committed_transactions,
    may_change_data,
    read_only_statements,
)
from assay.drive.sampling import TimedSample
from assay.drive.substitutes import lacking_capabilities, other_isolation
from assay.drive.watched import observe_watched
from assay.errors import RunFailed
from assay.experiment import NATIVE, Scalar
from assay.judge import service_levels
from assay.judge.agreement import compare_digests, compare_results, what_is_asked
from assay.judge.result_checks import Check, cancelled_types, check_answers, not_run
from assay.judge.storage_checks import durability_that_held
from assay.lab import measurement
from assay.lab.measurement import (
    DrivenDocument,
    EarlyEnd,
    documents_of_parts,
    joined_observation,
    keep_samples,
)
from assay.lab.run_context.context import RunState
from assay.plan.drives import PlannedDrive, drive
from assay.plan.values import Cell
from assay.record.runs.records import IS_RESULT
from assay.text import pattern, units
from assay.text.toml_file import TomlTable
from assay.workload.steps import Drive, Names, Step
from assay.workload.values import Script, Workload

if TYPE_CHECKING:
    from assay.load.row_sources.protocol import DataRequest

_DECLARES_ATOMIC = pattern(r"(?m)^[ \t]*\\atomic\b")


class DriveStep(Drive):
    """`Drive` with its ``read`` and ``take``."""

    @classmethod
    def read(cls, section: TomlTable, names: Names) -> Self:
        from assay.workload.tests import read_drive

        return read_drive(section, names, cls)

    def take(self, state: RunState) -> None:
        """Keeps the observation, and the checks of its answers."""
        workload, dialect = state.workload, state.up().system.dialect
        planned = drive(workload, state.planned, self)
        scripts = scripts_of(workload, planned, dialect)
        expected = expected_rows(workload, state.request, scripts, state.planned.cell.parameters)
        if state.planned.cell.level(CLIENT_PROGRAM) == NATIVE:
            statements = _session_statements(state, planned)
            measurement.run_native_clients(state, self, planned, scripts, expected, statements)
            return
        document = document_of(workload, planned, dialect, scripts, expected)
        measured: list[DrivenDocument] = []
        early_end = EarlyEnd(state, self)
        for part in documents_of_parts(state.test, planned, document):
            cached = measurement.prepare_caches(state, partial(_run_once, state, planned, part))
            if not measured:
                as_result = {IS_RESULT: True} if self.is_result else {}
                state.context.store.driving({**document.plain, **as_result})
            before_ns = sum(one.observation.elapsed_ns for one in measured)
            looked_at = early_end.during(part, before_ns)
            observation, samples = observe(state, self, planned, part, looked_at)
            measured.append(
                DrivenDocument(structs.replace(observation, cache_state=cached), samples)
            )
            if observation.ended_by != "stop":
                break
        test = state.test
        in_all = joined_observation(measured)
        of_test = [one for one in workload.derived.values() if one.test == test.name]
        constants = workload.with_defaults(state.planned.cell.parameters) if of_test else {}
        observation = structs.replace(
            in_all,
            headline=test.headline,
            response_limits=test.response_limits,
            derived=service_levels.derived_values(of_test, in_all, constants, workload.schema.file),
        )
        state.observed(self.label, observation)
        keep_samples(state, measured)
        state.context.stop.check()  # a part of the answers says nothing
        titles = {**{script.name: script.title for script in scripts}, **workload.titles}
        if (checks := _checks(state, planned, observation, expected, titles)) is not None:
            missing = _left_out(state, planned)
            state.checked(
                [*checks, *(not_run(name, titles[name], why) for name, why in missing.items())]
            )


def _left_out(state: RunState, planned: PlannedDrive) -> Mapping[str, str]:
    """The scripts that have no text in the system's dialect, each with the reason."""
    return (
        {} if planned.run.cell.feed else state.workload.left_out(planned, state.up().system.dialect)
    )


def _checks(
    state: RunState,
    planned: PlannedDrive,
    observation: Observation,
    expected: Mapping[str, int | None],
    titles: Mapping[str, str],
) -> list[Check] | None:
    """What the answers are worth; None where nothing is known of the data."""
    test, known, label = state.test, state.context.known, state.up().deployment.label
    stop, of_limit = planned.run.cell.driving.stop, cancelled_types(observation)
    if test.compare_results:
        if "duration_s" in stop:  # said on the command line: a faster system is asked more
            return None
        asked = what_is_asked(planned.run, stop, planned.order)
        sums = observation.answer_sums
        digests = _known_digests(state, planned)
        return compare_digests(
            known.questions, state.planned, asked, label, sums, titles, digests, of_limit
        )
    if state.request is None:
        return None
    may_differ = test.leaves_other_data
    if not may_differ:
        questions = {name: state.request.key + _bound(state, name) for name in titles}
        compare_results(known.questions, state.planned, questions, label, observation)
    parameters = planned.run.cell.parameters
    why_unknown = {name: state.workload.why_not_expected(name, parameters) for name in expected}
    return check_answers(
        observation, expected, titles, why_unknown, may_differ=may_differ, cancelled=of_limit
    )


def _known_digests(state: RunState, planned: PlannedDrive) -> Mapping[str, str]:
    if state.request is None:
        return {}
    return state.workload.expected_digests(
        state.request.fingerprint, state.test.name, planned.run.cell.parameters
    )


def _bound(state: RunState, name: str) -> str:
    """The values of parameters that a script of the workload sends with its statements: part of its
    question."""
    if (script := state.workload.scripts.get(name)) is None:
        return ""
    known = state.workload.with_defaults(state.planned.cell.parameters)
    from assay.workload.scripts import needed_values

    values = {one: known[one] for one in needed_values(script) if one in known}
    return f" {json.dumps(values, sort_keys=True)}" if values else ""


def _run_once(state: RunState, planned: PlannedDrive, document: DriveDocument) -> None:
    """The work of the clients, unmeasured."""
    pooled = state.up()
    statements = _session_statements(state, planned)
    observe_watched(
        pooled.deployment,
        pooled.system,
        document,
        state.context.events.emit,
        statements,
        pooled.why_it_died,
        state.context.stop,
        measurement.generators_of_cell(
            planned.run.cell, pooled.deployment, state.context.store.run_id()
        ),
    )
    state.context.stop.check()


def _session_statements(state: RunState, planned: PlannedDrive) -> list[str]:
    """What each session of the clients begins with."""
    dialect, isolation = state.up().system.dialect, planned.run.cell.driving.isolation_level
    reading = read_only_statements(state.workload, state.planned, dialect)
    return [*(dialect.session_isolation(isolation) if isolation else ()), *reading]


def observe(
    state: RunState,
    step: Step,
    planned: PlannedDrive,
    document: DriveDocument,
    sink: Sink = ignored,
) -> tuple[Observation, list[TimedSample]]:
    """The observation of the document's clients, and the samples of the server's processes.
    Transactions are numbered on from those of earlier steps on the same data. ``sink``: hears of
    the clients too."""
    if state.next_transaction:
        document = structs.replace(
            document,
            first_transaction=state.next_transaction,
            shared_numbers=state.shared_numbers or UNSET,
        )
    context, pooled, cell = state.context, state.up(), planned.run.cell
    dialect = pooled.system.dialect
    is_read_only = bool(read_only_statements(state.workload, state.planned, dialect))
    name = "" if step.label == step.do else f", {step.label}"
    context.events.stage(
        f"drive {cell.test_name}{name}{_processes(cell, pooled.deployment, document)}"
    )
    if not pooled.deployment.is_private and isinstance(pooled.system, SessionLimit):
        for endpoint, sessions in sessions_at_each(pooled.deployment, document):
            pooled.system.refuse_too_many(endpoint, sessions)
    if may_change_data(state.context.compiled, state.planned):
        pooled.forget()  # from here on its data may differ from what was loaded
    from assay.drive import prepare

    try:
        with _logged(state, planned) as log, measured(state, document) as of_replicas:
            observation, samples = observe_watched(
                pooled.deployment,
                pooled.system,
                structs.replace(document, log=log),
                _reports_seconds(state, sink),
                _session_statements(state, planned),
                pooled.why_it_died,
                context.stop,
                measurement.generators_of_cell(cell, pooled.deployment, context.store.run_id()),
            )
    except RunFailed as error:
        if is_read_only and error.code in dialect.read_only_codes:
            raise RunFailed(f"{error.message}; {WHY_REFUSED}") from error
        if error.hint is None:
            tables = state.workload.tables_for(cell.parameters, dialect.language)
            error.hint = prepare.hint_at_reserved_name(tables, document.scripts, dialect)
        raise
    state.next_transaction = max(state.next_transaction, observation.next_transaction)
    state.shared_numbers = numbers_of_all((state.shared_numbers, observation.shared_numbers))
    warned = tuple(context.compiled.warnings(planned))
    # Read-only sessions commit nothing, whatever their statements.
    functions = state.called_functions
    writing = () if is_read_only else context.compiled.writing_types(planned, dialect, functions)
    committed = committed_transactions(observation, writing)
    _withdraw_contradicted(state, observation.clients, committed or 0, samples)
    found = {"script_warnings": warned, "commits": committed, **of_replicas(observation)}
    found["reads_device"] = state.test.reads_device
    found["left_out"] = tuple(_left_out(state, planned))
    found["went_without"] = lacking_capabilities(state.test, cell.system)
    found["declared_atomic"] = tuple(
        one.name
        for one in document.scripts
        if not one.is_plain and _DECLARES_ATOMIC.search(one.text)
    )
    found["other_isolation"] = other_isolation(
        state.workload, dialect, document.scripts, observation.begun_levels
    )
    return structs.replace(observation, **found), samples


def _reports_seconds(state: RunState, sink: Sink) -> Sink:
    """Reports the clients, to this sink too, and of each second of the measurement that is
    complete. Seconds are numbered on from those of earlier parts of the same step."""
    emit, first = state.context.events.emit, state.seconds_measured

    def tell(event: Event) -> None:
        emit(event)
        sink(event)
        if not isinstance(event, ClientsAtWork):
            return
        machine = {one.second: one for one in event.report.machine}
        for second, lines in groupby(event.report.seconds, attrgetter("second")):
            at = first + second
            state.seconds_measured = at + 1
            found = machine.get(second)
            emit(
                SecondMeasured(
                    at,
                    tuple(structs.replace(line, second=at) for line in lines),
                    None if found is None else structs.replace(found, second=at),
                )
            )

    return tell


@contextmanager
def _logged(state: RunState, planned: PlannedDrive) -> Iterator[LogDocument | UnsetType]:
    """What the drive document says of the log of single transactions."""
    log, sample = state.context.log, planned.run.cell.driving.log_sample
    if log is None or sample is None:
        yield UNSET
        return
    with log.of_drive(state.context.store.run_id(), sample) as document:
        yield document


def _withdraw_contradicted(
    state: RunState, clients: int, commits: int, samples: Sequence[TimedSample]
) -> None:
    """Takes the durability class of the deployment back where the device flushed too seldom for
    it. Flushes are those of all samples, with warm-up and drain: what is interpolated to the
    measurement may be too few in a short run."""
    pooled = state.up()
    is_apart = pooled.deployment.nodes[0].log_storage is not None
    counted = [one.log_device if is_apart else one.device for one in samples]
    flushes = [one.flushes for one in counted if one and one.flushes is not None]
    measured = pooled.deployment.durability
    if measured is None or not flushes:
        return
    held = durability_that_held(measured, commits, clients, flushes[-1] - flushes[0])
    if held != measured:
        pooled.note_durability(held)
        state.context.store.deployment_changed(pooled.deployment)


def _processes(cell: Cell, deployment: Deployment, document: DriveDocument) -> str:
    """In how many processes the clients work, where they are not in this one."""
    machines = cell.level(GENERATORS)
    if machines > 1:
        return f" from {units.counted(machines, 'generator')}"
    number = number_of_parts(document, deployment)
    if number is None:
        return ""
    client_processes = units.counted(number, "client process", "client processes")
    return f" in {client_processes}"


def expected_rows(
    workload: Workload,
    request: DataRequest | None,
    scripts: Sequence[Script],
    parameters: Mapping[str, Scalar],
) -> dict[str, int | None]:
    """The number of rows that each script must return; None where it is not known."""
    if request is None:
        return {}
    known = workload.expected_counts(
        request.fingerprint, request.replicas, request.variant, parameters
    )
    return {script.name: known.get(script.name) for script in scripts}


# Takes a run whose clients are about to work; measures meanwhile how stale the replicas are at
# which they read, where the data are Assay's own.

Findings = Callable[[Observation], dict[str, Any]]
"""What an observation is to say of it."""


@contextlib.contextmanager
def measured(state: RunState, document: DriveDocument) -> Iterator[Findings]:
    """A block in which the clients work."""
    pooled = state.up()
    with staleness.measured(
        pooled.deployment,
        pooled.system.dialect,
        document,
        state.context.events.emit,
        may_write=state.test.loads,
        is_first=not any(isinstance(one, Observation) for one in state.reports.values()),
    ) as found:
        yield lambda observation: {
            "staleness": staleness.reports(found.names, found.findings, observation),
            "why_no_staleness": found.why_not,
        }
