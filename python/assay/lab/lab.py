"""Takes an experiment; runs all its stages and returns the `ExperimentResult`."""

from __future__ import annotations

import contextlib
import shlex
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from msgspec import Struct
from msgspec.structs import replace

from assay import __version__, env_vars, registry
from assay.contracts.events import (
    Events,
    ExperimentBegun,
    ExperimentEnded,
    RunBegun,
    RunEnded,
    RunRefused,
    Sink,
    TimeNeeded,
)
from assay.contracts.experiment import brief
from assay.contracts.factors import CACHE
from assay.contracts.stop import Stop, Stopped
from assay.contracts.systems.abilities import ConfinesSessions
from assay.drive import transaction_log
from assay.drive.prepare import may_commit
from assay.errors import ArgumentError, AssayError, RefusedRun, RunFailed, SystemUnderTestError
from assay.experiment import Experiment, SystemChoice
from assay.judge import judge_run
from assay.judge.evidence import writes
from assay.judge.machine_load import is_disturbed
from assay.judge.run import EXCEEDED
from assay.judge.statistics.samples import number_to_be_precise
from assay.lab import measurement
from assay.lab.continuation import Begun, Request, begin, continued_runs
from assay.lab.pool import CommitDurability, Pool
from assay.lab.preflight import Preflight, preflight, refuse_missing
from assay.lab.refusal import plan_here, refuse_smaller_than_before
from assay.lab.repetitions import AddedRuns, Repeating, Repetition
from assay.lab.run_context import outcome
from assay.lab.run_context.context import Context, EarlierFindings, RunState
from assay.lab.steps import check, need_a_system, take_steps, within_its_limits
from assay.load.dataset import DEFAULT_LOADING, Loading
from assay.load.row_sources.protocol import ExperimentRows, ReadsFiles, opened
from assay.plan import Cell, Plan, PlannedRun, values
from assay.plan.fingerprint import Content, content_of
from assay.plan.forecast import Forecast, LeftToDo
from assay.plugin_failures import plugin_failures
from assay.probe.measure import FirstUse
from assay.provision import confinement, limits
from assay.provision.install import cache
from assay.provision.install.cache import in_use
from assay.provision.processes import pass_over_logs
from assay.provision.space import name_full_storage
from assay.provision.undo.ledger import clear_leftovers
from assay.record import EndState, Store
from assay.record.machines import build, machine
from assay.record.planned_runs import ExperimentFacts
from assay.record.runs.records import REFUSED, RunEnd, exit_status
from assay.text import units
from assay.text.phrases import phrase, reason_with_more
from assay.text.units import counted
from assay.workload.ad_hoc_script import workload_of
from assay.workload.values import Workload

if TYPE_CHECKING:
    from assay.comparison.conditions import Condition
    from assay.comparison.goals import Excess, Trial
    from assay.lab.goal_search import GoalSearch

BEGINS_ANEW = Request()
NOT_PROBED = FirstUse(probe_s=0.0)
_STOPPED = "stopped by hand"


class ExperimentResult(Struct, frozen=True):
    """The result of `run`: the number of the experiment in the record, and how its runs ended."""

    experiment_id: int
    ended: Mapping[int, RunEnd]
    """Position of each run that has ended → how."""
    rescue: Path | None = None
    """The file that holds the runs where the record was locked for too long, or lost."""

    @property
    def exit_code(self) -> int:
        found = exit_status(self.ended.values())
        return found or (SystemUnderTestError.exit_code if self.rescue else 0)


