"""Takes a workload as it is on record; returns the tables that it declares for its reports, as they
stand."""

from __future__ import annotations

from collections.abc import Iterator

from assay.contracts.recorded import WorkloadRecord
from assay.report.values import ReportColumn, ReportTable, Row, Section, text


def sections(workload: WorkloadRecord) -> Iterator[Section]:
    for place, sheet in enumerate(workload.get("sheets", ())):
        table = ReportTable(
            name=f"sheet_{place + 1}",
            title=sheet["title"],
            columns=tuple(ReportColumn(title) for title in sheet["columns"]),
            rows=tuple(Row(tuple(map(text, row))) for row in sheet["rows"]),
            is_detail=True,
        )
        yield Section(sheet["title"], (), (table,))
