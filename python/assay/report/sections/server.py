"""Takes the cells of a test; returns threads, memory and open files of the server during its runs.

These are the values that Beebe (2011), section 7, read from top and lsof: the largest of any
sample.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from assay.drive.monitoring.sampler import TimedSample
from assay.report.cells import by_cell, cell_runs
from assay.report.cells.cell_runs import CellRuns
from assay.report.columns import numbers
from assay.report.values import Number, ReportCell, ReportColumn, Section, absent, count, size


def section(test: str, cells: Sequence[CellRuns]) -> Section | None:
    """None where no server process was sampled."""
    sampled = [
        (cell, samples)
        for cell in cells
        if (samples := [sample for run in cell.runs for sample in run.samples])
    ]
    if not sampled:
        return None
    # Older records do not have them.
    has_files = any(timed.sample.files is not None for _, samples in sampled for timed in samples)
    notes = ["largest value of any sample; open files: inside the data directory"]
    if has_files:
        notes.append(
            "a file that is open twice counts twice in open files, and once in files; most "
            "handles: the greatest number of open handles on a single file"
        )
    table = by_cell.table(
        f"{test}_server",
        "Threads, memory and open files during the run",
        (cells, cell_runs.varying(cells, "system")),
        (*_PROCESSES, *(_FILES if has_files else ())),
        [(cell, (cell, samples)) for cell, samples in sampled],
        notes=tuple(notes),
    )
    return Section("Server processes", (), (table,))


_Sampled = tuple[CellRuns, Sequence[TimedSample]]


def _most(
    title: str, name: str, show: Callable[[int], ReportCell], why_none: str = ""
) -> ReportColumn:
    """The largest of any sample."""

    def shown(sampled: _Sampled) -> ReportCell:
        found = [getattr(timed.sample, name) for timed in sampled[1]]
        known = [one for one in found if one is not None]
        return show(max(known)) if known else absent(why_none)

    return numbers(title, shown)


def _most_handles(sampled: _Sampled) -> ReportCell:
    """``249 FILE``."""
    opened = [file for run in sampled[0].runs for file in run.open_files]
    most = max(opened, key=lambda file: file.handles, default=None)
    if most is None:
        return absent("")
    return ReportCell(f"{most.handles} {most.file}", Number(most.handles, "count"))


_PROCESSES = (
    _most("processes", "processes", count),
    _most("threads", "threads", count),
    _most("resident", "resident_bytes", size),
    _most("virtual", "virtual_bytes", size),
    _most("open files", "open_files", count, "not known"),
)
_FILES = (_most("files", "files", count), numbers("most handles", _most_handles))
