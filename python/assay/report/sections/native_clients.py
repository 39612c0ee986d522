"""Takes the cells of a test; returns what the processes of a system's own client program used,
where they were the clients.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from assay.contracts.factors import CLIENT_PROGRAM
from assay.contracts.observation import NativeClientsReport
from assay.experiment import NATIVE
from assay.report.cells import cell_runs
from assay.report.cells.cell_runs import CellRuns
from assay.report.cells.pivot import pivot_rows, table_row, value_column
from assay.report.declared import aggregates, field_path
from assay.report.values import ReportCell, ReportTable, Section, text

_FIELDS = {
    "median client": "median_ns",
    "rows": "rows",
    "threads": "threads",
    "virtual": "virtual_bytes",
    "resident": "resident_bytes",
    "CPU, all": "cpu_ns",
}
"""Title → path in the observation."""


def section(test: str, cells: Sequence[CellRuns]) -> Section | None:
    """None where no clients were native."""
    native = [cell for cell in cells if cell.level(CLIENT_PROGRAM.name) == NATIVE and cell.measured]
    if not native:
        return None
    labels = cell_runs.varying(native, "system", "clients")
    columns = [
        value_column("program", _program),
        *(
            value_column(
                title,
                aggregates.median(aggregates.at(path)),
                unit="s" if field_path.unit(path) == "ns" else "",
            )
            for title, path in _FIELDS.items()
        ),
    ]
    table = ReportTable(
        name=f"{test}_native_clients",
        label_columns=len(labels),
        title="Processes of the system's own client program",
        columns=(*cell_runs.label_columns(native, labels), *columns),
        rows=tuple(table_row(row, labels) for row in pivot_rows(native, labels, columns)),
        notes=(
            *_versions(native),
            "rows: that each process wrote; threads, virtual, resident: the most of any process; "
            "CPU, all: CPU time of all processes together",
        ),
    )
    return Section("Native clients", (), (table,))


def _reports(cell: CellRuns) -> list[NativeClientsReport]:
    found = (run.observation for run in cell.measured)
    return [one for one in found if isinstance(one, NativeClientsReport)]


def _program(cell: CellRuns) -> ReportCell:
    return next((text(one.program) for one in _reports(cell)), cell.absent)


def _versions(native: Sequence[CellRuns]) -> Iterator[str]:
    """Of each program once, as it says it."""
    said = (one for cell in native for one in _reports(cell) if one.program_version)
    for program, version in dict.fromkeys((one.program, one.program_version) for one in said):
        yield f"{program}: {version}"
