"""Takes a table; returns it with numbered footnotes, and their numbers in the cells. What limits
all of its numbers is said once instead."""

from __future__ import annotations

from msgspec.structs import replace

from assay.judge import verdict
from assay.judge.run import Verdict
from assay.report.values import ReportCell, ReportTable

ALL_VALID = "every number is valid"


def numbered(table: ReportTable) -> ReportTable:
    """``26091 [1]`` in a cell, and ``[1] indicative: one repetition`` below the table."""
    table = _said_once(table)
    numbers: dict[str, int] = {}

    def shown(cell: ReportCell) -> ReportCell:
        if not cell.note:
            return cell
        number = numbers.setdefault(cell.note, len(numbers) + 1)
        return replace(cell, shown=f"{cell.shown} [{number}]".lstrip())

    rows = tuple(
        replace(row, cells=tuple(map(shown, row.cells)))
        if any(one.note for one in row.cells)
        else row
        for row in table.rows
    )
    notes = [f"[{number}] {note}" for note, number in numbers.items()]
    if not notes and not table.of_all and _is_judged(table):
        notes = [ALL_VALID]
    return replace(table, rows=rows, notes=(*table.notes, *notes))


def _said_once(table: ReportTable) -> ReportTable:
    """What all judged numbers have in common is taken out of their notes."""
    measured = [cell for row in table.rows if not row.is_published for cell in row.cells]
    judged = [cell for cell in measured if cell.number and cell.number.verdict]
    of_all = verdict.shared(cell.number.judged for cell in judged if cell.number)
    if of_all is None or not all(map(_has_it_noted, judged)):
        return table
    rows = tuple(
        replace(row, cells=tuple(_without(cell, of_all) for cell in row.cells))
        for row in table.rows
    )
    return replace(table, rows=rows, of_all=f"all numbers: {of_all.sentence}")


def _has_it_noted(cell: ReportCell) -> bool:
    return cell.number is not None and cell.number.judged.sentence in cell.note


def _without(cell: ReportCell, of_all: Verdict) -> ReportCell:
    if not cell.note or not _has_it_noted(cell) or cell.number is None:
        return cell
    rest = cell.number.judged.without(of_all)
    left = f"also: {rest.reason}" if rest.reasons else ""
    before, _, after = cell.note.partition(cell.number.judged.sentence)
    parts = (before.removesuffix("; "), left, after.removeprefix("; "))
    return replace(cell, note="; ".join(filter(None, parts)))


def _is_judged(table: ReportTable) -> bool:
    return any(cell.number and cell.number.verdict for row in table.rows for cell in row.cells)
