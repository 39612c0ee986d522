"""Takes ``scripts``, ``mix`` and ``order`` of a test, a step or a group; returns the scripts that
its clients run.

A weight is a number or a parameter that holds it: ``mix = { browse = "reads", buy = 1 }``, or
``scripts = ["browse@:reads", "buy@1"]``.
"""

from __future__ import annotations

from collections.abc import Mapping

from msgspec import Struct, field

from assay.errors import ExperimentError
from assay.text import quantities
from assay.text.files.toml_file import TomlTable
from assay.workload import driving
from assay.workload.parameters import Parameter
from assay.workload.values import Script

ORDERS = ("sequence", "mix", "deck")


class Scripts(Struct, frozen=True):
    """The scripts that clients run, and their order."""

    names: tuple[str, ...] = ()
    order: str = "sequence"
    mix: Mapping[str, int | str] = field(default_factory=dict)
    """Name → weight, or the parameter that holds it."""


def read(
    section: TomlTable, known: Mapping[str, Script], parameters: Mapping[str, Parameter]
) -> Scripts:
    """The scripts, none where the section names none; raises `ExperimentError` with the line."""
    mix = _mix(section, known, parameters)
    listed: dict[str, None] = {}
    from assay.workload.scripts import script_names

    for word in section.texts("scripts", ()):
        named, at, weight = word.rpartition("@")
        names = script_names.named(section, "scripts", (named if at else word,), known)
        listed |= dict.fromkeys(names)
        for name in names if at else ():
            if name in mix:
                raise _two_weights(section, "scripts", name)
            mix[name] = _weight_of_word(section, named, weight, parameters)
    if mix and not any(mix.values()):
        key = "mix" if "mix" in section else "scripts"
        raise section.error("at least one weight of a mix must be above 0", key)
    order = section.choice("order", ORDERS, "mix" if mix else "sequence")
    if mix and order == "sequence":
        raise section.error("weights have no effect in a sequence", "order", hint='order = "mix"')
    return Scripts(tuple(dict.fromkeys([*listed, *mix])), order, mix)


def _mix(
    section: TomlTable, known: Mapping[str, Script], parameters: Mapping[str, Parameter]
) -> dict[str, int | str]:
    """``[tests.NAME.mix]``: script → its weight."""
    weights = section.section("mix")
    mix: dict[str, int | str] = {}
    from assay.workload.scripts import script_names

    for word in weights.names():
        weight = (
            _parameter(weights, word, weights.text(word), parameters)
            if weights.is_text(word)
            else weights.whole(word, quantities.WEIGHT_IN_A_MIX)
        )
        for name in script_names.named(weights, word, (word,), known):
            if name in mix:
                raise _two_weights(weights, word, name)
            mix[name] = weight
    return mix


def _weight_of_word(
    section: TomlTable, script: str, word: str, parameters: Mapping[str, Parameter]
) -> int | str:
    """What stands behind the ``@``: a number, or ``:parameter``."""
    if word.startswith(":"):
        return _parameter(section, "scripts", word[1:], parameters)
    try:
        return quantities.WEIGHT_IN_A_MIX.of_word(word)
    except ValueError as error:
        raise section.error(
            f"{script}@{word}: {error}",
            "scripts",
            hint=f'"{script}@3", or "{script}@:name" with a parameter',
        ) from None


def _parameter(section: TomlTable, key: str, name: str, parameters: Mapping[str, Parameter]) -> str:
    """The name of a parameter that can hold a weight."""
    if name not in parameters or parameters[name].type not in ("int", "float"):
        raise driving.no_number(section, key, name, parameters, ("int", "float"))
    return name


def _two_weights(section: TomlTable, key: str, name: str) -> ExperimentError:
    return section.error(f"{name} has two weights", key, hint="leave one of them out")
