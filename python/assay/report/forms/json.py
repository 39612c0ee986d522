"""Writes a `Report` as one JSON document for programs: each tidy table is a list of objects with
stable names and units, and numbers as measured. Its schema is made by `assay.report.tidy.schema`
and published as docs/reference/report.schema.json.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, TextIO

from assay.report.tidy.schema import DETAILS, VERSION
from assay.report.values import Report
from assay.text.visible import visible_lines


def render(report: Report, stream: TextIO, *, detail: bool | None = None) -> None:
    """Writes the report. ``detail`` None: with all details."""
    document = {
        "version": VERSION,
        "experiment": report.tidy["experiment"],
        "warnings": [
            {**vars(warning), "details": list(warning.details)} for warning in report.warnings
        ],
        "tables": {
            name: rows
            for name, rows in report.tidy["tables"].items()
            if detail is not False or name not in DETAILS
        },
    }
    write_document(document, stream)


def write_document(document: Mapping[str, Any], stream: TextIO) -> None:
    text = json.dumps(document, ensure_ascii=False, indent=2, allow_nan=False)
    stream.write(visible_lines(text) + "\n")