@plugin_failures()
def run(
    experiment: Experiment,
    workload: Workload | None = None,
    *,
    records: Path,
    sinks: Iterable[Sink] = (),
    stop: Stop | None = None,
    loading: Loading = DEFAULT_LOADING,
    request: Request = BEGINS_ANEW,
    first_use: FirstUse = NOT_PROBED,
) -> ExperimentResult:
    """Runs an experiment, from the question to the record.

    1. Read the workload, unless it is given; plan every run, compile every script and row
       expression; look for the systems and storages of the runs, for enough room for their data,
       and for enough threads and open files for their clients.
    2. Read the input data. The user's mistakes are reported up to here. Remove what a process that
       was killed has left behind.
    3. Record the plan, before anything is started; or find it in the record, where the last
       experiment of the same file is unfinished.

    Then for each run that has not ended, in its order:

    4. Provision (`assay.lab.provisioning`): make the storage, probe it if this is its first use,
       start the system on it, and measure the durability of its commits if this is its first use
       there. A run whose test needs what the system lacks is refused instead, which is not a
       failure.
    5. Take the steps that its test declares, in order (`assay.lab.steps`). Most tests have two:
       load (fill the system with the data set and count it) and drive (bring the caches into the
       state that is asked for, run the clients, measure, and compare their answers with the
       expected ones).
    6. Check: run the consistency checks; say why the run failed, if it did.
    7. Judge the run, and record it with its verdict.

    A repetition that other programs disturbed is measured again (`assay.lab.repetitions`). With a
    precision or a budget, runs that turn out not to be needed are taken out of the plan; with a
    goal, the runs that decide it are chosen one after another (`assay.lab.goal_search`), and the
    others are taken out.

    A failed run is recorded with its reason, and the next one follows. A user's mistake that is
    found only now ends the experiment, unless it has other systems or storages. Systems are stopped
    in any case. ``sinks`` get what happens, while it does. Where a ``stop`` is requested, the run
    under way ends as interrupted, with what was measured so far, and `Stopped` is raised.
    """
    events = Events(sinks)
    stop = Stop() if stop is None else stop
    with contextlib.ExitStack() as stack:
        stack.enter_context(stop.guides())
        stop.shows_wait = events.stage
        prepared = _prepare(experiment, workload, loading, request, events)
        workload, found = prepared.workload, prepared.preflight
        is_limited = any(
            limits.is_client_memory_limited(run.cell.system) for run in found.expressible
        )
        stack.enter_context(limits.groups_of_experiment(is_limited=is_limited))
        for cleared in clear_leftovers():
            events.warning(cleared.sentence())
        if kept := measurement.kept_parts():
            events.warning(kept)
        stack.enter_context(in_use(found.available.places))
        continued = continued_runs(records, prepared.plan, request) if experiment.log else None
        log = stack.enter_context(transaction_log.opened(experiment.log, continued))
        store = stack.enter_context(Store(records, waiting=events.stage, warning=events.warning))
        stack.enter_context(events.to(store.heard))
        refuse_smaller_than_before(
            workload,
            found.expressible,
            lambda run: store.data_bytes(workload.fingerprint, run, prepared.input_fingerprint),
        )
        begun = begin(store, prepared.plan, request, prepared.facts(), events)
        events.emit(ExperimentBegun(begun.experiment_id, len(prepared.plan.runs)))
        made = Pool(prepared.plan, loading, begun.runs, warning=events.warning, stage=events.stage)
        with made as pool:
            context = Context(
                workload,
                found.compiled,
                prepared.rows,
                store,
                pool,
                CommitDurability(
                    is_measured=first_use.measures_durability,
                    may_commit=prepared.may_commit,
                    session_settings=found.compiled.session_settings,
                    again=first_use.again,
                ),
                events,
                stop,
                EarlierFindings(begun.questions, begun.cells),
                probe_s=first_use.chosen_probe_s(
                    compares_storages=_has_several_storages(prepared.plan)
                ),
                again=first_use.again,
                excess=_excess(experiment),
                log=log,
            )
            too_short_budget = _run_all(context, prepared, begun)
        store.end_experiment()
        if too_short_budget:
            events.warning(too_short_budget)
        for difference in begun.questions.differences():
            events.warning(f"{difference}: which is right is not known, all are invalid")
        events.emit(ExperimentEnded(begun.experiment_id))
    rescue = None if store.path == records else store.path
    return ExperimentResult(begun.experiment_id, begun.ended, rescue)


def _has_several_storages(plan: Plan) -> bool:
    return len({run.cell.storage.name for run in plan.runs if run.cell.storage}) > 1


def _excess(experiment: Experiment) -> Excess | None:
    """Of a search over a parameter; where the rate is searched, runs have a time of their own."""
    if not (experiment.goal and experiment.goal_over):
        return None
    from assay.comparison import goals

    return goals.excess_of_goal(goals.goal(experiment.goal))


class _Prepared(Struct, frozen=True):
    """An experiment after stages 1 and 2."""

    workload: Workload
    plan: Plan
    preflight: Preflight
    rows: ExperimentRows
    input_fingerprint: str
    """Of the files that the rows are read from; empty: there are none."""
    content: Content
    repeats_disturbed: bool
    """Whether runs that other programs disturbed are measured again."""

    def facts(self) -> ExperimentFacts:
        """For the record."""
        return ExperimentFacts(machine(), self.workload.for_record(), build(), self.content)

    def may_commit(self, run: PlannedRun) -> bool:
        return run.position not in self.preflight.refusals and may_commit(
            self.preflight.compiled, run
        )


