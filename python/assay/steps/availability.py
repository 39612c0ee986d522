"""Takes planned runs; returns where this machine has the systems that they need, and why it
has not the others."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from assay import registry
from assay.errors import SystemMissing, SystemUnderTestError
from assay.experiment import SystemChoice
from assay.plan import PlannedRun
from assay.systems.abilities import Findable, Found, NeedsLibrary
from assay.workload.values import Workload


@dataclass(frozen=True)
class Availability:
    """What was found of the systems of some runs."""

    missing: Mapping[str, SystemUnderTestError]
    """By the label of the system."""
    places: tuple[str, ...]
    """Of the programs that will be started."""
    versions: Mapping[str, str] = field(default_factory=dict)
    """Of the same, by the label of the system."""

    def refuse_missing(self) -> None:
        """Raises `SystemUnderTestError` with every system that is missing."""
        if len(self.missing) == 1:
            raise next(iter(self.missing.values()))
        if self.missing:
            lines = [f"- {label}: {one_line(error)}" for label, error in self.missing.items()]
            raise SystemMissing(
                f"{len(lines)} systems cannot be run on this machine:\n" + "\n".join(lines),
                hint="install them, or leave them out",
            )


def look_for_systems(workload: Workload, runs: Iterable[PlannedRun]) -> Availability:
    """The systems of the runs, which are those that are not refused; see `look_for`."""
    return look_for(run.cell.system for run in runs if _needs_system(workload, run))


def look_for(choices: Iterable[SystemChoice]) -> Availability:
    """Nothing is started, and no server is asked.

    Raises `ArgumentError` for what is there and cannot be used as asked.
    """
    asked: dict[tuple[str, bool], Found | SystemUnderTestError | None] = {}
    missing, versions = {}, {}
    for choice in choices:
        key = (choice.name, choice.url is None)
        if key not in asked:
            asked[key] = _found(choice)
        found = asked[key]
        if isinstance(found, SystemUnderTestError):
            missing[choice.label] = found
        if isinstance(found, Found):
            versions[choice.label] = found.version
    places = tuple(found.place for found in asked.values() if isinstance(found, Found))
    return Availability(missing, places, versions)


def one_line(error: SystemUnderTestError) -> str:
    """The message, with the fix in parentheses."""
    return f"{error.message} ({error.hint})" if error.hint else error.message


def _needs_system(workload: Workload, run: PlannedRun) -> bool:
    return any(step.needs_system for step in workload.test(run.cell.test).steps)


def _found(choice: SystemChoice) -> Found | SystemUnderTestError | None:
    """The programs that would be started, or what is missing; None where nothing is needed here."""
    system = registry.system(choice.name)
    try:
        if choice.url is None and isinstance(system, Findable):
            return system.find()
        if choice.url is not None and isinstance(system, NeedsLibrary):
            system.insist_on_library()
    except SystemUnderTestError as error:
        return error
    return None
