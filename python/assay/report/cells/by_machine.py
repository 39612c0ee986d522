"""Takes runs, and what makes a section of those of one machine; returns one for each machine."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from msgspec.structs import replace

from assay.record import RunRecord
from assay.report.values import Section


def sections(
    runs: Sequence[RunRecord], make: Callable[[Sequence[RunRecord]], Section | None]
) -> list[Section]:
    """What has one name on two machines (a storage, a system) is another on each."""
    found = []
    for place, machine in enumerate(dict.fromkeys(run.machine_name for run in runs), 1):
        made = make([run for run in runs if run.machine_name == machine])
        if made is not None:
            found.append(_named(made, machine, place))
    return found


def _named(section: Section, machine: str, place: int) -> Section:
    """Names of tables and figures are unique in a report."""
    if not machine:
        return section
    behind = f"_{place}" if place > 1 else ""
    return replace(
        section,
        title=f"{section.title} on {machine}",
        tables=tuple(replace(one, name=f"{one.name}{behind}") for one in section.tables),
        figures=tuple(replace(one, name=f"{one.name}{behind}") for one in section.figures),
    )