def _prepare(
    experiment: Experiment,
    workload: Workload | None,
    loading: Loading,
    request: Request,
    events: Events,
) -> _Prepared:
    """Stages 1 and 2, without removing anything."""
    repeats_disturbed = env_vars.REPEAT_DISTURBED.flag(default=True) and request.repeats_disturbed
    workload = workload or workload_of(experiment)
    if experiment.log is not None:
        transaction_log.insist_on_form(experiment.log)
    planned = plan_here(experiment, workload)
    experiment = planned.experiment
    refuse_unconfined(experiment)
    if request.command is None:
        planned = values.narrowed_plan(planned, request.only)
    found = preflight(workload, planned, request.only)
    for warning in found.warnings:
        events.warning(warning)
    refuse_missing(workload, found, loading.sessions)
    rows = opened(workload, experiment, events)
    read = rows.input_fingerprint if isinstance(rows, ReadsFiles) else ""
    content = content_of(
        experiment, workload, read, found.available.versions, __version__, loading.sessions
    )
    plan = content.in_plan(planned)
    return _Prepared(workload, plan, found, rows, read, content, repeats_disturbed)


def _run_all(context: Context, prepared: _Prepared, begun: Begun) -> str:
    """Stages 4 to 7 of all runs that are needed; adds how each ended to ``begun.ended``. Returns a
    warning where the budget was too short, else nothing."""
    ended, runs = begun.ended, prepared.plan.runs
    refusals = prepared.preflight.refusals
    cells = {run.cell.fingerprint for run in runs}
    every = (*runs, *begun.added)
    forecast = Forecast(runs, context.store.times(cells))
    _keep_disputes(context, ended)
    earlier = [one for one in every if one.position in ended]
    left = LeftToDo(forecast)

    def spare(spared: Sequence[PlannedRun]) -> None:
        left.without(spared)
        _spare(context, spared)

    experiment, executed = prepared.plan.experiment, [*earlier, *begun.runs]
    known = context.known.cells
    added = AddedRuns(context, prepared.content, experiment.seed, every)
    in_place_of = added.in_place_of if prepared.repeats_disturbed else None

    def trial(position: int, condition: Condition) -> Trial:
        from assay.comparison import goals

        return goals.trial_of_run(known.run(position), condition, experiment.goal_over)

    def repetition(position: int) -> Repetition:
        run = known.run(position)
        # A script that may write to your data is not run more often than you asked.
        is_of_yours = experiment.is_ad_hoc and run.cell.system.url is not None and writes(run)
        return Repetition(
            number_to_be_precise(run),
            *context.store.taken(position),
            # What has failed would fail again: a table that is not there, a wrong answer.
            run.state != "failed" and run.is_measured and is_disturbed(run) and not is_of_yours,
        )

    choosing: GoalSearch | Repeating
    if experiment.goal:
        from assay.lab.goal_search import GoalSearch

        choosing = GoalSearch(experiment, executed, trial, spare, added.further, in_place_of)
        at_most = choosing.most_runs
    else:
        choosing = Repeating(experiment, executed, repetition, spare, in_place_of)
        at_most = 0
    for run in begun.runs:
        if run.position not in refusals:
            left.add(run, is_certain=choosing.is_certain(run))
    ran: PlannedRun | None = None
    try:
        for planned_run in choosing.needed(begun.runs, earlier):
            if ran is not None:  # now it is known whether another one needs its system
                context.pool.release(ran)
            ran = planned_run
            context.stop.check()
            left.without([planned_run])
            needed = (forecast.run(planned_run), left.needed())
            refusal = refusals.get(planned_run.position)
            event = _begun(planned_run, max(len(runs), planned_run.position + 1), *needed)
            if at_most:
                event = replace(event, begun=len(ended) + 1, at_most=at_most)
            end = _run(context, planned_run, runs, refusal, event)
            ended[planned_run.position] = end
            if end.state == "done":
                forecast.learn_run(planned_run, *context.store.taken(planned_run.position))
            _keep_disputes(context, ended)
    except AssayError as error:
        if ended:
            path = context.store.path
            error.hint = _with_record(error.hint, len(ended), begun.experiment_id, path)
        raise
    if ran is not None:
        context.pool.release(ran)
    return choosing.too_short_budget()


