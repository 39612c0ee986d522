"""Takes what servers were given of the machine: memory, processors, distance, a storage for the
log; returns those that vary as factors, for columns of their own, and the names of systems without
them.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from assay.contracts import factors
from assay.experiment import Scalar, ServerMachine


def varying(machines: Iterable[ServerMachine]) -> list[str]:
    """The factors with several levels."""
    every = list(machines)
    return [
        name for name in factors.OF_MACHINE if len({_level(machine, name) for machine in every}) > 1
    ]


def levels(machine: ServerMachine, names: Iterable[str]) -> dict[str, Scalar]:
    return {name: _level(machine, name) for name in names}


def _level(machine: ServerMachine, name: str) -> Scalar:
    factor = factors.OF_MACHINE[name]
    return factor.shown(getattr(machine, factor.column))


def label_without(label: str, machine: ServerMachine, names: Sequence[str]) -> str:
    """The name of a system without these factors; the others stay at its end."""
    if not names:
        return label
    kept = [word for word in machine.words if word.partition("=")[0] not in names]
    return " ".join([label.removesuffix(" ".join(machine.words)).rstrip(), *kept])
