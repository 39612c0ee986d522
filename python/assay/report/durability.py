"""Takes the runs or the cells of an experiment; returns the table of durability classes, and what
keeps cells of different classes apart in other tables.

Numbers of different classes are not ranked: a commit that need not wait for a flush is another
service. Each class has a result table of its own, with the settings that would make them equal
above them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from msgspec.structs import replace

from assay.contracts.durability import CONTRADICTED, MEANINGS, NOT_MEASURED
from assay.judge.storage_checks import (
    HIGHEST_DURABILITY,
    MEMORY,
    comparable_durability,
    durability_fix,
    is_in_memory,
)
from assay.probe.measure import age
from assay.record import Run
from assay.report import columns
from assay.report.cell_runs import DURABILITY, CellRuns
from assay.report.columns import texts
from assay.report.values import ReportTable
from assay.text import units

NONE = "none"
_SESSIONS = (
    "sessions execute: what the scripts of the runs set for their session, as the one did in which "
    "this was measured"
)


def table(runs: Iterable[Run]) -> ReportTable | None:
    """A row for each system on each storage; None where nothing was measured."""
    measured = {
        (run.system_label, run.storage, found.session_statements, found.is_contradicted): (
            run.deployment,
            found,
        )
        for run in runs
        if run.deployment and (found := run.deployment.durability)
    }
    if not any(found.durability_class or found.is_contradicted for _, found in measured.values()):
        return None
    has_settings = any(found.session_statements for _, found in measured.values())
    rows = [
        (
            system,
            storage,
            found.durability_class or (CONTRADICTED if found.is_contradicted else NOT_MEASURED),
            found.meaning,
            f"{found.flushed_before_answer} of {found.commits} commits" if found.commits else "-",
            units.ratio(found.written_bytes / found.payload_bytes) if found.payload_bytes else "-",
            ", ".join(deployment.durability_lowered_by) or "-",
            *([", ".join(statements) or "-"] if has_settings else []),
        )
        for (system, storage, statements, _), (deployment, found) in measured.items()
    ]
    titles = (
        "system", "storage", DURABILITY, "meaning", "flushed before the answer",
        "write\namplification", "lowered by", *(["sessions execute"] if has_settings else []),
    )  # fmt: skip
    return columns.table(
        DURABILITY,
        "Durability",
        texts(titles),
        rows,
        notes=(
            "flushed before the answer: commits after which the device had ended a flush (fsync) "
            "before the client had its answer; of one client's, one after another: 50, or 48 where "
            "a commit is not flushed within 10 s",
            *([_SESSIONS] if has_settings else []),
            "write amplification: bytes that the device wrote, divided by those of the rows",
            *(
                f"{system} on {storage}: taken from the user's cache, measured {old} before"
                for (system, storage, *_), (_, found) in measured.items()
                if (old := age(found))
            ),
            *dict.fromkeys(
                found.file_system_flushes
                for _, found in measured.values()
                if found.durability_class and found.file_system_flushes
            ),
        ),
    )


def durabilities(cells: Iterable[CellRuns]) -> list[str]:
    """Those by which the cells are compared, from the strongest."""
    return sorted({cell.durability for cell in cells if cell.durability is not None}, key=_place)


def grouped(cells: Sequence[CellRuns]) -> list[CellRuns]:
    """The cells of the same durability together, else in their order."""
    there = durabilities(cells)
    return sorted(cells, key=lambda cell: there.index(str(cell.durability)) if there else 0)


def tables_by_durability(
    cells: Sequence[CellRuns], made: Callable[[Sequence[CellRuns]], ReportTable]
) -> tuple[ReportTable, ...]:
    """A table for each group of cells with the same durability, which are not ranked with the
    others; one table where none is known. What varies is asked of ``found``: a group may have one
    storage, which is named even so."""
    there = durabilities(cells)
    if not there:
        one = made(cells)
        return (replace(one, notes=(*one.notes, *_beside_memory(cells))),)
    return tuple(
        _of_group(one, place, [cell for cell in cells if cell.durability == one], made)
        for place, one in enumerate(there)
    )


def _of_group(
    name: str,
    place: int,
    cells: Sequence[CellRuns],
    made: Callable[[Sequence[CellRuns]], ReportTable],
) -> ReportTable:
    table = made(cells)
    return replace(
        table,
        name=f"{table.name}_{place + 1}" if place else table.name,
        title=f"{table.title}, durability {_named(name)}{_except_in_memory(cells)}",
        notes=(*table.notes, *_not_measured(cells, name)),
    )


def lines(cells: Sequence[CellRuns]) -> tuple[str, ...]:
    """That cells of different durability are not compared, and what would make it equal."""
    there = durabilities(cells)
    if len(there) < 2:
        return ()
    is_known = len(there) > 2 or NOT_MEASURED not in there
    what = "differs" if is_known else "was not measured for all systems"
    fixes = dict.fromkeys(
        f"{words} ({run.system_on_machine})"
        for cell in cells
        for run in cell.runs
        if run.deployment
        and comparable_durability(run.deployment) != HIGHEST_DURABILITY
        and (words := durability_fix(run.deployment))
    )
    equal = f"; to make them {HIGHEST_DURABILITY}: {'; '.join(fixes)}" if fixes else ""
    return (f"durability {what}: numbers of different tables are not comparable{equal}",)


def shown(cell: CellRuns) -> str:
    """As it was measured for this cell; ``-``: it was not; ``none``: its storage is memory."""
    if _is_in_memory(cell):
        return NONE
    found = [comparable_durability(run.deployment) for run in cell.runs if run.deployment]
    return CONTRADICTED if CONTRADICTED in found else next((one for one in found if one), "-")


def _not_measured(cells: Sequence[CellRuns], durability: str) -> tuple[str, ...]:
    """The storages on which it was taken from others."""
    if durability == NOT_MEASURED:
        return ()
    storages = dict.fromkeys(cell.runs[0].storage for cell in cells if shown(cell) == "-")
    memory = _in_memory(cells)
    return (
        *([f"durability was not measured on {', '.join(storages)}"] if storages else []),
        *(
            [
                f"{', '.join(memory)}: {MEMORY}; beside the others because the system flushes "
                "there as often"
            ]
            if memory
            else []
        ),
    )


def among_the_same(cells: Iterable[CellRuns]) -> str:
    """Which cells are divided by one another; empty where none is known."""
    return ", among those of the same measured durability" if durabilities(cells) else ""


def of_divided(cells: Sequence[CellRuns]) -> tuple[str, ...]:
    """What is known of the storages of cells that are divided by one another, beyond their
    durability: on which it was not measured, and which keep nothing."""
    storages = dict.fromkeys(
        cell.runs[0].storage
        for cell in cells
        if shown(cell) == "-" and any(run.may_commit for run in cell.runs)
    )
    unknown = [f"durability was not measured on {', '.join(storages)}"] if storages else []
    return (*unknown, *_beside_memory(cells))


def _beside_memory(cells: Sequence[CellRuns]) -> tuple[str, ...]:
    """The storages that keep nothing, beside others that may."""
    committing = [cell for cell in cells if any(run.may_commit for run in cell.runs)]
    memory = _in_memory(committing)
    if not memory or all(map(_is_in_memory, committing)):
        return ()
    return (f"{', '.join(memory)}: {MEMORY}, so its commits are not as durable as the others'",)


def _except_in_memory(cells: Sequence[CellRuns]) -> str:
    found = _in_memory(cells)
    return f", none on {', '.join(found)}" if found else ""


def _in_memory(cells: Sequence[CellRuns]) -> list[str]:
    return list(dict.fromkeys(cell.runs[0].storage for cell in cells if _is_in_memory(cell)))


def _is_in_memory(cell: CellRuns) -> bool:
    return any(run.deployment and is_in_memory(run.deployment) for run in cell.runs)


def _named(durability: str) -> str:
    """``D1 (written, not flushed)``."""
    return f"{durability} ({MEANINGS[durability]})" if durability in MEANINGS else durability


def _place(durability: str) -> tuple[bool, int, bool]:
    """D3, D3 lowered by settings, D2 …, not measured."""
    name = durability[:2]
    order = [*MEANINGS]
    return (
        durability == NOT_MEASURED,
        order.index(name) if name in order else len(order),
        durability != name,
    )
