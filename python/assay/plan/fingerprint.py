"""Takes a cell, or its document in a record; returns its fingerprint, version 2: equal cells have
equal fingerprints, even where one was recorded by a version with fewer fields.

SHA-256 of canonical JSON of the fields that are not at their defaults. So a new field changes no
fingerprint unless it is set. A password is left out, and ``10.0`` equals ``10``. A default that
changes must be kept here with its old value: fingerprints are compared between records of many
years.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping
from typing import Any

from assay.contracts.experiment import OF_SCRIPTS
from assay.contracts.factors import OF_LEVELS
from assay.experiment import Driving, ScriptFile, StorageChoice, SystemChoice
from assay.experiment.choices import system_identity as of_parts
from assay.experiment.choices.system_identity import not_default, plain_value
from assay.plan.values import Cell
from assay.workload.ad_hoc_script import TEST

_WITHIN: Mapping[str, type] = {
    "system": SystemChoice,
    "storage": StorageChoice,
    "driving": Driving,
}
"""Fields of a cell that are values with fields of their own."""


def of_cell(cell: Cell) -> str:
    return of_document(cell.for_record())


def of_document(cell: Mapping[str, Any]) -> str:
    """The fingerprint of a cell in a record (``runs.cell``). Raises `ValueError`, `KeyError` or
    `TypeError` where the document is not a cell."""
    fields = identifying(cell)
    if fields.pop("workload_content", ""):
        fields["workload"] = cell["workload_content"]
        if cell["workload_content"] == OF_SCRIPTS:
            fields["test"] = TEST  # also where each of several scripts has one of its own
    if fields.pop("feed_content", ""):
        fields["feed"] = cell["feed_content"]
    fields["scripts"] = scripts_by_content(fields.get("scripts") or [])
    return _digest(_not_default(fields))


def by_paths(cell: Mapping[str, Any]) -> str:
    """Equal for cells that are equal but for what the files at their paths held: an edited script
    stays the script that it was. As an Assay that knew no contents had it."""
    fields = identifying({**cell, "system": {**cell["system"], "dialect_content": ""}})
    scripts = [{**one, "content": ""} for one in fields.get("scripts") or []]
    known_by = {"workload_content": "", "feed_content": "", "scripts": scripts_by_content(scripts)}
    if cell.get("workload_content") == OF_SCRIPTS:
        known_by["test"] = TEST
    return _digest(_not_default({**fields, **known_by}))


def scripts_by_content(scripts: Iterable[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Without the paths of those of which the content is known. The weight of one alone says
    nothing."""
    known = [
        {
            name: value
            for name, value in script.items()
            if name != ("path" if script.get("content") else "content")
        }
        for script in scripts
    ]
    if len(known) == 1 and known[0].get("content"):
        known[0].pop("weight", None)
    return known


def _digest(fields: Mapping[str, Any]) -> str:
    text = json.dumps(fields, sort_keys=True, separators=(",", ":"), ensure_ascii=True)
    return hashlib.sha256(text.encode()).hexdigest()


def identifying(cell: Mapping[str, Any]) -> dict[str, Any]:
    """Of a cell in a record, what identifies it, with the paths by which it is shown."""
    fields = {name: value for name, value in cell.items() if name != "fingerprint"}
    system = of_parts.identifying(fields["system"])
    fields["system"] = {name: field for name, field in system.items() if name != "stands_on"}
    storage = fields.get("storage") or {}  # what a server by URL stands on, too
    fields["storage"] = of_parts.identifying_storage(storage) if storage else {}
    for name, kind in _WITHIN.items():
        fields[name] = not_default(kind, fields.get(name) or {})
    fields["scripts"] = [not_default(ScriptFile, field) for field in fields.get("scripts") or ()]
    return _not_default(fields)


def _not_default(fields: Mapping[str, Any]) -> dict[str, Any]:
    """The fields and levels of a cell that are not at their defaults."""
    found = not_default(Cell, fields)
    return {name: value for name, value in found.items() if value != _DEFAULTS.get(name)}


_DEFAULTS = {name: plain_value(factor.default) for name, factor in OF_LEVELS.items()}
