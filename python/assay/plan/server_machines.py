"""Takes what servers were given of the machine: memory, processors, distance, a storage for the
log; returns those that vary as factors, for columns of their own, and the names of systems without
them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence

from assay.experiment import Scalar, ServerMachine
from assay.text import sizes, units


def _memory(machine: ServerMachine) -> Scalar:
    return "none" if machine.memory_bytes is None else sizes.size_word(machine.memory_bytes)


def _cpus(machine: ServerMachine) -> Scalar:
    return "all" if machine.cpus is None else machine.cpus


def _rtt(machine: ServerMachine) -> Scalar:
    return units.exact_duration(machine.rtt_s) if machine.rtt_s else "0"


def _log_storage(machine: ServerMachine) -> Scalar:
    return "none" if machine.log_storage is None else machine.log_storage.name


_LEVELS: Mapping[str, Callable[[ServerMachine], Scalar]] = {
    "memory": _memory,
    "cpus": _cpus,
    "rtt": _rtt,
    "log_storage": _log_storage,
}
"""By the names of the options."""


def varying(machines: Iterable[ServerMachine]) -> list[str]:
    """The factors with several levels."""
    every = list(machines)
    return [name for name, level in _LEVELS.items() if len(set(map(level, every))) > 1]


def levels(machine: ServerMachine, names: Iterable[str]) -> dict[str, Scalar]:
    return {name: _LEVELS[name](machine) for name in names}


def label_without(label: str, machine: ServerMachine, names: Sequence[str]) -> str:
    """The name of a system without these factors; the others stay at its end."""
    if not names:
        return label
    kept = [word for word in machine.words if word.partition("=")[0] not in names]
    return " ".join([label.removesuffix(" ".join(machine.words)).rstrip(), *kept])
