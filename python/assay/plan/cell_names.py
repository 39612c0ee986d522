"""Takes the levels of cells by factor; returns the names of the cells, as people read them: system,
storage and clients, and what else distinguishes them. A cell has one name in a report and in a
comparison.
"""

from __future__ import annotations

from collections.abc import Sequence

from assay.contracts import factors
from assay.contracts.factors import Levels
from assay.contracts.factors import level_text as level_text
from assay.contracts.storage_facts import NOT_SEEN
from assay.experiment import Driving, Scalar

CACHE, OFFERED_RATE = factors.CACHE.name, factors.OFFERED_RATE.name
MACHINE = factors.MACHINE.name
"""The factor, where runs of several machines are shown together."""
OF_GROUP = "clients of "
"""Begins the name of a factor: how many clients a group has."""
AS_DECLARED = "as declared"
"""Its level, where they are those of the workload."""
_TAKEN = {*factors.NAMES, *Driving.__struct_fields__}


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
    is_always = factor in factors.ALWAYS_NAMED
    return is_always or bool(others) or not factors.is_ordinary(factor, first)


def level_name(factor: str, level: Scalar) -> str:
    """A level in text: a name alone, a number with what it counts."""
    if factor.startswith(OF_GROUP):
        return f"{factor.removeprefix(OF_GROUP)} {level}"
    return factors.name_of(factor, level)
