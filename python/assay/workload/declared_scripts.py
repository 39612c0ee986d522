"""Takes ``scripts``, ``mix`` and ``order`` of a test, a step or a group; returns the scripts that
its clients run.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from assay.files.toml_file import Section
from assay.text import quantities
from assay.text.nearest import did_you_mean
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
    listed = _names(section, section.texts("scripts", ()), known)
    order = section.choice("order", ORDERS, "mix" if mix else "sequence")
    if mix and order != "mix":
        raise section.error("weights have no effect in a sequence", "mix", hint='order = "mix"')
    return Scripts(tuple(dict.fromkeys([*listed, *mix])), order, mix)


def _mix(section: Section, known: Mapping[str, Script]) -> dict[str, int]:
    """``[tests.NAME.mix]``: name of a script → its weight."""
    weights = section.section("mix")
    mix = {name: weights.whole(name, quantities.WEIGHT_IN_A_MIX) for name in weights.names()}
    for name in mix:
        if name not in known:
            raise weights.error(
                f"no script is called {name!r}", name, hint=did_you_mean(name, known)
            )
    if mix and not any(mix.values()):
        raise section.error("at least one weight of a mix must be above 0", "mix")
    return mix


def _is_named(script: Script, glob: str) -> bool:
    """Files that are no SQL may be data, so they are scripts only by their ending."""
    is_script = script.language == "sql" or glob.endswith(Path(script.path).suffix)
    return bool(glob) and is_script and Path(script.path).match(glob)


def _names(
    section: Section, globs: tuple[str, ...], known: Mapping[str, Script]
) -> tuple[str, ...]:
    names: list[str] = []
    for glob in globs:
        matching = [script for script in known.values() if _is_named(script, glob)]
        if not matching:
            raise section.error(
                f"no script is called {glob!r}",
                "scripts",
                hint=did_you_mean(glob, [script.path for script in known.values()]),
            )
        names += [script.name for script in matching if script.name not in names]
    return tuple(names)
