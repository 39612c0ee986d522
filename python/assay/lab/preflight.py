"""Takes a plan; returns what is known of its runs before anything is started: where systems and
storages are, their compiled scripts, which runs are refused, and what of this machine they lack."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence

from msgspec import Struct, field
from msgspec.structs import replace

from assay import _engine, registry
from assay.contracts.systems.abilities import ChecksSettings, FoundPrograms, NeedsLibrary
from assay.drive.prepare import Compiled, check_limits, name_what_sets, scripts_of_all
from assay.env_vars import refuse_wrong_values
from assay.errors import (
    ArgumentError,
    AssayError,
    ExperimentError,
    MachineLimit,
    NotOnThisMachine,
    StorageUnavailable,
    SystemMissing,
    SystemUnderTestError,
)
from assay.experiment import Experiment, SystemChoice
from assay.experiment.choices import storage_words
from assay.experiment.choices.profiles import guessing_options
from assay.judge.result_checks import chosen_rules
from assay.lab import measurement
from assay.lab.refusal import warn_of_small_storages, why_lacking, why_refused
from assay.lab.run_context.context import counts_of_outcomes
from assay.load.row_sources.protocol import row_source
from assay.plan import Plan, PlannedRun, values
from assay.plan.values import Patterns
from assay.plugin_failures import of_package
from assay.provision import limits
from assay.provision.engine.engine_calls import as_ours
from assay.provision.install import cache
from assay.provision.machine.ports import server_address
from assay.record.metrics.clients import ELAPSED, HEADLINE
from assay.registry import WORKLOAD_FILE
from assay.report import check_declarations
from assay.text.phrases import Mention, did_you_mean, phrase
from assay.workload.parameters import unused_parameters
from assay.workload.values import Workload


class Preflight(Struct, frozen=True):
    """What was found, without a mistake of the user."""

    runs: tuple[PlannedRun, ...]
    """Those of the plan that were chosen."""
    compiled: Compiled
    warnings: tuple[str, ...]
    """About probable mistakes in scripts, and storages that may be too small."""
    refusals: Mapping[int, str]
    """Position of each run that is refused → why."""
    available: Availability
    """The systems and storages of all others."""

    @property
    def expressible(self) -> list[PlannedRun]:
        """The runs that are not refused."""
        return [run for run in self.runs if run.position not in self.refusals]


def preflight(workload: Workload, plan: Plan, patterns: Patterns) -> Preflight:
    """``patterns``: those of ``--only``. Nothing is started, read or written.

    Raises `YouError` for the first mistake in the workload, a script, a row expression or an
    option.
    """
    with of_package(workload.folder):
        return _preflight(workload, plan, patterns)


def _preflight(workload: Workload, plan: Plan, patterns: Patterns) -> Preflight:
    refuse_wrong_values()
    check_declarations(workload)
    _check_goal(workload, plan)
    runs = values.chosen_plan(plan, patterns)
    row_source(workload).check_input(plan.experiment.input_paths)
    _check_rows(workload, runs)
    measurement.check_caches(runs)
    if any(run.cell.system.url is None for run in runs):
        server_address()  # raises where private servers are to listen at none of this machine
    compiled = Compiled(workload)
    refusals = {
        run.position: reason for run in runs if (reason := why_refused(compiled, run)) is not None
    }
    expressible = [run for run in runs if run.position not in refusals]
    available = look_for_systems(workload, plan.experiment, expressible)
    refusals |= available.refusals(expressible, plan.experiment.optional)
    expressible = [run for run in runs if run.position not in refusals]
    paths = plan.experiment.input_paths
    small = warn_of_small_storages(workload, expressible, paths)
    warnings = (*compiled.check(expressible), *small)
    _compile_checks(workload, expressible)
    # After the scripts: a variable that is misspelt there leaves a parameter unused.
    for mistake in unused_parameters(workload):
        raise mistake
    if expressible:
        available = available.without(plan.experiment.optional)
    return Preflight(runs, compiled, warnings, refusals, available)


def _compile_checks(workload: Workload, runs: Iterable[PlannedRun]) -> None:
    """Compiles the consistency checks once for each test and dialect, so that a mistake in one is
    said before data are loaded. Raises `ScriptError` for the first."""
    first: dict[tuple[str, str], PlannedRun] = {}
    for run in runs:
        first.setdefault((registry.system(run.cell.system.name).dialect.name, run.cell.test), run)
    from assay.drive import query

    for run in first.values():
        cell, dialect = run.cell, registry.system(run.cell.system.name).dialect
        variables = counts_of_outcomes(workload, cell.clients, ()) | workload.with_defaults(
            cell.parameters
        )
        identifiers = workload.identifiers_for(cell.parameters)
        for check in chosen_rules(workload.checks_for(dialect), workload.test(cell.test).checks):
            document = query.document_of(check, variables, identifiers, dialect)
            try:
                _engine.script_warnings(document.json)
            except _engine.EngineError as error:
                error.file = str(workload.file_of(check.path))
                found = as_ours(error)
                name_what_sets(found, workload)
                raise found from error


def refuse_missing(workload: Workload, preflight: Preflight, load_sessions: int | None) -> None:
    """Raises `ArgumentError` where every run is refused, one of them because of what is asked and
    not because of what its system lacks. Raises `SystemUnderTestError` where this machine lacks a
    system or a storage of any run, or allows too few threads or open files for their clients."""
    if not preflight.expressible:
        for run in preflight.runs:
            is_missing = preflight.available.why_missing(run) is not None
            if why_lacking(workload, run) is None and not is_missing:
                raise ArgumentError(preflight.refusals[run.position])
    preflight.available.refuse_missing()
    check_limits(workload, preflight.runs, load_sessions)


def _check_goal(workload: Workload, plan: Plan) -> None:
    """Raises `ArgumentError` where the goal is none, or no run can show whether it is met."""
    experiment = plan.experiment
    if not experiment.goal:
        return
    from assay.comparison import goals

    condition = goals.goal(experiment.goal)
    if experiment.is_repeated_as_needed:
        raise ArgumentError(
            phrase("{--goal} does not go with {--precision} or {--budget}"),
            hint=phrase("{--repetitions}: each rate is then tried so often"),
        )
    metric = condition.metric
    for run in plan.runs:
        if metric.stem == ELAPSED.stem and run.ends_by_time:
            is_asked = experiment.driving.get("duration_s") is not None
            ends_by_its_work = workload.test(run.cell.test).driving.duration_s is None
            raise ArgumentError(
                phrase("{--goal}: each run of {} takes the time it is given", run.cell.test_name),
                hint=phrase("leave {--duration} out: it then ends by its work")
                if is_asked and ends_by_its_work
                else phrase("{--transactions N}: it then ends by its work"),
            )
        if metric.stem == HEADLINE.stem and not workload.test(run.cell.test).headline:
            raise ArgumentError(phrase("{--goal}: {} has no headline", run.cell.test_name))
    _check_transaction(workload, metric.transaction, plan.runs)
    if experiment.goal_over:
        _check_levels(experiment.goal_over, plan.runs)
        return
    if metric.is_more_better:
        raise ArgumentError(
            phrase(
                "{--goal}: the highest offered rate is searched, and {} rises with it: expected "
                "an upper limit, of a latency, say",
                metric.label,
            ),
            hint=phrase("{--goal 'p99 < 5ms'}"),
        )
    for run in plan.runs:
        if not run.ends_by_time:
            raise ArgumentError(
                phrase("{--goal} needs runs that end by time; {} does not", run.cell.test_name),
                hint=phrase("{--duration 10}"),
            )


def _check_transaction(workload: Workload, name: str, runs: Sequence[PlannedRun]) -> None:
    """Raises `ArgumentError` where a test has no transaction type of that name; empty: any."""
    one_of_each = {(run.cell.test, run.cell.system.name, run.cell.scripts): run for run in runs}
    for run in one_of_each.values() if name else ():
        dialect = registry.system(run.cell.system.name).dialect
        types = [script.name for script in scripts_of_all(workload, run, dialect)]
        if name not in types:
            raise ArgumentError(
                phrase("{--goal}: {} has no transaction type {!r}", run.cell.test_name, name),
                hint=did_you_mean(name, types),
            )


def _check_levels(name: str, runs: Sequence[PlannedRun]) -> None:
    """Raises `ArgumentError` where the parameter has no levels among which one can search."""
    for run in runs:
        value = run.cell.parameters.get(name)
        if isinstance(value, bool) or not isinstance(value, int | float):
            known = [
                one for one, level in run.cell.parameters.items() if isinstance(level, int | float)
            ]
            raise ArgumentError(
                phrase(
                    "{--goal-over}: {} has no parameter {!r} that is a number",
                    run.cell.test_name,
                    name,
                ),
                hint=did_you_mean(name, known),
            )
    if len({run.cell.parameters[name] for run in runs}) < 2:
        raise ArgumentError(
            phrase("{--goal-over}: {} has one level: there is nothing to search", name),
            hint=phrase("{}: its levels", Mention("set", f"{name}=A,B,C")),
        )


def _check_rows(workload: Workload, runs: Sequence[PlannedRun]) -> None:
    """Raises `ExperimentError` where the tables of a run cannot be made with its parameters or not
    be updated as its test requires."""
    source = row_source(workload)
    for run in runs:
        steps = workload.test(run.cell.test).steps
        why = source.refuse_update(workload) if any(step.updates_rows for step in steps) else None
        if why is not None:
            raise ExperimentError(
                f"the test {run.cell.test} updates its rows: {why}",
                file=workload.folder / WORKLOAD_FILE,
                hint="leave the step update out",
            )
    source.check(workload, [run.cell.parameters for run in runs])


class Availability(Struct, frozen=True):
    """What was found of the systems and storages of some runs."""

    missing: Mapping[str, AssayError]
    """By the label of the system, also where this machine has not what the system is to be
    given."""
    places: tuple[str, ...]
    """Of the programs that will be started."""
    versions: Mapping[str, str] = field(default_factory=dict)
    """Of the same, by the label of the system."""
    names: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """The `SystemChoice.names` of those that are missing, by the label."""
    storages: Mapping[str, AssayError] = field(default_factory=dict)
    """Those that cannot be made, by their names: `StorageUnavailable`, or `NotOnThisMachine`."""

    def why_missing(self, run: PlannedRun) -> AssayError | None:
        """Why the run cannot be executed on this machine; None: it can."""
        return self.missing.get(run.cell.system.label) or self.storages.get(run.cell.storage_name)

    def refusals(self, runs: Iterable[PlannedRun], optional: Collection[str]) -> dict[int, str]:
        """Position of each run whose system or storage is missing → why, where the experiment says
        that the others are run without it."""
        found = {}
        for run in runs:
            system, storage = run.cell.system, run.cell.storage_name
            why: AssayError | None = None
            if {*system.names} & {*optional}:
                why = self.missing.get(system.label)
            if why is None and storage in optional:
                why = self.storages.get(storage)
            if why is not None:
                found[run.position] = one_line(why)
        return found

    def without(self, optional: Collection[str]) -> Availability:
        """The same without what is missing and need not be there."""
        return replace(
            self,
            missing={
                label: error
                for label, error in self.missing.items()
                if not {*self.names.get(label, ())} & {*optional}
            },
            storages={name: error for name, error in self.storages.items() if name not in optional},
        )

    def by_name(self) -> dict[str, AssayError]:
        """Every system and storage that is missing, as it is shown."""
        storages = {f"the storage {name}": error for name, error in self.storages.items()}
        return {**self.missing, **storages}

    def refuse_missing(self) -> None:
        """Raises `SystemUnderTestError` with every system and storage that is missing; for a single
        one its own error."""
        found = self.by_name()
        if len(found) == 1:
            raise next(iter(found.values()))
        if found:
            lines = [f"- {label}: {one_line(error)}" for label, error in found.items()]
            kind: type[AssayError] = StorageUnavailable if not self.missing else SystemMissing
            if any(isinstance(error, NotOnThisMachine) for error in found.values()):
                kind = NotOnThisMachine
            raise kind(
                f"{_counted(len(self.missing), len(self.storages))} on this machine:\n"
                + "\n".join(lines),
                hint="install them, or leave them out"
                if all(isinstance(error, SystemMissing) for error in found.values())
                else "leave them out: `assay plan` shows which runs need them",
            )


def _counted(systems: int, storages: int) -> str:
    if not storages:
        return f"{systems} systems are not available"
    if not systems:
        return f"{storages} storages are not available"
    return f"{systems + storages} systems and storages are not available"


def look_for_systems(
    workload: Workload, experiment: Experiment, runs: Iterable[PlannedRun]
) -> Availability:
    """The systems and storages of the runs of the experiment that are not refused; see
    `look_for`."""
    needed = [run for run in runs if _needs_system(workload, run)]
    systems = [run.cell.system for run in needed]
    found = availability_of(systems)
    storages = {
        storage.name: storage
        for run in needed
        if run.cell.system.url is None
        for storage in (run.cell.storage, run.cell.system.machine.log_storage)
        if storage is not None
    }
    return Availability(
        {**_beyond_machine(systems), **found.missing},
        found.places,
        found.versions,
        {choice.label: choice.names for choice in systems},
        {
            **{
                name: error
                for name, error in storage_words.without_room(experiment).items()
                if name in storages
            },
            **storage_words.unavailable(storages.values()),
        },
    )


def availability_of(choices: Iterable[SystemChoice]) -> Availability:
    """Nothing is started, and no server is asked.

    Raises `ArgumentError` for what is there and cannot be used as asked.
    """
    asked: dict[tuple[str, bool, str, str], FoundPrograms | AssayError | None] = {}
    missing: dict[str, AssayError] = {}
    found_versions = {}
    for choice in choices:
        key = (choice.name, choice.url is None, choice.version, choice.build)
        if key not in asked:
            asked[key] = _found_programs(choice)
        found = asked[key]
        if isinstance(found, AssayError):
            missing[choice.label] = found
        if isinstance(found, FoundPrograms) and choice.label not in found_versions:
            found_versions[choice.label] = found.version
            system = registry.system(choice.name)
            if choice.settings and isinstance(system, ChecksSettings):
                with guessing_options(choice):
                    system.refuse_settings(cache.with_programs(choice))
    places = tuple(found.place for found in asked.values() if isinstance(found, FoundPrograms))
    return Availability(missing, places, found_versions)


def one_line(error: AssayError) -> str:
    """The message, with the fix in parentheses."""
    return f"{error.message} ({error.hint})" if error.hint else error.message


def _needs_system(workload: Workload, run: PlannedRun) -> bool:
    return any(step.needs_system for step in workload.test(run.cell.test).steps)


def _beyond_machine(choices: Iterable[SystemChoice]) -> dict[str, SystemUnderTestError]:
    """The systems that are to be given more memory or processors than this machine can give."""
    found: dict[str, SystemUnderTestError] = {}
    for choice in {choice.label: choice for choice in choices}.values():
        try:
            limits.refuse_impossible_limits(choice.machine)
        except MachineLimit as error:
            found[choice.label] = error
    return found


def _found_programs(choice: SystemChoice) -> FoundPrograms | AssayError | None:
    """The programs that would be started, or what is missing; None where nothing is needed here."""
    system = registry.system(choice.name)
    try:
        if choice.url is not None and isinstance(system, NeedsLibrary):
            system.insist_on_library()
        return cache.programs_of(choice)
    except (SystemUnderTestError, NotOnThisMachine) as error:
        return error
