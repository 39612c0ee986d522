"""Takes a cell and the paths that are read from its runs; returns what must be said where these are
of the processes of a system that works in the client's own process."""

from __future__ import annotations

from collections.abc import Iterable

from assay.report.cells.cell_runs import CellRuns
from assay.report.declared import field_path
from assay.text import units

WHY = "sampled of the client's process, in which {system} works"


def is_client(cell: CellRuns, keys: Iterable[str]) -> bool:
    """Whether the samples that these paths read are of the client's process."""
    of_processes = any(key.startswith(f"{field_path.SAMPLES}.") for key in keys)
    return of_processes and any(run.is_embedded for run in cell.measured)


def why_not(cell: CellRuns, keys: Iterable[str]) -> str:
    """Why the value is none of the system; empty: it is."""
    return WHY.format(system=cell.factors["system"]) if is_client(cell, keys) else ""


def note(cell: CellRuns, keys: Iterable[str]) -> str:
    """The same beside a number, and how large the process was when the measurement began."""
    keys = tuple(keys)
    if not is_client(cell, keys):
        return ""
    said = "of the client's process, in which the system works"
    if not any(key.endswith("resident_bytes") for key in keys):
        return said
    first = [run.samples[0].sample.resident_bytes for run in cell.measured if run.samples]
    if not any(first):
        return said
    least = units.size(min(filter(None, first)))
    return f"{said}: at least {least} of it, the program included, before the measurement"