def _spare(context: Context, runs: Sequence[PlannedRun]) -> None:
    """These runs are not needed."""
    context.store.spare([run.position for run in runs], context.known.cells.spared(runs))
    context.pool.spare(runs)


def _keep_disputes(context: Context, ended: dict[int, RunEnd]) -> None:
    """The numbers of all runs that were answered otherwise than another are invalid."""
    for position, dispute in context.known.questions.take_disputes().items():
        context.store.disputed(position, dispute, *context.known.cells.disputed(position, dispute))
        end = ended[position]
        ended[position] = end._replace(exit_status=end.exit_status or RunFailed.exit_code)


def _with_record(hint: str | None, ended: int, experiment_id: int, path: Path) -> str:
    """The hint of the error that ended the experiment, with the command that reports the runs
    before it."""
    command = f"assay report {experiment_id} --records {shlex.quote(str(path))}"
    kept = f"{counted(ended, 'run')} before it: {command}"
    return hint + f"; {kept}" if hint else kept


def _is_alone(planned: PlannedRun, runs: tuple[PlannedRun, ...]) -> bool:
    """Whether all runs of the experiment are of this one's system, storage and state of the
    caches."""

    def kind(cell: Cell) -> object:
        return cell.system, cell.storage, cell.level(CACHE)

    return all(kind(run.cell) == kind(planned.cell) for run in runs)


def _begun(planned: PlannedRun, of: int, own: TimeNeeded, after: TimeNeeded) -> RunBegun:
    cell = planned.cell
    return RunBegun(
        planned.position,
        of,
        cell.test_name,
        cell.system_label,
        cell.storage_name,
        cell.clients,
        cell.driving,
        cell.levels,
        planned.repetition,
        planned.drives_s,
        own,
        after,
        in_place_of=planned.in_place_of,
    )


def _run(
    context: Context,
    planned: PlannedRun,
    runs: tuple[PlannedRun, ...],
    refusal: str | None,
    begun: RunBegun,
) -> RunEnd:
    """Stages 4 to 7 of one run; returns how it ended. ``refusal``: why it is refused. ``begun``:
    what is said of it first."""
    store = context.store
    store.begin_run(planned)
    context.events.emit(begun)
    if refusal is not None:
        _end_run(context, planned, REFUSED, refusal, 0)
        context.events.emit(RunRefused(planned.position, refusal))
        return RunEnd(REFUSED)
    with context.stop.of_run(store.run_id()):
        state, reason, exit_code = _worked(context, planned, runs)
    if answers := context.known.questions.given_by(planned.position):
        store.compared(answers)
    # 7. Judge, and record.
    _end_run(context, planned, state, reason, exit_code)
    if state == REFUSED:
        context.events.emit(RunRefused(planned.position, reason or ""))
    else:
        context.events.emit(RunEnded(planned.position, state, reason))
    return RunEnd(state, exit_code)


class _Worked(NamedTuple):
    """How a run has ended."""

    state: EndState
    reason: str | None = None
    """Why it failed, or was ended early."""
    exit_code: int = 0


def _worked(context: Context, planned: PlannedRun, runs: tuple[PlannedRun, ...]) -> _Worked:
    """Stages 4 to 6."""
    pool, run = context.pool, RunState(context, planned)
    try:
        with plugin_failures():
            if need_a_system(run):  # 4. Provision
                make_storage(run)
                probe_storage(run)
                start_system(run)
                measure_durability(run)
            with within_its_limits(run):
                take_steps(run)  # 5.
                check(run)  # 6.
            reason = outcome.reason(run)
        if reason is None:
            return _Worked("done")
        return _Worked("failed", reason, RunFailed.exit_code)
    except Stopped as stopped:
        if not stopped.reason.run:
            raise
        pool.discard(planned)
        if stopped.reason.exceeded:
            return _Worked(EXCEEDED, stopped.reason.exceeded)
        return _Worked("failed", _STOPPED, RunFailed.exit_code)
    except RefusedRun as error:
        return _Worked(
            REFUSED, reason_with_more(error.message, error.hint) if error.hint else error.message
        )
    except (SystemUnderTestError, RunFailed, ArgumentError) as error:
        if isinstance(error, ArgumentError) and _is_alone(planned, runs):
            raise
        failed = outcome.why_it_ended(run, error) or pool.resource_failure(planned)
        if failed is not None and failed not in error.message:
            error.message = reason_with_more(failed, error.message)
        space = pool.least_space(planned)
        is_by_url = planned.cell.system.url is not None
        is_full = name_full_storage(error, planned.cell.storage_name, space, is_by_url=is_by_url)
        reason = reason_with_more(error.message, error.hint) if error.hint else error.message
        exit_code = SystemUnderTestError.exit_code if is_full else error.exit_code
        pool.discard(planned)
        return _Worked("failed", reason, exit_code)


