"""Takes the levels of cells by factor; returns the names of the cells, as people read them: system,
storage and clients, and what else distinguishes them. A cell has one name in a report and in a
comparison.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import fields

from assay.contracts.deployment import NOT_SEEN
from assay.contracts.experiment import FACTOR_NAMES
from assay.experiment import AS_IS, ENGINE, Driving, Scalar
from assay.text import units

Levels = Mapping[str, Scalar]
"""Factor → level."""

ALWAYS_NAMED = ("system", "storage", "clients")
CACHE, CLIENT_PROGRAM, OFFERED_RATE = "cache", "client_program", "offered_rate_per_s"
MACHINE = "machine"
"""The factor, where runs of several machines are shown together."""
OF_GROUP = "clients of "
"""Begins the name of a factor: how many clients a group has."""
AS_DECLARED = "as declared"
"""Its level, where they are those of the workload."""
_TAKEN = {*FACTOR_NAMES, *(field.name for field in fields(Driving))}
_ORDINARY: Levels = {CACHE: AS_IS, CLIENT_PROGRAM: ENGINE}
"""Levels that are named only beside others; what is not ordinary is named in any case."""


def names(cells: Sequence[Levels]) -> list[str]:
    """Of the cells of a test."""
    every = dict.fromkeys(factor for cell in cells for factor in cell)
    of_groups = {factor: AS_DECLARED for factor in every if factor.startswith(OF_GROUP)}
    cells = [{**of_groups, **cell} for cell in cells]
    named = [factor for factor in every if _is_named(factor, cells)]
    return [
        ", ".join(
            level_name(factor, cell[factor])
            for factor in named
            if factor in cell and (factor, cell[factor]) != ("storage", NOT_SEEN)
        )
        for cell in cells
    ]


def parameters(given: Levels) -> dict[str, Scalar]:
    """As factors. One that has the name of another factor, as an earlier program took it, or of a
    setting of how clients are driven, is set apart."""
    return {f"parameter {name}" if name in _TAKEN else name: one for name, one in given.items()}


def _is_named(factor: str, cells: Sequence[Levels]) -> bool:
    first, *others = dict.fromkeys(cell.get(factor) for cell in cells)
    return factor in ALWAYS_NAMED or bool(others) or first != _ORDINARY.get(factor, first)


def level_name(factor: str, level: Scalar) -> str:
    """A level in text: a name alone, a number with what it counts."""
    if factor in ("system", "storage", MACHINE):
        return str(level)
    if factor == "clients":
        return units.counted(int(level), "client")
    if factor == OFFERED_RATE:
        return f"{level_text(level)} offered/s"
    if factor == CLIENT_PROGRAM:
        return f"{level} clients"
    if factor.startswith(OF_GROUP):
        return f"{factor.removeprefix(OF_GROUP)} {level}"
    return f"{factor} {level_text(level)}"


def level_text(level: Scalar) -> str:
    """As it is written where it is asked for: ``800`` also where a rate is kept as 800.0."""
    return f"{level:.15g}" if isinstance(level, float) else units.level(level)
