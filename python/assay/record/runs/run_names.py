"""Takes runs that are shown together; returns them with names of their systems, storages and
machines that no two different ones share, also where they are of several experiments or of earlier
programs.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TypeVar

from msgspec import structs

from assay.experiment import ServerMachine
from assay.experiment.choices import identity
from assay.experiment.choices.identity import written_storage
from assay.judge.run import Run, RunSummary
from assay.record import machines

R = TypeVar("R", bound=RunSummary)


def with_machines(runs: Sequence[Run]) -> list[Run]:
    """With the names of their machines, which are a factor of these runs; without, where all are of
    one."""
    names = machines.machine_names(run.machine for run in runs)
    return [
        run if run.machine_name == name else structs.replace(run, machine_name=name)
        for run, name in zip(runs, names, strict=True)
    ]


def named(runs: Sequence[R]) -> list[R]:
    return [
        structs.replace(run, system_label=system, storage=storage)
        if (system, storage) != (run.system_label, run.storage)
        else run
        for run, system, storage in zip(runs, _labels(runs), _storages(runs), strict=True)
    ]


def machine_shown(run: Run) -> str:
    """The name of its machine, also where all runs are of one."""
    return run.machine_name or machines.machine_name(run.machine)


def label_without_machine(run: Run) -> str:
    """That of its system among those that the experiment was asked for."""
    return replace(run.cell.system, machine=ServerMachine()).label


def _labels(runs: Sequence[R]) -> list[str]:
    # The repetitions of a cell share one system.
    systems = {id(run.cell.system): run.cell.system for run in runs}
    labels = dict(zip(systems, identity.system_labels(list(systems.values())), strict=True))
    return [labels[id(run.cell.system)] for run in runs]


def _storages(runs: Sequence[R]) -> list[str]:
    """``fast``, the first name that a storage of a machine has here; where two storages are called
    so, each with what it is: ``fast (here:/ssd)``."""
    names: dict[tuple[str, str], str] = {}
    of_name: dict[str, set[str]] = {}
    known = [
        identity.identity_of_storage(run.cell.storage) if run.storage else None for run in runs
    ]
    shown = []
    for run, storage in zip(runs, known, strict=True):
        name = run.storage
        if storage is not None:
            name = names.setdefault((storage, _machine(run)), name)
            of_name.setdefault(name, set()).add(storage)
        shown.append(name)
    return [
        name if len(of_name.get(name, ())) <= 1 else f"{name} ({written_storage(run.cell.storage)})"
        for name, run in zip(shown, runs, strict=True)
    ]


def _machine(run: RunSummary) -> str:
    return machines.machine_name(run.machine) if isinstance(run, Run) else ""