def _end_run(
    context: Context, planned: PlannedRun, state: EndState, reason: str | None, exit_code: int
) -> None:
    """Judges it, with it its cell if that is complete, and records both verdicts."""
    store, known = context.store, context.known
    run = store.run_so_far(state, reason)
    verdict, warnings = judge_run(run)
    words = {"verdict": verdict.word, "verdict_reason": verdict.reason}
    run = replace(
        run, warnings=tuple(warnings), probe=known.probes.get(planned.cell.storage_name), **words
    )
    store.end_run(
        state,
        reason=reason,
        verdict=(verdict.word, verdict.reason),
        warnings=warnings,
        exit_status=exit_code,
        cells=known.cells.ended(planned.position, run),
    )


# Takes an experiment; refuses what cannot be confined where it is that of a capsule, which may be
# anyone's.

_TRUST = phrase("read what is in the capsule; {--trust} runs it with the rights that you have")


def refuse_unconfined(experiment: Experiment) -> None:
    """Raises `ArgumentError` for a system that knows no sessions without rights, for a setting by
    which one would reach beyond them, and where nothing confines this process."""
    if not experiment.is_confined:
        return
    if not confinement.is_begun():
        raise ArgumentError(
            "the experiment is of a capsule, and this program does not confine what it runs",
            hint=phrase("run it with `assay run`; {--trust} runs it with the rights that you have"),
        )
    for choice in experiment.systems:
        _refuse(choice)


def _refuse(choice: SystemChoice) -> None:
    system = registry.system(choice.name)
    if choice.url is not None:
        return  # the user has named it, and given its sessions their rights
    if not isinstance(system, ConfinesSessions):
        raise ArgumentError(
            f"a capsule's scripts cannot be confined on {choice.label}: its sessions have all "
            "rights of the server",
            hint=_TRUST,
        )
    if choice.build:
        cache.programs_of(choice)  # raises where the directory that the user named is not there
    try:
        system.refuse_reaching_settings(choice)
    except ArgumentError as error:
        error.hint = error.hint or _TRUST
        raise


# Takes a run; provisions its system in four steps: its storage is made and probed, the system is
# started on it, and the durability of its commits is measured.
#
# What runs share is done once: where the deployment is up already, it stays as it is.

_SLOW_CPUS = 0.5
"""With less it takes tens of seconds until a server is ready."""


def make_storage(state: RunState) -> None:
    state.pooled = state.context.pool.made(state.planned)


def probe_storage(state: RunState) -> None:
    """Each of its storages before its first use in the experiment, where that was asked for."""
    context, pooled = state.context, state.up()
    if not context.probe_s or pooled.is_up:
        return
    for on_storage in pooled.plain_directories():
        with on_storage as directory:
            name = directory.storage.name
            if name in context.known.probes:
                continue
            from assay.probe.measure import probe

            events = context.events
            say, warn = events.stage, events.warning
            probed = probe(directory, context.probe_s, again=context.again, say=say, warn=warn)
            context.known.probes[name] = probed
            context.store.probed(probed)


def start_system(state: RunState) -> None:
    """Of a server by URL: reads its version and settings again."""
    choice = state.planned.cell.system
    cpus = choice.machine.cpus
    slow = ""
    if cpus is not None and cpus < _SLOW_CPUS:
        slow = f"; a start with {units.counted(cpus, 'processor')} is slow"
    begins = "start" if choice.url is None else "connect to"
    state.context.events.stage(f"{begins} {brief(choice.label)}{slow}")
    state.context.pool.start(state.planned)


def measure_durability(state: RunState) -> None:
    """Of the commits of all runs that share the deployment, before the first of them; and keeps
    what was provisioned."""
    context, pooled = state.context, state.up()
    durability = context.durability
    if durability.is_measured:
        runs = context.pool.runs_with(state.planned)
        durability.measure(pooled, runs, context.events)
        pooled.note_durability(durability.of(state.planned, pooled.deployment))
    pass_over_logs(pooled.deployment)
    context.store.provisioned(pooled.deployment)
