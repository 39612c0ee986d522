"""Takes a workload that another one extends; returns what that inherits, as its own folder sees it.

Inherited are parameters, tables with their rows, identifiers, constants, views, scripts, checks,
overrides, and what cannot be expressed. Tests and reports are not: they are what the other workload
is for.
"""

from __future__ import annotations

import os
from pathlib import Path

from msgspec.structs import replace

from assay import registry
from assay.errors import ArgumentError
from assay.text import paths
from assay.text.phrases import did_you_mean
from assay.text.toml_file import TomlTable
from assay.workload.in_dialect import INSTANCE
from assay.workload.schema import DeclaredTable, Expression, Schema
from assay.workload.values import Inherited, Script, Workload

EXTENDS = "extends"
TEXTS = "extends/"
"""Below it are the inherited texts, wherever the folder of the base lies on this machine."""


def base_folder(top: TomlTable) -> Path | None:
    """The folder of the workload that ``extends`` names; None: the key is not there. Raises
    `ExperimentError`."""
    if EXTENDS not in top:
        return None
    word = top.text(EXTENDS)
    if word in registry.workloads():
        try:
            return registry.workload_folder(word)
        except ArgumentError as error:
            raise top.error(error.message, EXTENDS, hint=error.hint) from None
    folder = Path(os.path.normpath(top.file.resolve().parent / word))
    if not word or not paths.is_file(folder / registry.WORKLOAD_FILE):
        raise top.error(
            f"extends = {word!r}: neither a workload nor a folder beside this one with a "
            f"{registry.WORKLOAD_FILE}",
            EXTENDS,
            hint=did_you_mean(word, registry.workloads()),
        )
    return folder


def inherited(base: Workload, folder: Path) -> Inherited:
    """What the workload in ``folder`` has of ``base``."""
    way = os.path.relpath(base.folder.resolve(), folder.resolve())

    def seen(script: Script) -> Script:
        return replace(script, path=Path(way, script.path).as_posix())

    return Inherited(
        name=base.name,
        default_system=base.default_system,
        data_source=base.data_source,
        data=base.data,
        # Which tests have a parameter is said of tests of the base.
        parameters={name: replace(one, tests=()) for name, one in base.parameters.items()},
        schema=_without_places(base.schema),
        scripts={name: seen(script) for name, script in base.scripts.items()},
        checks={name: seen(check) for name, check in base.checks.items()},
        overrides={key: seen(script) for key, script in base.overrides.items()},
        not_expressible=base.not_expressible,
        texts={f"{TEXTS}{base.name}/{path}": text for path, text in base.texts.items()},
    )


def replaceable(base: Workload) -> dict[str, str]:
    """Path of a script in the base's folder → its name: overrides of a workload that extends it
    replace it under this path."""
    every = (*base.scripts.values(), *base.checks.values())
    return {script.path: script.name for script in every if INSTANCE not in script.path}


def _without_places(schema: Schema) -> Schema:
    """Their lines are of another file than the one that is named in errors."""
    return replace(
        schema,
        declared=tuple(map(_table, schema.declared)),
        constants={name: _expression(one) for name, one in schema.constants.items()},
    )


def _table(declared: DeclaredTable) -> DeclaredTable:
    made = declared.generator
    instances = declared.instances
    return replace(
        declared,
        line=0,
        instances=instances and (_expression(instances[0]), _expression(instances[1])),
        conditions={name: _expression(one) for name, one in declared.conditions.items()},
        generator=replace(
            made,
            rows=made.rows and _expression(made.rows),
            values={name: _expression(one) for name, one in made.values.items()},
        ),
    )


def _expression(expression: Expression) -> Expression:
    return Expression(expression.text, 0)
