"""Takes cells, or their levels by factor; returns the names of the cells, as people read them, and
those levels of machine and settings that stand in columns of their own."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence

from assay.contracts import factors
from assay.contracts.experiment import setting_text, setting_word
from assay.contracts.factors import Levels
from assay.contracts.factors import level_text as level_text
from assay.contracts.storage_facts import NOT_SEEN
from assay.experiment import Driving, Scalar, ServerMachine
from assay.experiment.choices.profiles import PROFILE
from assay.plan.values import Cell

CACHE, OFFERED_RATE = factors.CACHE.name, factors.OFFERED_RATE.name
MACHINE = factors.MACHINE.name
"""The factor, where runs of several machines are shown together."""
OF_GROUP = "clients of "
"""Begins the name of a factor: how many clients a group has."""
AS_DECLARED = "as declared"
"""Its level, where they are those of the workload."""
_TAKEN = {*factors.NAMES, *Driving.__struct_fields__}


def cell_names(cells: Sequence[Levels]) -> list[str]:
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


def named_parameters(given: Levels) -> dict[str, Scalar]:
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


def varying_machines(machines: Iterable[ServerMachine]) -> list[str]:
    """The factors with several levels."""
    every = list(machines)
    return [
        name
        for name in factors.OF_MACHINE
        if len({_machine_level(machine, name) for machine in every}) > 1
    ]


def machine_levels(machine: ServerMachine, names: Iterable[str]) -> dict[str, Scalar]:
    return {name: _machine_level(machine, name) for name in names}


def _machine_level(machine: ServerMachine, name: str) -> Scalar:
    factor = factors.OF_MACHINE[name]
    return factor.shown(getattr(machine, factor.column))


def label_without_machine(label: str, machine: ServerMachine, names: Sequence[str]) -> str:
    """The name of a system without these factors; the others stay at its end."""
    if not names:
        return label
    kept = [word for word in machine.words if word.partition("=")[0] not in names]
    return " ".join([label.removesuffix(" ".join(machine.words)).rstrip(), *kept])


DEFAULT_SETTING = "default"
"""The level of a setting or option that was not asked for."""


def varying_settings(cells: Iterable[Cell], taken: Collection[str]) -> dict[str, str]:
    """Factor → setting, of those with several levels. ``taken``: the names of other factors, beside
    which a setting has that of its system (``SYSTEM.threads``)."""
    every = list(cells)
    systems = {cell.system.name for cell in every}
    if len(systems) != 1:
        return {}
    (system,) = systems
    asked = [_in_the_name(cell) for cell in every]
    names = sorted({name for one in asked for name in one})
    return {
        f"{system}.{name}" if name in taken else name: name
        for name in names
        if len({one.get(name) for one in asked}) > 1
    }


def asked_settings(cell: Cell) -> dict[str, str]:
    """Setting or option → the level that was asked for, those of a profile too; ``profile`` → its
    name."""
    system = cell.system
    return {**system.options, **system.settings, **_profile(cell)}


def setting_levels(cell: Cell, factors: Mapping[str, str]) -> dict[str, str]:
    """``factors``: those of `varying`."""
    asked = _in_the_name(cell)
    return {factor: asked.get(name, DEFAULT_SETTING) for factor, name in factors.items()}


def label_without_settings(label: str, cell: Cell, factors: Mapping[str, str]) -> str:
    """The name of a system without these factors."""
    asked = _in_the_name(cell)
    for name in factors.values():
        if name in asked:
            label = label.replace(setting_word(name, setting_text(name, asked[name])), "", 1)
    return label


def _in_the_name(cell: Cell) -> dict[str, str]:
    """What `SystemChoice.label` names: setting → level."""
    system = cell.system
    asked = {**system.options, **system.settings}
    own = {name: one for name, one in asked.items() if system.of_profile.get(name) != one}
    return {**own, **_profile(cell)}


def _profile(cell: Cell) -> dict[str, str]:
    return {PROFILE: cell.system.profile} if cell.system.profile else {}
