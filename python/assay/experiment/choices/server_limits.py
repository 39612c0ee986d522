"""Takes an experiment; returns its systems on every combination of what their servers are given of
the machine; says why a system cannot be given a part of it."""

from __future__ import annotations

import itertools
from dataclasses import replace
from typing import Any, Final

from assay import _engine, registry
from assay.contracts.experiment import Experiment, StorageChoice, SystemChoice
from assay.contracts.factors import OF_MACHINE, ServerMachine
from assay.contracts.storages.abilities import RawDevice
from assay.contracts.systems.abilities import (
    BoundedInProcess,
    LeastServer,
    SeparateLog,
    capabilities_of,
)
from assay.errors import ArgumentError
from assay.text.phrases import Mention, phrase
from assay.text.units import size_word

FACTORS: Final = tuple(OF_MACHINE)
"""What a server is given: the options and the keys of an experiment file."""
_FIELDS: Final = tuple(factor.column for factor in OF_MACHINE.values())
"""Of `ServerMachine`."""


def systems_on_machines(experiment: Experiment) -> list[SystemChoice]:
    """Every system on each combination of the levels."""
    return [
        replace(system, machine=replace(ServerMachine(), **dict(zip(_FIELDS, levels, strict=True))))
        for system in experiment.systems
        for levels in itertools.product(*(_levels(experiment, system, name) for name in FACTORS))
    ]


def _levels(experiment: Experiment, system: SystemChoice, name: str) -> tuple[Any, ...]:
    """Those that this system is given."""
    asked = experiment.levels.get(name, ())
    left_out = {
        one.level for one in experiment.left_out if (one.system, one.factor) == (system.label, name)
    }
    return tuple(level for level in asked if _plain(level) not in left_out) or (
        OF_MACHINE[name].default,
    )


def _plain(level: Any) -> Any:
    """Of a storage its name."""
    return level.name if isinstance(level, StorageChoice) else level


def plain(machine: ServerMachine, name: str) -> int | float | str | None:
    """What it has of a factor, in the factor's own unit; of a storage its name."""
    value: int | float | str | None = _plain(getattr(machine, OF_MACHINE[name].column))
    return value


def only(machine: ServerMachine, name: str) -> ServerMachine:
    """With nothing but what the machine has of that factor."""
    field = OF_MACHINE[name].column
    return replace(ServerMachine(), **{field: getattr(machine, field)})


def level(machine: ServerMachine, name: str) -> Any:
    """Of a factor, in its own unit, of a storage its name; None where the server has all of this
    machine."""
    found = plain(machine, name)
    return None if found == OF_MACHINE[name].default else found


def why_memory_not_limited(choice: SystemChoice) -> str | None:
    """Why the memory of the system cannot be limited; None: it can."""
    if choice.url is not None:
        return "Assay does not start it, so its memory cannot be limited"
    if _has_own_processes(choice):
        return _why_memory_too_small(choice)
    if isinstance(registry.system(choice.name), BoundedInProcess):
        return None
    return (
        "it runs in the client's own process, and its memory cannot be bounded: a limit would end "
        "the client"
    )


def _why_memory_too_small(choice: SystemChoice) -> str | None:
    system, limit_bytes = registry.system(choice.name), choice.machine.memory_bytes
    if limit_bytes is None or not isinstance(system, LeastServer):
        return None
    if limit_bytes >= system.least_memory_bytes:
        return None
    return phrase(
        "no server starts in {}; it needs more than {}",
        Mention("memory", size_word(limit_bytes)),
        size_word(system.least_memory_bytes),
    )


def why_cpus_not_limited(choice: SystemChoice) -> str | None:
    """Why the processors of the system cannot be limited; None: they can."""
    if choice.url is not None:
        return "Assay does not start it, so its processors cannot be limited"
    if not _has_own_processes(choice):
        return (
            "it runs in the client's own process: a limit of processors would limit the client, too"
        )
    return None


def why_not_moved(choice: SystemChoice) -> str | None:
    """Why a round-trip time cannot be added to its connections; None: it can."""
    if registry.system(choice.name).driver in _engine.python_drivers():
        return "its Python module opens the connections itself, so they cannot be delayed"
    if not _has_own_processes(choice):
        return "it runs in the client's own process: there is no connection to delay"
    return None


def why_log_not_apart(choice: SystemChoice) -> str | None:
    """Why the log of the system cannot be on a storage of its own; None: it can."""
    if choice.url is not None:
        return "Assay does not start it, so its log stays where it is"
    system, storage = registry.system(choice.name), choice.machine.log_storage
    if not isinstance(system, SeparateLog):
        return "its log cannot be on another storage than its data"
    try:
        system.check_separate_log(choice)
    except ArgumentError as error:
        return f"{error.message}; {error.hint}" if error.hint else error.message
    if storage is not None:
        kind = registry.storage(storage.kind)
        if isinstance(kind, RawDevice) and kind.is_raw(storage):
            return f"its log is in files, and the storage {storage.name!r} has no file system"
        if storage.rtt_s:
            return f"the storage {storage.name!r} of its log has an rtt of its own"
    return None


def _has_own_processes(choice: SystemChoice) -> bool:
    return "own processes" in capabilities_of(registry.system(choice.name), choice)
