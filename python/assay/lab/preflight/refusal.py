"""Takes a planned run; returns why it is refused, or None.

It is refused where its system lacks what its test needs, and where its system, its storage, its
caches or its client programs cannot be as they are asked for. All of it is known from the plan
alone: `assay plan` and a run ask the same function.
"""

from __future__ import annotations

from collections.abc import Collection

from assay import registry
from assay.contracts import capabilities
from assay.contracts.dialects.protocol import HasViews
from assay.contracts.factors import CACHE
from assay.contracts.languages import SQL
from assay.contracts.systems.abilities import ChecksAddress, capabilities_of
from assay.dialects.limits import Limited, beyond
from assay.drive.document import scripts_of
from assay.drive.isolation import too_strong
from assay.drive.prepare import Compiled
from assay.errors import ArgumentError
from assay.experiment import COLD_CACHES, SystemChoice
from assay.experiment.choices import storage_words
from assay.experiment.settings import unused_settings
from assay.lab.driving import cache, generators, native_clients
from assay.lab.run_context import replicas
from assay.plan import PlannedRun
from assay.plan.drives import drives
from assay.provision.limits import client_memory
from assay.provision.machine.ports import server_address
from assay.workload.values import RunsScripts, Workload


def why_refused(compiled: Compiled, run: PlannedRun) -> str | None:
    """Why the run is refused, or None. Nothing is started for a refused run, and the experiment
    goes on."""
    return why_lacking(compiled.workload, run) or why_not_as_asked(compiled, run)


def why_not_as_asked(compiled: Compiled, run: PlannedRun) -> str | None:
    """Why its system cannot be on its storage, on its machine, or have its caches; None: it can."""
    choice, storage = run.cell.system, run.cell.storage
    try:
        storage_words.check_pair(choice, storage)
    except ArgumentError as error:
        return _as_reason(choice, error)
    if refused := why_not_on_machine(run) or _why_not_isolated(compiled.workload, run):
        return refused
    steps = compiled.workload.test(run.cell.test).steps
    refusals = (step.why_refused(run) for step in steps)
    refused = next(filter(None, refusals), None) or native_clients.why_not(compiled.workload, run)
    refused = refused or generators.why_not(compiled.workload, run)
    refused = refused or replicas.why_not(compiled.workload, run)
    return refused or cache.why_not(compiled, run)


def why_not_on_machine(run: PlannedRun) -> str | None:
    """Why its system cannot be as it is asked for, on the machine that it is given; None: it
    can."""
    choice, storage = run.cell.system, run.cell.storage
    if refused := unused_settings.why_refused(choice):
        return refused
    system = registry.system(choice.name)
    try:
        system.check(choice)
        if choice.url is None and isinstance(system, ChecksAddress):
            system.refuse_address(choice, server_address())
        if client_memory.is_limited(choice):
            from assay.storages.known_file_system import known_file_system

            file_system = known_file_system(storage)
            client_memory.refuse_too_little(choice, storage.name, file_system, run.cell.clients)
    except ArgumentError as error:
        return _as_reason(choice, error)
    return None


def _why_not_isolated(workload: Workload, run: PlannedRun) -> str | None:
    """Why its sessions cannot have the isolation level of a drive, or its transactions that of a
    script; None: they can."""
    dialect = registry.system(run.cell.system.name).dialect
    for drive in drives(workload, run):
        if lacking := too_strong(scripts_of(workload, drive, dialect), dialect):
            return f"{run.cell.system.label}: {lacking}"
        if level := drive.run.cell.driving.isolation_level:
            try:
                dialect.session_isolation(level)
            except ArgumentError as error:
                return _as_reason(run.cell.system, error)
    return None


def _as_reason(choice: SystemChoice, error: ArgumentError) -> str:
    message = error.message if choice.label in error.message else f"{choice.label}: {error}"
    return f"{message}; {error.hint}" if error.hint else message


def why_lacking(workload: Workload, run: PlannedRun) -> str | None:
    """What the system lacks of what the test needs; None: nothing."""
    test, choice = workload.test(run.cell.test), run.cell.system
    had = capabilities_of(registry.system(choice.name), choice)
    dialect = registry.system(choice.name).dialect
    if reason := test.why_not_expressible(dialect):
        return f"{choice.label}: {reason}"
    runs_scripts: tuple[RunsScripts, ...] = (test, *test.drives)
    missing = {name for one in runs_scripts for name in workload.left_out(one, dialect)}
    unspoken = [
        one
        for one in dict.fromkeys(test.named_scripts)
        if one not in missing and not workload.is_spoken(one, dialect)
    ]
    if unspoken and not run.cell.feed:
        if reason := workload.why_not_expressible(unspoken[0], dialect):
            return f"{choice.label}: {reason}"
        language = dialect.language.upper()
        return f"{choice.label}: {workload.name} has no {language} statements for {unspoken[0]}"
    views = workload.schema.views if dialect.language == SQL else ()
    if views and not isinstance(dialect, HasViews):
        return f"{choice.label} has no views, and {workload.name} declares {views[0].name}"
    needs = {name: None for name in test.all_needs if name not in test.goes_without_in(dialect)}
    lacking = capabilities.missing(needs, choice.label, had)
    if run.cell.level(CACHE) in COLD_CACHES:
        lacking = lacking or capabilities.missing(("restart",), choice.label, had)
        needs["restart"] = None
    if lacking is None and (wide := _why_too_wide(workload, run)):
        return f"{choice.label} cannot hold these tables: {wide}"
    if lacking is None and choice.url is not None and "restart" in needs:
        return f"{choice.label} is not started by Assay, so it cannot be restarted"
    return lacking or _lacking_at_levels(workload, run, had)


def _why_too_wide(workload: Workload, run: PlannedRun) -> str | None:
    """The first table that cannot be made within the limits that the dialect declares."""
    dialect = registry.system(run.cell.system.name).dialect
    if not isinstance(dialect, Limited):
        return None
    tables = workload.tables_for(run.cell.parameters, dialect.language)
    fatal = [one for one in beyond(tables, dialect) if not one.can_be_made]
    return f"{fatal[0].sentence()} ({dialect.limits.source})" if fatal else None


def _lacking_at_levels(workload: Workload, run: PlannedRun, had: Collection[str]) -> str | None:
    """What single levels of the run's parameters need."""
    for parameter in workload.parameters.values():
        level = str(run.cell.parameters.get(parameter.name, ""))
        language = registry.system(run.cell.system.name).dialect.language
        if language not in parameter.languages.get(level, (language,)):
            spoken = " or ".join(parameter.languages[level])
            label = run.cell.system.label
            return f"{parameter.name}={level} is of systems of {spoken}; {label} takes {language}"
        needs = parameter.needs.get(level, ())
        if lacking := capabilities.missing(needs, run.cell.system.label, had):
            return f"{parameter.name}={level}: {lacking}"
    return None
