"""Writes a `Report` as CSV for programs: the tidy table of runs (with ``--no-detail`` of cells),
with a column for each factor and each number, as measured; the first is the format's version.

``warnings`` holds names separated by semicolons. Unknown values are empty. A text that
spreadsheets would execute as a formula begins with an apostrophe; numbers never do.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final, TextIO

from assay.report.tidy.schema import VERSION
from assay.report.values import Report, TidyRow, TidyValue
from assay.text import csv_lines

_FORMULA_BEGINS: Final = ("=", "+", "-", "@", "\t", "\r")


def render(report: Report, stream: TextIO, *, detail: bool | None = None) -> None:
    """Writes the report. ``detail`` None: a line per run."""
    rows = report.tidy["tables"]["cells" if detail is False else "runs"]
    write_rows(stream, VERSION, dict.fromkeys(name for row in rows for name in row), rows)


def write_rows(stream: TextIO, version: int, names: Iterable[str], rows: Iterable[TidyRow]) -> None:
    """A line of names, and one for each row, which begin with the version of their form."""
    names = list(names)
    fields = ([version, *(_plain(row.get(name)) for name in names)] for row in rows)
    csv_lines.write(stream, ["version", *names], fields)


def _plain(value: TidyValue) -> object:
    """As a field of CSV."""
    if isinstance(value, bool):
        return str(value).lower()
    field = ";".join(value) if isinstance(value, list) else value
    if isinstance(field, str) and field.startswith(_FORMULA_BEGINS) and not _is_number(field):
        return f"'{field}"
    return field


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True
