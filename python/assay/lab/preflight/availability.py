"""Takes planned runs; returns where this machine has the systems and storages that they need, and
why it has not the others."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping

from msgspec import Struct, field
from msgspec.structs import replace

from assay import registry
from assay.contracts.systems.abilities import ChecksSettings, FoundPrograms, NeedsLibrary
from assay.errors import (
    AssayError,
    MachineLimit,
    StorageUnavailable,
    SystemMissing,
    SystemUnderTestError,
)
from assay.experiment import Experiment, SystemChoice
from assay.experiment.choices import storage_words
from assay.plan import PlannedRun
from assay.provision.install import versions
from assay.provision.limits import server_group
from assay.workload.values import Workload


class Availability(Struct, frozen=True):
    """What was found of the systems and storages of some runs."""

    missing: Mapping[str, SystemUnderTestError]
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
            kind = StorageUnavailable if not self.missing else SystemMissing
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
    found = look_for(systems)
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


def look_for(choices: Iterable[SystemChoice]) -> Availability:
    """Nothing is started, and no server is asked.

    Raises `ArgumentError` for what is there and cannot be used as asked.
    """
    asked: dict[tuple[str, bool, str], FoundPrograms | SystemUnderTestError | None] = {}
    missing, found_versions = {}, {}
    for choice in choices:
        key = (choice.name, choice.url is None, choice.version)
        if key not in asked:
            asked[key] = _found(choice)
        found = asked[key]
        if isinstance(found, SystemUnderTestError):
            missing[choice.label] = found
        if isinstance(found, FoundPrograms) and choice.label not in found_versions:
            found_versions[choice.label] = found.version
            system = registry.system(choice.name)
            if choice.settings and isinstance(system, ChecksSettings):
                system.refuse_settings(versions.with_programs(choice))
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
            server_group.refuse_impossible(choice.machine)
        except MachineLimit as error:
            found[choice.label] = error
    return found


def _found(choice: SystemChoice) -> FoundPrograms | SystemUnderTestError | None:
    """The programs that would be started, or what is missing; None where nothing is needed here."""
    system = registry.system(choice.name)
    try:
        if choice.url is not None and isinstance(system, NeedsLibrary):
            system.insist_on_library()
        return versions.programs_of(choice)
    except SystemUnderTestError as error:
        return error
