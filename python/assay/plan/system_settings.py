"""Takes the documents of cells; returns the options, settings and profile that one system was asked
for in several levels, as factors, for columns of their own, and the system's name without them.

Where there are several systems, each has settings of its own, which stay in its name.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping

from assay.contracts.experiment import setting_text, setting_word
from assay.contracts.recorded import CellDocument
from assay.experiment.choices.profiles import PROFILE

DEFAULT = "default"
"""The level of a setting or option that was not asked for."""


def varying(cells: Iterable[CellDocument], taken: Collection[str]) -> dict[str, str]:
    """Factor → setting, of those with several levels. ``taken``: the names of other factors, beside
    which a setting has that of its system (``SYSTEM.threads``)."""
    every = list(cells)
    systems = {str(_system(cell).get("name")) for cell in every}
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


def asked(cell: CellDocument) -> dict[str, str]:
    """Setting or option → the level that was asked for, those of a profile too; ``profile`` → its
    name."""
    system = _system(cell)
    found = {**_mapping(system.get("options")), **_mapping(system.get("settings"))}
    profile = {PROFILE: system[PROFILE]} if system.get(PROFILE) else {}
    return {name: str(level) for name, level in {**found, **profile}.items()}


def levels(cell: CellDocument, factors: Mapping[str, str]) -> dict[str, str]:
    """``factors``: those of `varying`."""
    asked = _in_the_name(cell)
    return {factor: asked.get(name, DEFAULT) for factor, name in factors.items()}


def label_without(label: str, cell: CellDocument, factors: Mapping[str, str]) -> str:
    """The name of a system without these factors."""
    asked = _in_the_name(cell)
    for name in factors.values():
        if name in asked:
            label = label.replace(setting_word(name, setting_text(name, asked[name])), "", 1)
    return label


def _in_the_name(cell: CellDocument) -> dict[str, str]:
    """What `SystemChoice.label` names: setting → level."""
    system = _system(cell)
    of_profile = _mapping(system.get("of_profile"))
    asked = {**_mapping(system.get("options")), **_mapping(system.get("settings"))}
    found = {name: str(one) for name, one in asked.items() if of_profile.get(name) != one}
    return {**found, PROFILE: str(system[PROFILE])} if system.get(PROFILE) else found


def _system(cell: CellDocument) -> Mapping[str, object]:
    return _mapping(cell.get("system"))


def _mapping(part: object) -> Mapping[str, object]:
    """Empty where a damaged record has something else there."""
    return part if isinstance(part, Mapping) else {}
