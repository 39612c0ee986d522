"""Takes a workload as it is on record; returns the tables that it declares for its reports, as they
stand."""

from __future__ import annotations

from collections.abc import Iterator

from assay.contracts.recorded import WorkloadRecord
from assay.report import columns
from assay.report.columns import texts
from assay.report.values import Section


def sections(workload: WorkloadRecord) -> Iterator[Section]:
    for place, sheet in enumerate(workload.get("sheets", ())):
        table = columns.table(
            f"sheet_{place + 1}",
            sheet["title"],
            texts(sheet["columns"]),
            sheet["rows"],
            is_detail=True,
        )
        yield Section(sheet["title"], (), (table,))
