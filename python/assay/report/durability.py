"""Takes the runs or the cells of an experiment; returns the table of durability classes, and what
keeps cells of different classes apart in other tables.

Numbers of different classes are not ranked: a commit that need not wait for a flush is another
service. Tables show each class as a block of its own, and say which settings would make them equal.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from assay.judge.durability import HIGHEST, fix, level
from assay.record import RunRecord
from assay.report import cell_runs
from assay.report.cell_runs import DURABILITY, CellRuns
from assay.report.values import Column, Row, Table, text
from assay.text import units


def table(runs: Iterable[RunRecord]) -> Table | None:
    """A row for each system on each storage; None where nothing was measured."""
    measured = {
        (run.system_label, run.storage): (run.deployment, found)
        for run in runs
        if run.deployment and (found := run.deployment.durability)
    }
    if not any(found.durability_class for _, found in measured.values()):
        return None
    rows = [
        (
            system,
            storage,
            found.durability_class or "not measured",
            found.meaning,
            f"{found.flushed_before_answer} of {found.commits}" if found.commits else "-",
            units.size(found.written_bytes // found.commits) if found.commits else "-",
            ", ".join(deployment.durability_lowered_by) or "-",
        )
        for (system, storage), (deployment, found) in measured.items()
    ]
    titles = (
        "system", "storage", DURABILITY, "meaning", "flushed before the answer",
        "written per commit", "lowered by",
    )  # fmt: skip
    return Table(
        DURABILITY,
        "Durability",
        tuple(map(Column, titles)),
        tuple(Row(tuple(text(cell) for cell in row)) for row in rows),
        notes=tuple(
            dict.fromkeys(
                f"{found.commits} commits of one client; {found.file_system_flushes}"
                for _, found in measured.values()
                if found.durability_class
            )
        ),
    )


def apart(found: Sequence[CellRuns]) -> list[str]:
    """The factor by which rows form blocks; none where all cells have the same class."""
    return [DURABILITY] if len(cell_runs.levels(found, DURABILITY)) > 1 else []


def notes(found: Sequence[CellRuns]) -> tuple[str, ...]:
    """That classes are not compared, and what would make them equal."""
    if not apart(found):
        return ()
    fixes = dict.fromkeys(
        f"{run.system_label}: {words}"
        for cell in found
        for run in cell.runs
        if run.deployment and level(run.deployment) != HIGHEST and (words := fix(run.deployment))
    )
    equal = f"; for {HIGHEST} set: {'; '.join(fixes)}" if fixes else ""
    return (f"durability differs: only numbers of the same class are comparable{equal}",)
