"""Takes a table with published and measured numbers; returns it without the rows and groups of
columns in which nothing was measured, which a note names.

What failed stays, since it is a result.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from msgspec.structs import replace

from assay.report.values import ReportCell, ReportTable, Row

_NOT_MEASURED = re.compile(r"(not run|refused)( \[\d+\])?$")
_ORIGIN = "measured"
"""A label that all measured rows have."""


def as_measured(table: ReportTable) -> ReportTable | None:
    """None where nothing was measured."""
    measured = [row for row in table.rows if not row.is_published]
    values = range(table.label_columns, len(table.columns))
    if not any(row.cells[place].number for row in measured for place in values):
        return None
    left_out: dict[str, list[str]] = {}
    kept = list(range(len(table.columns)))
    for group in dict.fromkeys(column.group for column in table.columns if column.group):
        places = [place for place in values if table.columns[place].group == group]
        cells = [row.cells[place] for row in measured for place in places]
        if _is_left_out(cells):
            left_out.setdefault(_why(cells), []).append(group)
            kept = [place for place in kept if place not in places]
    rows = []
    for row in table.rows:
        cells = [row.cells[place] for place in kept if place >= table.label_columns]
        if row.is_published or not any(cell.shown for cell in cells) or not _is_left_out(cells):
            rows.append(replace(row, cells=tuple(row.cells[place] for place in kept)))
        else:
            left_out.setdefault(_why(cells), []).append(", ".join(_labels(table, row)))
    said = [f"{why}: {', '.join(dict.fromkeys(names))}" for why, names in left_out.items()]
    return replace(
        table,
        columns=tuple(table.columns[place] for place in kept),
        rows=tuple(rows),
        notes=(*said, *table.notes),
    )


def _is_left_out(cells: Iterable[ReportCell]) -> bool:
    return all(not cell.shown or _NOT_MEASURED.match(cell.shown) for cell in cells)


def _why(cells: Iterable[ReportCell]) -> str:
    """``not run``, ``refused [2]``."""
    return ", ".join(dict.fromkeys(cell.shown for cell in cells if cell.shown)) or "not measured"


def _labels(table: ReportTable, row: Row) -> Iterator[str]:
    """``disk``, ``clients 8``."""
    for column, cell in zip(table.columns[: table.label_columns], row.cells, strict=False):
        if cell.shown and cell.shown != _ORIGIN:
            yield f"{column.title} {cell.shown}" if column.is_number else cell.shown
