"""Takes a table; returns it with numbered footnotes, and their numbers in the cells."""

from __future__ import annotations

from dataclasses import replace

from assay.report.values import Cell, Table

ALL_VALID = "every number is valid"


def numbered(table: Table) -> Table:
    """``26091 [1]`` in a cell, and ``[1] indicative: one repetition`` below the table."""
    numbers: dict[str, int] = {}

    def shown(cell: Cell) -> Cell:
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
    if not notes and _is_judged(table):
        notes = [ALL_VALID]
    return replace(table, rows=rows, notes=(*table.notes, *notes))


def _is_judged(table: Table) -> bool:
    return any(cell.number and cell.number.verdict for row in table.rows for cell in row.cells)
