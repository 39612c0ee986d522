"""Writes a `Report` as one JSON document, with numbers as they were measured (ns, bytes).

A table's rows are objects with a key per column. A number is an object (``value``, ``unit`` and,
of measurements, ``n``, ``low``, ``high``, ``verdict``, ``reason``); a label is text, or the bare
number that it is; a value that is not there is ``{"value": null, "reason": …}``.
"""

from __future__ import annotations

import json
from typing import Any, TextIO

from assay.report.values import Cell, Report, Row, Table
from assay.text.visible import visible_lines

FORMAT_VERSION = 1
"""Raised when a reader of the document would have to change."""


def render(report: Report, stream: TextIO, *, detail: bool | None = None) -> None:
    """Writes the report. ``detail`` None: with all details."""
    tables = [
        {"section": section.title, **_table(table)}
        for section in report.sections
        for table in section.tables
        if detail is not False or not table.is_detail
    ]
    document = {
        "format_version": FORMAT_VERSION,
        "title": report.title,
        "experiment": report.experiment_id,
        "record": str(report.record),
        "facts": dict(report.facts),
        "tables": tables,
        "warnings": [vars(warning) for warning in report.warnings],
    }
    text = json.dumps(document, ensure_ascii=False, indent=2, allow_nan=False)
    stream.write(visible_lines(text) + "\n")


def _table(table: Table) -> dict[str, Any]:
    return {
        "name": table.name,
        "title": table.title,
        "rows": [_row(row, table) for row in table.rows],
        "notes": list(table.notes),
    }


def _row(row: Row, table: Table) -> dict[str, Any]:
    keys = [" ".join(column.title.split()) for column in table.columns]
    cells = {key: _cell(cell) for key, cell in zip(keys, row.cells, strict=True)}
    return {**row.block, **cells}


def _cell(cell: Cell) -> Any:
    if cell.number is not None:
        return {key: value for key, value in vars(cell.number).items() if value not in (None, "")}
    if isinstance(cell.level, int | float):
        return cell.level
    return {"value": None, "reason": cell.shown} if cell.is_absent else cell.shown
