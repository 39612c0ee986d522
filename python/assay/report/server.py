"""Takes the cells of a test; returns threads, memory and open files of the server during its runs.

These are the values that Beebe (2011), section 7, read from top and lsof: the largest of any
sample.
"""

from __future__ import annotations

from collections.abc import Sequence

from assay.drive.sampler import TimedSample
from assay.report import cell_runs
from assay.report.cell_runs import CellRuns
from assay.report.values import Cell, Column, Number, Row, Section, Table, count
from assay.text import units

_TITLES = ("processes", "threads", "resident", "virtual", "open files")


def section(test: str, found: Sequence[CellRuns]) -> Section | None:
    """None where no server process was sampled."""
    factors = cell_runs.varying(found, "system")
    rows = [
        Row((*cell_runs.label_cells(cell, factors), *_cells(samples)))
        for cell in found
        if (samples := [sample for run in cell.runs for sample in run.samples])
    ]
    if not rows:
        return None
    table = Table(
        name=f"{test}_server",
        label_columns=len(factors),
        title="Threads, memory and open files during the run",
        columns=(
            *cell_runs.label_columns(found, factors),
            *(Column(title, is_number=True) for title in _TITLES),
        ),
        rows=tuple(rows),
        notes=("largest value of any sample; open files: inside the data directory",),
    )
    return Section("Server processes", (), (table,))


def _cells(samples: Sequence[TimedSample]) -> tuple[Cell, ...]:
    seen = [timed.sample for timed in samples]
    return (
        count(max(sample.processes for sample in seen)),
        count(max(sample.threads for sample in seen)),
        _size(max(sample.resident_bytes for sample in seen)),
        _size(max(sample.virtual_bytes for sample in seen)),
        count(max(sample.open_files for sample in seen)),
    )


def _size(value_bytes: int) -> Cell:
    return Cell(units.size(value_bytes), Number(value_bytes, "bytes"))
