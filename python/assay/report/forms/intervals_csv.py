"""Writes a `Report` as CSV for programs: a line per run, second and group, with the factors of its
run before the numbers of its second. The columns are those of the tidy tables of runs and of
intervals; the first is the format's version.
"""

from __future__ import annotations

from typing import TextIO

from assay.report.forms.csv import write_rows
from assay.report.program_tables import FACTORS, PARAMETER
from assay.report.tidy.parts import INTERVALS
from assay.report.tidy.schema import VERSION
from assay.report.values import Report

_OF_RUN = ("repetition", "cell")


def render(report: Report, stream: TextIO, *, detail: bool | None = None) -> None:  # noqa: ARG001
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
