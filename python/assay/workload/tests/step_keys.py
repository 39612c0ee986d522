"""Takes keys that several steps share; returns their values, with every name checked."""

from __future__ import annotations

from collections.abc import Mapping

from assay.text.files.toml_file import TomlTable
from assay.text.nearest import did_you_mean
from assay.workload.parameters import Parameter
from assay.workload.schema import Expression
from assay.workload.scripts import script_names
from assay.workload.scripts.script_names import NamedScript


def script(section: TomlTable, key: str, scripts: Mapping[str, NamedScript]) -> str:
    """The name of the one script that is the value of ``key``."""
    word = section.text(key)
    found = script_names.named(section, key, (word,), scripts)
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


def seconds(section: TomlTable, key: str, known: Mapping[str, Parameter]) -> str:
    """The name of a parameter that holds seconds."""
    name = section.choice(key, known)
    if known[name].type != "float":
        raise section.error(
            f"{key} names {name!r}, which is not a float", key, hint="it holds seconds"
        )
    return name
