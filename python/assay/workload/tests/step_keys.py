"""Takes keys that several steps share; returns their values, with every name checked."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from assay.text.files.toml_file import TomlTable
from assay.text.nearest import did_you_mean
from assay.workload.parameters import Parameter
from assay.workload.schema import Expression

if TYPE_CHECKING:
    from assay.workload.steps import Names


def script(section: TomlTable, key: str, names: Names) -> str:
    """The name of the one script that is the value of ``key``."""
    word = section.text(key)
    from assay.workload.scripts import script_names

    found = script_names.named(section, key, (word,), names.scripts)
    if len(found) > 1:
        raise section.error(
            f"{key} = {word!r}: expected one script, found {len(found)}",
            key,
            hint=f"name one of them: {', '.join(found)}",
        )
    return found[0]


def parameters(section: TomlTable, known: Mapping[str, Parameter]) -> dict[str, Expression]:
    """Parameters that differ in a step: name → expression."""
    for name in section.names():
        if name not in known:
            raise section.error(f"unknown parameter {name!r}", name, hint=did_you_mean(name, known))
    return {
        name: Expression(str(section.scalar(name)), section.line_of(name))
        for name in section.names()
    }


def parameter(kind: str) -> Callable[[TomlTable, str, Names], str]:
    """Reads the name of a parameter of that type."""

    def read(section: TomlTable, key: str, names: Names) -> str:
        name = section.choice(key, names.parameters)
        if names.parameters[name].type != kind:
            raise section.error(f"{key} names {name!r}, which is not of type {kind}", key)
        return name

    return read


def earlier(do: str) -> Callable[[TomlTable, str, Names], str]:
    """Reads the name of an earlier step of that kind."""

    def read(section: TomlTable, key: str, names: Names) -> str:
        known = [step.label for step in names.before if step.do == do]
        name = section.text(key)
        if name not in known:
            raise section.error(
                f"{key} = {name!r}: no earlier step {do!r} has that name",
                key,
                hint=did_you_mean(name, known),
            )
        return name

    return read


def seconds(section: TomlTable, key: str, names: Names) -> str:
    """The name of a parameter that holds seconds."""
    name = section.choice(key, names.parameters)
    if names.parameters[name].type != "float":
        raise section.error(
            f"{key} names {name!r}, which is not a float", key, hint="it holds seconds"
        )
    return name
