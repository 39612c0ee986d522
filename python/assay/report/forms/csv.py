"""Writes a `Report` as CSV for programs: the tidy table of runs (with ``--no-detail`` of cells),
or a line per run, second and group, with the factors of its run before the numbers of its
second."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final, TextIO

from assay.report.program_tables import FACTORS, PARAMETER
from assay.report.tidy.parts import INTERVALS
from assay.report.tidy.schema import VERSION
from assay.report.values import Report, TidyRow, TidyValue
from assay.text import table_forms

_FORMULA_BEGINS: Final = ("=", "+", "-", "@", "\t", "\r")


def render(report: Report, stream: TextIO, *, detail: bool | None = None) -> None:
    """Writes the report. ``detail`` None: a line per run."""
    rows = report.tidy["tables"]["cells" if detail is False else "runs"]
    write_rows(stream, VERSION, dict.fromkeys(name for row in rows for name in row), rows)


def write_rows(stream: TextIO, version: int, names: Iterable[str], rows: Iterable[TidyRow]) -> None:
    """A line of names, and one for each row, which begin with the version of their form."""
    names = list(names)
    fields = ([version, *(_plain(row.get(name)) for name in names)] for row in rows)
    table_forms.write_csv(stream, ["version", *names], fields)


def _plain(value: TidyValue) -> object:
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


_OF_RUN = ("repetition", "cell")


def render_intervals(report: Report, stream: TextIO, *, detail: bool | None = None) -> None:  # noqa: ARG001
    """Writes the lines, which have no details to leave out."""
    tables = report.tidy["tables"]
    runs = {row["run"]: row for row in tables["runs"]}
    parameters = dict.fromkeys(
        name for row in runs.values() for name in row if name.startswith(PARAMETER)
    )
    factors = [*(column.name for column in FACTORS), *parameters, *_OF_RUN]
    names = [*factors, *(column.name for column in INTERVALS.columns)]
    rows = (
        {**{name: runs[interval["run"]].get(name) for name in factors}, **interval}
        for interval in tables["intervals"]
    )
    write_rows(stream, VERSION, names, rows)
