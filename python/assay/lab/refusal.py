"""Takes planned runs; returns why each is refused, as by a storage that is too small for its
data; and an experiment without the optional levels that cannot be had here, in canonical
settings."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

from msgspec import Struct

from assay import registry
from assay.contracts import capabilities
from assay.contracts.capabilities import SQL
from assay.contracts.dialects import HasViews
from assay.contracts.experiment import LeftOut, Scaled
from assay.contracts.factors import CACHE
from assay.contracts.storages.abilities import SizeChosen
from assay.contracts.systems.abilities import (
    ChecksAddress,
    LeastServer,
    LeastSpace,
    Spelled,
    SpellsSettings,
    capabilities_of,
)
from assay.dialects.limits import Limited, beyond
from assay.drive.document import scripts_of
from assay.drive.prepare import Compiled
from assay.drive.substitutes import too_strong
from assay.errors import ArgumentError, MachineLimit, NotOnThisMachine, SystemUnderTestError
from assay.experiment import (
    COLD_CACHES,
    Experiment,
    Scalar,
    ServerMachine,
    StorageChoice,
    SystemChoice,
    settings_validation,
)
from assay.experiment.choices import identity, profiles, server_limits, storage_words
from assay.experiment.settings_validation import refuse_repeated
from assay.lab import measurement
from assay.lab.run_context import outcome
from assay.load.row_sources.protocol import RowsSize, row_source
from assay.plan import Plan, PlannedRun, cell_names, plan
from assay.plan.drives import drives, parameters_of
from assay.provision import limits
from assay.provision.install import cache
from assay.provision.machine.ports import server_address
from assay.text.phrases import Mention, phrase
from assay.text.units import binary
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
    refused = next(filter(None, refusals), None) or measurement.why_no_native_clients(
        compiled.workload, run
    )
    refused = refused or measurement.why_no_generators(compiled.workload, run)
    refused = refused or outcome.why_no_replicas(compiled.workload, run)
    return refused or measurement.why_no_cache_state(compiled, run)


def why_not_on_machine(run: PlannedRun) -> str | None:
    """Why its system cannot be as it is asked for, on the machine that it is given; None: it
    can."""
    choice, storage = run.cell.system, run.cell.storage
    if refused := settings_validation.why_refused(choice):
        return refused
    system = registry.system(choice.name)
    try:
        system.check(choice)
        if choice.url is None and isinstance(system, ChecksAddress):
            system.refuse_address(choice, server_address())
        if limits.is_client_memory_limited(choice):
            from assay.storages.file_systems import known_file_system

            file_system = known_file_system(storage)
            limits.refuse_too_little_client_memory(
                choice, storage.name, file_system, run.cell.clients
            )
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
    lacking = capabilities.missing_capabilities(needs, choice.label, had)
    if run.cell.level(CACHE) in COLD_CACHES:
        lacking = lacking or capabilities.missing_capabilities(("restart",), choice.label, had)
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
        if lacking := capabilities.missing_capabilities(needs, run.cell.system.label, had):
            return f"{parameter.name}={level}: {lacking}"
    return None


def plan_here(experiment: Experiment, workload: Workload) -> Plan:
    """The experiment of the plan has its settings in one spelling, and says what was left out, and
    why."""
    experiment = spelled_experiment(experiment)
    whole = plan(experiment, workload)
    optional = [name for name in server_limits.FACTORS if name in experiment.optional]
    left_out = tuple(_left_out(whole.runs, optional))
    if not left_out:
        return whole
    said = tuple(_scaled(whole, left_out))
    changed = replace(experiment, left_out=left_out, scaled=(*experiment.scaled, *said))
    return plan(changed, workload)


def _left_out(runs: Iterable[PlannedRun], optional: Iterable[str]) -> Iterator[LeftOut]:
    seen = set()
    for name in optional:
        for run in runs:
            level = server_limits.level(run.cell.system.machine, name)
            label = _without_machine(run).cell.system.label
            if level is None or (label, name, level) in seen:
                continue
            if reason := _why_left_out(run, name):
                seen.add((label, name, level))
                yield LeftOut(label, name, level, reason)


def _why_left_out(run: PlannedRun, name: str) -> str:
    """Why its system cannot be given its level of this factor; empty: it can, or cannot be as it is
    asked for on any machine."""
    alone = _on_machine(run, server_limits.only(run.cell.system.machine, name))
    try:
        if alone.cell.system.url is None:
            limits.refuse_impossible_limits(alone.cell.system.machine)
    except MachineLimit as error:
        return error.message.partition(": ")[2] if error.about == name else error.message
    reason = why_not_on_machine(alone)
    if reason is None or why_not_on_machine(_without_machine(run)) is not None:
        return ""
    return reason.removeprefix(f"{alone.cell.system.label}: ")


def _on_machine(run: PlannedRun, machine: ServerMachine) -> PlannedRun:
    return replace(run, cell=replace(run.cell, system=replace(run.cell.system, machine=machine)))


def _without_machine(run: PlannedRun) -> PlannedRun:
    return _on_machine(run, ServerMachine())


def _scaled(whole: Plan, left_out: Iterable[LeftOut]) -> Iterator[Scaled]:
    """For each test what it would have had; what no system can have, for the same reason, is said
    once."""
    asked: dict[tuple[str, str, object], dict[str, str]] = {}
    for name in server_limits.FACTORS:
        for run in whole.runs:
            level = server_limits.level(run.cell.system.machine, name)
            if level is not None:
                words = cell_names.machine_levels(run.cell.system.machine, [name])
                shown = cell_names.level_text(words[name])
                label = _without_machine(run).cell.system.label
                asked.setdefault((run.cell.test, name, level), {})[label] = shown
    for (test, name, level), systems in asked.items():
        reasons = {
            one.system: one.reason
            for one in left_out
            if (one.factor, one.level) == (name, level) and one.system in systems
        }
        if reasons.keys() == systems.keys() and len(set(reasons.values())) == 1:
            reasons = {"": next(iter(reasons.values()))}
        for system, reason in reasons.items():
            shown = next(iter(systems.values()))
            yield Scaled(test, f"{name} of {system}" if system else name, shown, "", reason=reason)


def spelled_experiment(experiment: Experiment) -> Experiment:
    """Raises `ArgumentError` for a system or a setting that is thus given twice."""
    systems = tuple(map(_spelled_choice, _with_programs(experiment.systems)))
    if systems == experiment.systems and not any(one.at_default or one.programs for one in systems):
        return experiment
    result = replace(experiment, systems=identity.named_systems(systems))
    refuse_repeated(result)
    return result


def _with_programs(choices: Sequence[SystemChoice]) -> Iterator[SystemChoice]:
    """Beside a version of a system, the same system without one has that which it would use; the
    programs of a directory are read."""
    versioned = {choice.name for choice in choices if choice.version}
    for choice in choices:
        try:
            is_looked_for = choice.build or choice.name in versioned
            yield cache.in_its_version(choice) if is_looked_for else choice
        except (SystemUnderTestError, NotOnThisMachine):  # they are not here: said elsewhere
            yield choice


def _spelled_choice(choice: SystemChoice) -> SystemChoice:
    system = registry.system(choice.name)
    if not choice.settings or choice.url is not None or not isinstance(system, SpellsSettings):
        return choice
    own = {name: one for name, one in choice.settings.items() if name not in choice.of_profile}
    try:
        found = _asked_of(system, choice, own)
        promised = _asked_of(system, choice, profiles.settings_of(choice))
    except SystemUnderTestError:  # its programs are not here, which is said elsewhere
        return choice
    _refuse_several_names(choice, found)
    of_profile = {one.name: one.value for one in promised}
    asked = [one for one in found if of_profile.get(one.name) != one.value]
    for one in asked:
        of_profile.pop(one.name, None)
    options = {name: one for name, one in choice.of_profile.items() if name in choice.options}
    at_default = [name for name in choice.at_default if name not in own]
    return replace(
        choice,
        settings={**of_profile, **{one.name: one.value for one in asked}},
        of_profile={**options, **of_profile},
        at_default=(*at_default, *(one.name for one in asked if one.is_default)),
    )


def _asked_of(
    system: SpellsSettings, choice: SystemChoice, settings: Mapping[str, str]
) -> Sequence[Spelled]:
    return system.spelled_settings(replace(choice, settings=settings)) if settings else ()


def _refuse_several_names(choice: SystemChoice, spelled: Sequence[Spelled]) -> None:
    names = [one.name for one in spelled]
    for name in names:
        if names.count(name) > 1:
            raise ArgumentError(
                f"expected {choice.name}.{name} once, found it in several spellings of its name",
                hint=phrase(
                    "all its levels in one: {}", Mention("set", f"{choice.name}.{name}=A,B")
                ),
            )


HINT_FOR_SMALL_STORAGES = "choose a larger size for it, or smaller data"


def warn_of_small_storages(
    workload: Workload, runs: Iterable[PlannedRun], input_paths: Sequence[str]
) -> Iterator[str]:
    """A sentence for each storage that is smaller than the text of the rows. Raises `ArgumentError`
    for one that the rows cannot fit on."""
    sizes = RowSizes(workload, input_paths)
    for run, storage_bytes in _on_chosen_sizes(runs):
        system = registry.system(run.cell.system.name)
        if isinstance(system, LeastServer):
            alone_bytes = system.least_storage_bytes(run.cell.system)
            if alone_bytes > storage_bytes:
                needs = f"a server without any rows needs {binary(alone_bytes)} or more"
                raise _too_small(workload, run, storage_bytes, needs)
        found = sizes.of(run)
        if found is None or not isinstance(system, LeastSpace):
            continue
        least_bytes = system.least_bytes(found.rows, found.text_bytes)
        if least_bytes > storage_bytes:
            rows = f"its {found.rows:,} rows need" if found.rows else "its rows need"
            raise _too_small(workload, run, storage_bytes, f"{rows} {binary(least_bytes)} or more")
        if found.text_bytes > storage_bytes:
            rows_are = f"its rows are about {binary(found.text_bytes)} as text"
            where, what = _storage_words(run, storage_bytes), _data_words(workload, run)
            yield f"{where} may be too small for {what}: {rows_are}"


def refuse_smaller_than_before(
    workload: Workload, runs: Iterable[PlannedRun], earlier: Callable[[PlannedRun], int | None]
) -> None:
    """Raises `ArgumentError` for a storage that is smaller than what the data of a run took on disk
    in ``earlier`` runs; None: not known."""
    for run, storage_bytes in _on_chosen_sizes(runs):
        took_bytes = earlier(run)
        if took_bytes is not None and took_bytes > storage_bytes:
            took = f"the same data took {binary(took_bytes)} in an earlier run"
            raise _too_small(workload, run, storage_bytes, took)


def _on_chosen_sizes(runs: Iterable[PlannedRun]) -> Iterator[tuple[PlannedRun, int]]:
    """The runs whose storage has a size that was chosen, with the bytes; one of those that differ
    in nothing that decides the size of their data."""
    distinct = {
        repr((run.cell.system, run.cell.storage, run.cell.test, run.cell.parameters)): run
        for run in runs
    }
    for run in distinct.values():
        storage_bytes = _storage_bytes(run)
        if storage_bytes is not None:
            yield run, storage_bytes


def _storage_bytes(run: PlannedRun) -> int | None:
    """Of the storage; None where it is not known, or what is on it may be compressed."""
    choice = run.cell.storage
    if run.cell.system.url is not None:
        return None
    kind = registry.storage(choice.kind)
    if not isinstance(kind, SizeChosen):
        return None
    if any("compress" in value for value in choice.options.values()):
        return None
    return kind.size_bytes(choice)


def _too_small(workload: Workload, run: PlannedRun, storage_bytes: int, why: str) -> ArgumentError:
    where, what = _storage_words(run, storage_bytes), _data_words(workload, run)
    return ArgumentError(f"{where} is too small for {what}: {why}", hint=HINT_FOR_SMALL_STORAGES)


def _storage_words(run: PlannedRun, storage_bytes: int) -> str:
    return f"storage {run.cell.storage_name!r} of {binary(storage_bytes)}"


def _data_words(workload: Workload, run: PlannedRun) -> str:
    words = ", ".join(f"{name}={value}" for name, value in run.cell.parameters.items())
    test = workload.full_name(run.cell.test)
    return f"{test} on {run.cell.system.label}" + (f" ({words})" if words else "")


class DataSize(Struct, frozen=True):
    """The largest data set of one system on one storage."""

    system: str
    """Its label."""
    storage: StorageChoice
    bytes: int
    is_measured: bool
    """Whether the same data were in the system before: their size on disk. Otherwise that of the
    rows as text, which is less: there are no indexes, logs and catalogues in it."""


def data_sizes(
    workload: Workload,
    runs: Iterable[PlannedRun],
    input_paths: Sequence[str],
    measured: Mapping[int, int],
) -> list[DataSize]:
    """``runs``: those that will be executed; ``input_paths``: those of the experiment;
    ``measured``: `Store.sizes_on_disk` of the runs. What is not known is left out, as are servers
    by URL. A storage with copies of the data (`assay.load.copies`) needs that much again."""
    rows = RowSizes(workload, input_paths)
    largest: dict[tuple[str, str], DataSize] = {}
    for run in runs:
        cell = run.cell
        if cell.system.url is not None:
            continue
        known = measured.get(run.position)
        expected = rows.of(run) if known is None else None
        size_bytes = known if expected is None else expected.text_bytes
        if size_bytes is None:
            continue
        found = DataSize(cell.system.label, cell.storage, size_bytes, known is not None)
        place = (cell.system.label, cell.storage.name)
        if place not in largest or largest[place].bytes < size_bytes:
            largest[place] = found
    return list(largest.values())


def size_bytes_of(storage: StorageChoice) -> int | None:
    """The size of the storage, which each system has for itself; None: its size is not chosen."""
    kind = registry.storage(storage.kind)
    return kind.size_bytes(storage) if isinstance(kind, SizeChosen) else None


class RowSizes:
    """The sizes of rows, each asked once."""

    def __init__(self, workload: Workload, input_paths: Sequence[str]) -> None:
        self._workload = workload
        self._paths = input_paths
        self._known: dict[str, RowsSize | None] = {}

    def of(self, run: PlannedRun) -> RowsSize | None:
        """Of the largest of its loads; None where nothing is loaded, or that is not known."""
        test = self._workload.test(run.cell.test)
        steps = [step for step in test.steps if step.loads]
        if test.data == "empty" or run.cell.system.url is not None:
            return None
        found = [self._of_parameters(parameters_of(self._workload, run, one), run) for one in steps]
        return max((one for one in found if one), key=lambda size: size.text_bytes, default=None)

    def _of_parameters(self, parameters: Mapping[str, Scalar], run: PlannedRun) -> RowsSize | None:
        language = registry.system(run.cell.system.name).dialect.language
        key = repr((language, sorted(parameters.items())))
        if key not in self._known:
            source = row_source(self._workload)
            size = source.rows_size(self._workload, self._paths, parameters, language)
            self._known[key] = size
        return self._known[key]
