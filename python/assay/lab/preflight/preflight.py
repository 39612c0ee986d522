"""Takes a plan; returns what is known of its runs before anything is started: their compiled
scripts, which of them are refused, and what of this machine they lack."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from msgspec import Struct

from assay import _engine, registry
from assay.drive.prepare import Compiled, check_limits, name_what_sets, scripts_of_all
from assay.errors import ArgumentError, ExperimentError
from assay.judge.check.consistency import chosen
from assay.lab.driving import cache
from assay.lab.preflight.availability import Availability, look_for_systems
from assay.lab.preflight.refusal import why_lacking, why_refused
from assay.lab.preflight.small_storages import warn_of_small_storages
from assay.lab.run_context.consistency import counts
from assay.load.row_sources.protocol import row_source
from assay.plan import Plan, PlannedRun, only
from assay.plan.only import Patterns
from assay.plugin_failures import of_package
from assay.provision.engine.session import as_ours
from assay.provision.machine.ports import server_address
from assay.record.metrics.clients import ELAPSED, HEADLINE
from assay.registry import WORKLOAD_FILE
from assay.report import check_declarations
from assay.text.mentions import Mention, phrase
from assay.text.nearest import did_you_mean
from assay.workload.unused_parameters import unused_parameters
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
    check_declarations(workload)
    _check_goal(workload, plan)
    runs = only.chosen(plan, patterns)
    row_source(workload).check_input(plan.experiment.input_paths)
    _check_rows(workload, runs)
    cache.check(runs)
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
        variables = counts(workload, cell.clients, ()) | workload.with_defaults(cell.parameters)
        identifiers = workload.identifiers_for(cell.parameters)
        for check in chosen(workload.checks_for(dialect), workload.test(cell.test).checks):
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
