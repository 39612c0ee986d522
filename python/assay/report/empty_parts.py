"""Takes the sections of a report; returns them without what holds no value: tables that explain
results and have neither a number nor a footnote that says why, columns whose cells are all empty,
and charts without a point."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from msgspec.structs import replace

from assay.report.values import ReportTable, Section


def without(sections: Iterable[Section]) -> Iterator[Section]:
    """A section of results says why it has no number, and stays."""
    for section in sections:
        tables = tuple(
            _without_columns(table)
            for table in section.tables
            if not section.part_of or _has_value(table)
        )
        if tables or not section.tables or section.lines:
            figures = tuple(figure for figure in section.figures if figure.points)
            yield replace(section, tables=tables, figures=figures)


def _has_value(table: ReportTable) -> bool:
    values = [cell for row in table.rows for cell in row.cells[table.label_columns :]]
    return not values or any(cell.note or (cell.shown and not cell.is_absent) for cell in values)


def _without_columns(table: ReportTable) -> ReportTable:
    """One column stays."""
    every = range(len(table.columns))
    kept = [
        place
        for place in every
        if place < table.label_columns
        or table.columns[place].role
        or any(row.cells[place].shown for row in table.rows)
    ]
    if len(kept) in (len(every), table.label_columns):
        return table
    return replace(
        table,
        columns=tuple(table.columns[place] for place in kept),
        rows=tuple(replace(row, cells=tuple(row.cells[at] for at in kept)) for row in table.rows),
    )
