"""Takes ``scripts``, ``mix`` and ``order`` of a test, a step or a group; returns the scripts that
its clients run.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from assay.files.toml_file import Section
from assay.text import quantities
from assay.workload import script_names
from assay.workload.values import Script

ORDERS = ("sequence", "mix")


@dataclass(frozen=True)
class Scripts:
    """The scripts that clients run, and their order."""

    names: tuple[str, ...] = ()
    order: str = "sequence"
    mix: Mapping[str, int] = field(default_factory=dict)
    """Name → weight."""


def read(section: Section, known: Mapping[str, Script]) -> Scripts:
    """The scripts, none where the section names none; raises `ExperimentError` with the line."""
    mix = _mix(section, known)
    listed = script_names.named(section, "scripts", section.texts("scripts", ()), known)
    order = section.choice("order", ORDERS, "mix" if mix else "sequence")
    if mix and order != "mix":
        raise section.error("weights have no effect in a sequence", "mix", hint='order = "mix"')
    return Scripts(tuple(dict.fromkeys([*listed, *mix])), order, mix)


def _mix(section: Section, known: Mapping[str, Script]) -> dict[str, int]:
    """``[tests.NAME.mix]``: script → its weight."""
    weights = section.section("mix")
    mix: dict[str, int] = {}
    for word in weights.names():
        weight = weights.whole(word, quantities.WEIGHT_IN_A_MIX)
        for name in script_names.named(weights, word, (word,), known):
            if name in mix:
                raise weights.error(f"{name} has two weights", word, hint="leave one of them out")
            mix[name] = weight
    if mix and not any(mix.values()):
        raise section.error("at least one weight of a mix must be above 0", "mix")
    return mix
