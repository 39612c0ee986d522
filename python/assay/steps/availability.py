"""Takes planned runs; returns the systems that they need and this machine lacks, each with why."""

from __future__ import annotations

from collections.abc import Iterable

from assay import registry
from assay.errors import SystemMissing, SystemUnderTestError
from assay.experiment import SystemChoice
from assay.plan import PlannedRun
from assay.systems.abilities import Findable, NeedsLibrary
from assay.workload.values import Workload


def missing_systems(
    workload: Workload, runs: Iterable[PlannedRun]
) -> dict[str, SystemUnderTestError]:
    """By the label of the system. ``runs`` are those that are not refused. Nothing is started, and
    no server is asked.

    Raises `ArgumentError` for what is there and cannot be used as asked.
    """
    asked: dict[tuple[str, bool], SystemUnderTestError | None] = {}
    missing = {}
    for run in runs:
        choice = run.cell.system
        if choice.label in missing or not _needs_system(workload, run):
            continue
        key = (choice.name, choice.url is None)
        if key not in asked:
            asked[key] = _why_missing(choice)
        if (error := asked[key]) is not None:
            missing[choice.label] = error
    return missing


def refuse_missing_systems(workload: Workload, runs: Iterable[PlannedRun]) -> None:
    """Raises `SystemUnderTestError` with every system that is missing."""
    missing = missing_systems(workload, runs)
    if len(missing) == 1:
        raise next(iter(missing.values()))
    if missing:
        lines = "\n".join(f"- {label}: {one_line(error)}" for label, error in missing.items())
        raise SystemMissing(
            f"{len(missing)} systems cannot be run on this machine:\n{lines}",
            hint="install them, or leave them out",
        )


def one_line(error: SystemUnderTestError) -> str:
    """The message, with the fix in parentheses."""
    return f"{error.message} ({error.hint})" if error.hint else error.message


def _needs_system(workload: Workload, run: PlannedRun) -> bool:
    return any(step.needs_system for step in workload.test(run.cell.test).steps)


def _why_missing(choice: SystemChoice) -> SystemUnderTestError | None:
    system = registry.system(choice.name)
    try:
        if choice.url is not None:
            if isinstance(system, NeedsLibrary):
                system.insist_on_library()
        elif isinstance(system, Findable):
            system.find()
    except SystemUnderTestError as error:
        return error
    return None
