"""Takes runs that are shown together, with the documents of their cells; returns them with names of
their systems, storages and machines that no two different ones share, also where they are of
several experiments or of earlier programs.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TypeVar

from msgspec import structs

from assay.contracts.documents import ShapeError, convert
from assay.contracts.recorded import CellDocument
from assay.experiment import ServerMachine, StorageChoice, SystemChoice
from assay.experiment.choices import identity
from assay.experiment.choices.identity import written_storage
from assay.judge.run import Run, RunSummary
from assay.record import machines

R = TypeVar("R", bound=RunSummary)


def of_records(runs: Sequence[Run]) -> list[Run]:
    return named(runs, (run.cell for run in runs))


def with_machines(runs: Sequence[Run]) -> list[Run]:
    """With the names of their machines, which are a factor of these runs; without, where all are of
    one."""
    names = machines.machine_names(run.machine for run in runs)
    return [
        run if run.machine_name == name else structs.replace(run, machine_name=name)
        for run, name in zip(runs, names, strict=True)
    ]


def named(runs: Sequence[R], cells: Iterable[CellDocument]) -> list[R]:
    """``cells``: of each run, as it is on record."""
    cells = list(cells)
    systems = _labels(runs, cells)
    storages = _storages(runs, cells)
    return [
        structs.replace(run, system_label=system, storage=storage)
        if (system, storage) != (run.system_label, run.storage)
        else run
        for run, system, storage in zip(runs, systems, storages, strict=True)
    ]


def machine_shown(run: Run) -> str:
    """The name of its machine, also where all runs are of one."""
    return run.machine_name or machines.machine_name(run.machine)


def label_without_machine(run: Run) -> str:
    """That of its system among those that the experiment was asked for; of one that cannot be read,
    its name on record."""
    choice = _read(run.cell.get("system"), SystemChoice, {})
    return run.system_label if choice is None else replace(choice, machine=ServerMachine()).label


def _labels(runs: Sequence[R], cells: Sequence[CellDocument]) -> list[str]:
    """A run whose document cannot be read keeps the name that it has on record."""
    read: dict[str, SystemChoice | None] = {}
    choices = [_read(cell.get("system"), SystemChoice, read) for cell in cells]
    known = {name: choice for name, choice in read.items() if choice is not None}
    labels = dict(zip(known, identity.system_labels(list(known.values())), strict=True))
    return [
        run.system_label if choice is None else labels[repr(cell["system"])]
        for run, cell, choice in zip(runs, cells, choices, strict=True)
    ]


def _storages(runs: Sequence[R], cells: Sequence[CellDocument]) -> list[str]:
    """``fast``, the first name that a storage of a machine has here; where two storages are called
    so, each with what it is: ``fast (here:/ssd)``."""
    read: dict[str, StorageChoice | None] = {}
    choices = [_read(cell.get("storage"), StorageChoice, read) for cell in cells]
    names: dict[tuple[str, str], str] = {}
    of_name: dict[str, set[str]] = {}
    known = [
        None if choice is None or not run.storage else identity.identity_of_storage(choice)
        for run, choice in zip(runs, choices, strict=True)
    ]
    shown = []
    for run, storage in zip(runs, known, strict=True):
        name = run.storage
        if storage is not None:
            name = names.setdefault((storage, _machine(run)), name)
            of_name.setdefault(name, set()).add(storage)
        shown.append(name)
    return [
        name
        if choice is None or len(of_name.get(name, ())) <= 1
        else f"{name} ({written_storage(choice)})"
        for name, choice in zip(shown, choices, strict=True)
    ]


def _machine(run: RunSummary) -> str:
    return machines.machine_name(run.machine) if isinstance(run, Run) else ""


C = TypeVar("C", SystemChoice, StorageChoice)


def _read(document: object, kind: type[C], read: dict[str, C | None]) -> C | None:
    """``read``: those that were read before, by their text; most runs share one."""
    key = repr(document)
    if key not in read:
        try:
            read[key] = convert(document, kind, "cell") if isinstance(document, Mapping) else None
        except ShapeError:
            read[key] = None
    return read[key]
