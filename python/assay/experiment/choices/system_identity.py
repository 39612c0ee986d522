"""Takes the document of a system or a storage, or the values of a part of a cell; returns what
identifies it: equal for equal ones, however they were asked for.

Fields at their defaults are left out, so that a new field changes no fingerprint unless it is set.
A system is the same by whatever name, from wherever its address comes, with any password, and
whether or not an option or setting says what it has anyway; so is a storage. A dialect file behind
the plus sign in its name is known by what it holds.
"""

from __future__ import annotations

import dataclasses
import functools
import hashlib
import json
import re
from collections.abc import Mapping
from dataclasses import MISSING
from typing import Any

from msgspec import NODEFAULT, Struct, structs

from assay import registry
from assay.contracts import server_url
from assay.contracts.experiment import BY_URL, StorageChoice, SystemChoice
from assay.contracts.factors import ServerMachine
from assay.contracts.systems.abilities import HasDefaultPort
from assay.errors import ArgumentError, PluginFailed
from assay.experiment.choices.storage_names import written

_PASSWORD_IN_QUERY = re.compile(
    r"(\w*passw(?:or)?d|passphrase|pwd)\s*(?:=|%3D)[^&]*", re.IGNORECASE
)
_NO_LEVELS = ("url_origins", "called", "shown", "at_default", "programs")
"""Of a system: where its address and its programs come from, how it is named, and what changes
nothing."""


def of_choice(choice: SystemChoice) -> str:
    """Equal for equal systems on equal machines."""
    return of_system(dataclasses.asdict(choice))


def without_machine(choice: SystemChoice) -> str:
    """Equal for systems of one name, whatever the machine, and what a dialect file holds."""
    plain = dataclasses.replace(choice, machine=ServerMachine(), dialect_content="")
    return of_choice(plain)


def of_system(system: Mapping[str, Any]) -> str:
    """Of the document of a system in a record."""
    text = json.dumps(not_default(SystemChoice, identifying(system)), sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()


def identifying(system: Mapping[str, Any]) -> dict[str, Any]:
    """Of the document of a system, what identifies it."""
    no_change = set(system.get("at_default") or ())

    def asked(part: str) -> dict[str, Any]:
        given = system.get(part) or {}
        return {name: value for name, value in given.items() if name not in no_change}

    machine = dict(system.get("machine") or {})
    if log_storage := machine.get("log_storage"):
        machine["log_storage"] = identifying_storage(log_storage)
    name = str(system.get("name"))
    by_content = {"name": name.partition("+")[0]} if system.get("dialect_content") else {}
    return {
        **{name: field for name, field in system.items() if name not in _NO_LEVELS},
        **by_content,
        "options": asked("options"),
        "settings": asked("settings"),
        "url": _plain_url(system.get("url"), name),
        "machine": not_default(ServerMachine, machine),
        "stands_on": identifying_storage(system["stands_on"]) if system.get("stands_on") else {},
    }


def of_storage(choice: StorageChoice) -> str:
    """Equal for equal storages."""
    return json.dumps(identifying_storage(dataclasses.asdict(choice)), sort_keys=True)


def identifying_storage(storage: Mapping[str, Any]) -> dict[str, Any]:
    """Of the document of a storage, what identifies it: its name is how it would be written, but
    that of a server by URL, of which nothing else is known."""
    kind = str(storage.get("kind") or StorageChoice.kind)
    no_change = _default_options(kind)
    given = storage.get("options") or {}
    options = {name: one for name, one in given.items() if no_change.get(name) != one}
    plain = not_default(StorageChoice, {**storage, "options": options})
    plain.pop("may_erase", None)
    if kind != BY_URL:
        fields = {name: value for name, value in plain.items() if name != "name"}
        plain["name"] = written(StorageChoice(**fields))
    return plain


@functools.cache
def _default_options(kind: str) -> Mapping[str, str]:
    """Empty where the kind is not known here, as one of an old record may be."""
    try:
        specs = registry.storage(kind).option_specs
    except (ArgumentError, PluginFailed):
        return {}
    return {spec.name: spec.default for spec in specs}


def not_default(kind: type, fields: Mapping[str, Any]) -> dict[str, Any]:
    """The fields that are not at their defaults; a field that ``kind`` does not declare is kept if
    it is not empty."""
    defaults = _defaults(kind)
    plain = {str(name): plain_value(value) for name, value in fields.items()}
    return {
        name: value
        for name, value in plain.items()
        if value not in (None, {}, []) and value != defaults.get(name)
    }


@functools.cache
def _defaults(kind: type) -> Mapping[str, Any]:
    if issubclass(kind, Struct):
        return {one.name: plain_value(_default(one, NODEFAULT)) for one in structs.fields(kind)}
    return {one.name: plain_value(_default(one, MISSING)) for one in dataclasses.fields(kind)}  # type: ignore[arg-type]


def _default(field: Any, missing: object) -> Any:
    """The default of the field; None where it has none, so that its value always counts."""
    if field.default_factory is not missing:
        made = field.default_factory()
        if isinstance(made, Struct):
            return structs.asdict(made)
        return dataclasses.asdict(made) if dataclasses.is_dataclass(made) else made  # type: ignore[arg-type]
    return None if field.default is missing else field.default


def plain_value(value: Any) -> Any:
    """As JSON has it, where ``10.0`` is ``10``."""
    if isinstance(value, Mapping):
        return {str(name): plain_value(item) for name, item in value.items()}
    if isinstance(value, list | tuple):
        return [plain_value(item) for item in value]
    if isinstance(value, float) and value.is_integer():
        return int(value)
    return value


@functools.cache
def _default_port(name: str) -> int | None:
    """None: there is none, or the system is not known here, as one of an old record may be."""
    try:
        system = registry.system(name)
    except (ArgumentError, PluginFailed):
        return None
    return system.default_port if isinstance(system, HasDefaultPort) else None


def _plain_url(url: str | None, system: str) -> str | None:
    """The URL without its password, so that a cell and the masked one of its record are equal,
    without the port that it has anyway, and with its parameters in an order of their own."""
    if url is None:
        return None
    shown = _PASSWORD_IN_QUERY.sub(r"\1=", server_url.without_password(url))
    if (port := _default_port(system)) is not None:
        shown = server_url.without_port(shown, port)
    before, mark, query = shown.partition("?")
    return f"{before}{mark}{'&'.join(sorted(query.split('&')))}"
