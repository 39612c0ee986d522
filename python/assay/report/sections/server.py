"""Takes the cells of a test; returns threads, memory and open files of the server during its runs.

These are the values that Beebe (2011), section 7, read from top and lsof: the largest of any
sample.
"""

from __future__ import annotations

from collections.abc import Sequence

from assay.contracts.systems.protocol import ProcessSample
from assay.drive.monitoring.sampler import TimedSample
from assay.report.cells import cell_runs
from assay.report.cells.cell_runs import CellRuns
from assay.report.values import (
    Number,
    ReportCell,
    ReportColumn,
    ReportTable,
    Row,
    Section,
    absent,
    count,
    size,
)

_TITLES = ("processes", "threads", "resident", "virtual", "open files")
_OF_FILES = ("files", "most handles")


def section(test: str, cells: Sequence[CellRuns]) -> Section | None:
    """None where no server process was sampled."""
    factors = cell_runs.varying(cells, "system")
    sampled = [
        (cell, samples)
        for cell in cells
        if (samples := [sample for run in cell.runs for sample in run.samples])
    ]
    if not sampled:
        return None
    # Older records do not have them.
    has_files = any(timed.sample.files is not None for _, samples in sampled for timed in samples)
    rows = [
        Row(
            (
                *cell_runs.label_cells(cell, factors),
                *_cells(samples),
                *(_files(cell, samples) if has_files else ()),
            )
        )
        for cell, samples in sampled
    ]
    notes = ["largest value of any sample; open files: inside the data directory"]
    if has_files:
        notes.append(
            "a file that is open twice counts twice in open files, and once in files; most "
            "handles: the greatest number of open handles on a single file"
        )
    table = ReportTable(
        name=f"{test}_server",
        label_columns=len(factors),
        title="Threads, memory and open files during the run",
        columns=(
            *cell_runs.label_columns(cells, factors),
            *(
                ReportColumn(title, is_number=True)
                for title in (*_TITLES, *(_OF_FILES if has_files else ()))
            ),
        ),
        rows=tuple(rows),
        notes=tuple(notes),
    )
    return Section("Server processes", (), (table,))


def _cells(samples: Sequence[TimedSample]) -> tuple[ReportCell, ...]:
    seen = [timed.sample for timed in samples]
    return (
        count(max(sample.processes for sample in seen)),
        count(max(sample.threads for sample in seen)),
        size(max(sample.resident_bytes for sample in seen)),
        size(max(sample.virtual_bytes for sample in seen)),
        _open_files(seen),
    )


def _open_files(seen: Sequence[ProcessSample]) -> ReportCell:
    counted = [made for one in seen if (made := one.open_files) is not None]
    return count(max(counted)) if counted else absent("not known")


def _files(cell: CellRuns, samples: Sequence[TimedSample]) -> tuple[ReportCell, ReportCell]:
    """How many different files; ``249 FILE``."""
    different = [timed.sample.files for timed in samples if timed.sample.files is not None]
    opened = [file for run in cell.runs for file in run.open_files]
    most = max(opened, key=lambda file: file.handles, default=None)
    return (
        count(max(different)) if different else absent(""),
        absent("")
        if most is None
        else ReportCell(f"{most.handles} {most.file}", Number(most.handles, "count")),
    )
