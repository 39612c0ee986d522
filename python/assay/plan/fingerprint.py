"""Takes a cell, or its document in a record; returns its fingerprint, version 2: equal cells have
equal fingerprints, even where one was recorded by a version with fewer fields.

SHA-256 of canonical JSON of the fields that are not at their defaults. So a new field changes no
fingerprint unless it is set. A password is left out, and ``10.0`` equals ``10``. A default that
changes must be kept here with its old value: fingerprints are compared between records of many
years.
"""

from __future__ import annotations

import dataclasses
import hashlib
import json
import re
from collections.abc import Mapping
from typing import Any

from assay import server_url
from assay.experiment import Driving, ScriptFile, ServerMachine, StorageChoice, SystemChoice
from assay.plan.values import Cell

_PASSWORD_IN_QUERY = re.compile(
    r"(\w*passw(?:or)?d|passphrase|pwd)\s*(?:=|%3D)[^&]*", re.IGNORECASE
)
_NO_LEVELS = ("url_origins", "called", "shown")
"""Of a system: where its address comes from, and how it is named."""
_WITHIN: Mapping[str, type] = {
    "system": SystemChoice,
    "storage": StorageChoice,
    "driving": Driving,
}
"""Fields of a cell that are values with fields of their own."""


def of_cell(cell: Cell) -> str:
    return of_document(dataclasses.asdict(cell))


def of_document(cell: Mapping[str, Any]) -> str:
    """The fingerprint of a cell in a record (``runs.cell``). Raises `ValueError`, `KeyError` or
    `TypeError` where the document is not a cell."""
    text = json.dumps(identifying(cell), sort_keys=True, separators=(",", ":"), ensure_ascii=True)
    return hashlib.sha256(text.encode()).hexdigest()


def identifying(cell: Mapping[str, Any]) -> dict[str, Any]:
    """Of a cell in a record, what its fingerprint is of."""
    fields = {name: value for name, value in cell.items() if name != "fingerprint"}
    fields["system"] = _system(fields["system"])
    storage = fields.get("storage") or {}
    fields["storage"] = {name: field for name, field in storage.items() if name != "may_erase"}
    for name, kind in _WITHIN.items():
        fields[name] = _not_default(kind, fields.get(name) or {})
    fields["scripts"] = [_not_default(ScriptFile, field) for field in fields.get("scripts") or ()]
    return _not_default(Cell, fields)


def of_system(system: Mapping[str, Any]) -> str:
    """The fingerprint of a system in a record: equal for equal systems, by whatever name."""
    text = json.dumps(_not_default(SystemChoice, _system(system)), sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()


def _system(system: Mapping[str, Any]) -> dict[str, Any]:
    """What identifies it."""
    return {
        **{name: field for name, field in system.items() if name not in _NO_LEVELS},
        "url": _without_password(system.get("url")),
        "machine": _not_default(ServerMachine, system.get("machine") or {}),
    }


def _not_default(kind: type, fields: Mapping[str, Any]) -> dict[str, Any]:
    """The fields that are not at their defaults; a field that ``kind`` does not declare is kept if
    it is not empty."""
    defaults = {field.name: _default(field) for field in dataclasses.fields(kind)}
    plain = {str(name): _plain(value) for name, value in fields.items()}
    return {
        name: value
        for name, value in plain.items()
        if value not in (None, {}, []) and value != _plain(defaults.get(name))
    }


def _default(field: dataclasses.Field[Any]) -> Any:
    """The default of the field; None where it has none, so that its value always counts."""
    if field.default_factory is not dataclasses.MISSING:
        made = field.default_factory()
        return dataclasses.asdict(made) if dataclasses.is_dataclass(made) else made  # type: ignore[arg-type]
    return None if field.default is dataclasses.MISSING else field.default


def _plain(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {str(name): _plain(item) for name, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    if isinstance(value, float) and value.is_integer():
        return int(value)
    return value


def _without_password(url: str | None) -> str | None:
    """The URL without its password: that of a cell and the masked one of its record must be
    equal."""
    if url is None:
        return None
    return _PASSWORD_IN_QUERY.sub(r"\1=", server_url.without_password(url))
