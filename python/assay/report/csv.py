"""Writes a `Report` as CSV: one line per cell, so that every line has the same fields and any tool
can turn them.

``value``, ``low`` and ``high`` are in ``unit`` as measured (ns, bytes); ``shown`` is for people.
``row`` names the row by its block and its labels. A cell without a number has an empty ``value``.
"""

from __future__ import annotations

import csv
from collections.abc import Iterator
from typing import TextIO

from assay.report.values import Number, Report, Row, Table
from assay.text.visible import for_terminal

FIELDS = (
    "experiment", "table", "row", "column", "value", "unit", "n", "low", "high", "verdict",
    "reason", "shown",
)  # fmt: skip


def render(report: Report, stream: TextIO, *, detail: bool | None = None) -> None:
    """Writes the report. ``detail`` None: with all details."""
    writer = csv.writer(for_terminal(stream), lineterminator="\n")
    writer.writerow(FIELDS)
    for section in report.sections:
        for table in section.tables:
            if detail is not False or not table.is_detail:
                writer.writerows([report.experiment_id, *line] for line in _lines(table))


def _lines(table: Table) -> Iterator[list[object]]:
    for row in table.rows:
        name = _name_of(row, table)
        measured = zip(table.columns, row.cells, strict=True)
        for column, cell in list(measured)[table.label_columns :]:
            number = cell.number or Number(0, "")
            value = [number.value, number.unit, number.n, number.low, number.high]
            yield [
                table.name,
                name,
                " ".join(column.title.split()),
                *(value if cell.number else [None] * len(value)),
                number.verdict,
                number.reason,
                cell.shown,
            ]


def _name_of(row: Row, table: Table) -> str:
    labels = [cell.shown for cell in row.cells[: table.label_columns]]
    return " / ".join(filter(None, [row.block_title, *labels]))
