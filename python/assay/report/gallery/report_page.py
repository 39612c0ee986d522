"""Takes the record of an experiment in a capsule; returns its report as one HTML page. It names the
record file as the capsule does: where that lay before is of no use elsewhere."""

from __future__ import annotations

import io
from pathlib import Path

from msgspec.structs import replace

from assay.record import ExperimentRecord
from assay.record.capsule import layout
from assay.report.build import build
from assay.report.page.document import render


def report_page(record: ExperimentRecord) -> bytes:
    text = io.StringIO()
    render(build(replace(record, path=Path(layout.RECORD))), text)
    return text.getvalue().encode("utf-8", "backslashreplace")
