"""Takes rows of named values; writes them as a table, JSON, CSV or Markdown."""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Mapping, Sequence
from datetime import datetime
from typing import TextIO

from assay.cli.output import row_table
from assay.contracts.factors import Scalar
from assay.text import csv_lines, markdown_lines
from assay.text.line_width import line_width
from assay.text.visible import visible, visible_lines

CellValue = (
    Scalar | Sequence[str] | Sequence[int] | Mapping[str, Scalar | Sequence[str] | None] | None
)
Row = Mapping[str, CellValue]
"""Values as they are, with their types; None or an empty text: there is none."""


def write(
    rows: Sequence[Row],
    columns: Sequence[str],
    form: str,
    stream: TextIO,
    *,
    width: int | None = None,
    optional: Collection[str] = (),
) -> None:
    """Writes ``columns`` of the rows in the format ``form``; JSON has all of each row. ``width``:
    of a table where the stream has none; None: as wide as it has to be. ``optional``: columns that
    a table may do without on a narrow terminal, in this order."""
    if form == "table":
        _table(rows, columns, stream, width, optional)
    else:
        FORMS[form](rows, columns, stream)


def _table(
    rows: Sequence[Row],
    columns: Sequence[str],
    stream: TextIO,
    width: int | None = None,
    optional: Collection[str] = (),
) -> None:
    cells = [[shown(row.get(column)) for column in columns] for row in rows]
    is_number = [_is_number([row.get(column) for row in rows]) for column in columns]
    for line in row_table.lines(
        columns, cells, is_number, line_width(stream) or width, optional=optional
    ):
        stream.write(line + "\n")


def _is_number(values: Sequence[object]) -> bool:
    known = [value for value in values if value is not None]
    return bool(known) and all(isinstance(value, int | float) for value in known)


def _markdown(rows: Sequence[Row], columns: Sequence[str], stream: TextIO) -> None:
    cells = ([shown(row.get(column)) for column in columns] for row in rows)
    for line in markdown_lines.table_lines(columns, cells):
        stream.write(f"{line}\n")


def _csv(rows: Sequence[Row], columns: Sequence[str], stream: TextIO) -> None:
    fields = ([_text(row.get(column)) for column in columns] for row in rows)
    csv_lines.write(stream, columns, fields)


def _json(rows: Sequence[Row], _columns: Sequence[str], stream: TextIO) -> None:
    write_json([{key: _plain(value) for key, value in row.items()} for row in rows], stream)


def _plain(value: object) -> object:
    """What is not known, or not there, is null."""
    return None if value == "" else value


def write_json(document: object, stream: TextIO) -> None:
    """Writes a document as JSON; control characters become its own escapes."""
    text = json.dumps(document, ensure_ascii=False, indent=2, default=str)
    stream.write(visible_lines(text) + "\n")


def shown(value: object) -> str:
    """The value on one line of a table."""
    if isinstance(value, bool):
        return _level(value)
    return visible(" ".join(_text(value).splitlines()))


def _text(value: object) -> str:
    if value is None:
        return ""
    if isinstance(value, list | tuple):
        return ", ".join(map(str, value))
    if isinstance(value, Mapping):
        return " ".join(f"{key}={_level(level)}" for key, level in value.items())
    return str(value)


def _level(level: object) -> str:
    """``10``, ``yes``: as it is written on a command line."""
    if isinstance(level, bool):
        return "yes" if level else "no"
    return _text(level).removesuffix(".0") if isinstance(level, float) else _text(level)


FORMS: Mapping[str, Callable[[Sequence[Row], Sequence[str], TextIO], None]] = {
    "table": _table,
    "json": _json,
    "csv": _csv,
    "markdown": _markdown,
}


def local_time(unix_ns: int | None) -> str:
    """``2026-11-22 21:15:02``; empty where there is none."""
    if unix_ns is None:
        return ""
    return datetime.fromtimestamp(unix_ns / 1e9).astimezone().strftime("%Y-%m-%d %H:%M:%S")
