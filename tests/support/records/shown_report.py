"""Takes a report; returns what a reader finds in it: a table by its name, rows as they are shown,
lines, and the text of a form. And a record to report on, which an earlier version wrote."""

from __future__ import annotations

import io
import lzma
from pathlib import Path
from typing import Any

from assay.report.values import Report, ReportTable


def tables_of(report: Report) -> dict[str, ReportTable]:
    return {one.name: one for part in report.sections for one in part.tables}


def table_of(report: Report, name: str) -> ReportTable:
    return tables_of(report)[name]


def cells_of(table: ReportTable) -> list[list[str]]:
    return [[cell.shown for cell in row.cells] for row in table.rows]


def row_of(table: ReportTable, row: int = 0) -> dict[str, str]:
    """Title → what the row shows."""
    return dict(zip([column.title for column in table.columns], cells_of(table)[row], strict=True))


def lines_of(report: Report) -> list[str]:
    return [line for part in report.sections for line in part.lines]


def text_of(form: Any, report: Report, detail: bool | None = None) -> str:
    stream = io.StringIO()
    form.render(report, stream, detail=detail)
    return stream.getvalue()


def kept_record(path: Path) -> Path:
    """Of 13 experiments, unpacked to there."""
    packed = Path(__file__).parents[2] / "data" / "records" / "version-25.sqlite.xz"
    path.write_bytes(lzma.decompress(packed.read_bytes()))
    return path
