"""Writes a `Report` as CSV for programs: the tidy table of runs (with ``--no-detail`` of cells),
with a column for each factor and each number, as measured; the first is the format's version.

``warnings`` holds names separated by semicolons. Unknown values are empty.
"""

from __future__ import annotations

import csv
from typing import TextIO

from assay.report.tidy_columns import Value
from assay.report.tidy_schema import VERSION
from assay.report.values import Report
from assay.text.visible import for_terminal


def render(report: Report, stream: TextIO, *, detail: bool | None = None) -> None:
    """Writes the report. ``detail`` None: a line per run."""
    rows = report.tidy["tables"]["cells" if detail is False else "runs"]
    names = ["version", *dict.fromkeys(name for row in rows for name in row)]
    writer = csv.DictWriter(for_terminal(stream), names, restval="", lineterminator="\n")
    writer.writeheader()
    for row in rows:
        fields = {name: plain(value) for name, value in row.items()}
        writer.writerow({"version": VERSION, **fields})


def plain(value: Value) -> object:
    """As a field of CSV."""
    if isinstance(value, bool):
        return str(value).lower()
    return ";".join(value) if isinstance(value, list) else value
