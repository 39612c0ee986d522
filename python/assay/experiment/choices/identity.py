"""Takes what a system or a storage is; returns what identifies it,
equal for equal ones, and a name for each, as short as no two different ones share."""

from __future__ import annotations

import dataclasses
import functools
import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import MISSING, replace
from typing import Any, Final

from msgspec import NODEFAULT, Struct, structs, to_builtins

from assay import registry
from assay.contracts import server_url
from assay.contracts.experiment import BY_URL, StorageChoice, SystemChoice
from assay.contracts.factors import ServerMachine
from assay.contracts.storages.protocol import asked_options_of
from assay.contracts.systems.abilities import HasDefaultPort
from assay.errors import ArgumentError, PluginFailed
from assay.text import pattern

_PASSWORD_IN_QUERY = pattern(r"(?i)(\w*passw(?:or)?d|passphrase|pwd)\s*(?:=|%3D)[^&]*")
_NO_LEVELS = ("url_origins", "called", "shown", "at_default", "programs")
"""Of a system: where its address and its programs come from, how it is named, and what changes
nothing."""


def identity_of_choice(choice: SystemChoice) -> str:
    """Equal for equal systems on equal machines."""
    text = json.dumps(not_default(SystemChoice, identifying(choice)), sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()


def without_machine(choice: SystemChoice) -> str:
    """Equal for systems of one name, whatever the machine, and what a dialect file holds."""
    return identity_of_choice(replace(choice, machine=ServerMachine(), dialect_content=""))


def identifying(choice: SystemChoice) -> dict[str, Any]:
    """What identifies a system, as plain data."""

    def asked(given: Mapping[str, str]) -> dict[str, str]:
        return {name: one for name, one in given.items() if name not in choice.at_default}

    machine, storage, name = choice.machine, choice.stands_on, choice.name
    of_machine = to_builtins(machine)
    if machine.log_storage is not None:
        of_machine["log_storage"] = identifying_storage(machine.log_storage)
    system = to_builtins(choice)
    return {
        **{name: field for name, field in system.items() if name not in _NO_LEVELS},
        "name": name.partition("+")[0] if choice.dialect_content else name,
        "options": asked(choice.options),
        "settings": asked(choice.settings),
        "url": _plain_url(choice.url, name),
        "machine": not_default(ServerMachine, of_machine),
        "stands_on": identifying_storage(storage) if storage else {},
    }


def identity_of_storage(choice: StorageChoice) -> str:
    """Equal for equal storages."""
    return json.dumps(identifying_storage(choice), sort_keys=True)


def identifying_storage(choice: StorageChoice) -> dict[str, Any]:
    """What identifies a storage, as plain data: its name is how it would be written, but that of a
    server by URL, of which nothing else is known."""
    no_change = _default_options(choice.kind)
    options = {name: one for name, one in choice.options.items() if no_change.get(name) != one}
    own = replace(choice, options=options, may_erase=False)
    plain = not_default(StorageChoice, to_builtins(own))
    if choice.kind != BY_URL:
        plain["name"] = written_storage(own)
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
        return to_builtins(field.default_factory())
    return None if field.default is missing else field.default


def plain_value(value: Any) -> Any:
    """As JSON has it, where ``10.0`` is ``10``."""
    if value is None or isinstance(value, str):  # most are: the questions below take ten times this
        return value
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


def system_labels(choices: Sequence[SystemChoice]) -> list[str]:
    """The `SystemChoice.label_on_storage` of each, unique among those on one storage."""
    return [choice.label_on_storage for choice in named_systems(choices)]


def named_systems(choices: Iterable[SystemChoice]) -> tuple[SystemChoice, ...]:
    """With their names; that of its product where the user called it differently elsewhere."""
    choices, systems = list(choices), dict[str, SystemChoice]()
    for choice in reversed(choices):
        other = systems.get(identity := without_machine(choice))
        is_renamed = other is not None and other.called != choice.called
        systems[identity] = replace(choice, called="") if is_renamed else choice
    names = _names(systems)
    return tuple(replace(choice, shown=names[without_machine(choice)]) for choice in choices)


def insist_on_own_names(choices: Iterable[SystemChoice]) -> None:
    """Raises `ArgumentError` where the user gave one name to different systems."""
    servers: dict[tuple[str, str], tuple[str, str | None]] = {}
    for choice in choices:
        server = (choice.name, choice.url_without_password or choice.build)
        name = (choice.called, _storage(choice))
        if choice.called and servers.setdefault(name, server) != server:
            raise ArgumentError(
                f"two systems are called {choice.called!r}", hint="give each a name of its own"
            )


def _names(systems: dict[str, SystemChoice]) -> dict[str, str]:
    """By the identity of each system."""
    shown: dict[str, frozenset[str]] = dict.fromkeys(reversed(systems), frozenset())
    numbered: dict[str, int] = {}
    while True:
        of_name: dict[tuple[str, str], list[str]] = {}
        for identity, keys in shown.items():
            name = systems[identity].name_with(keys)
            if identity in numbered:
                name += f" #{numbered[identity]}"
            of_name.setdefault((name, _storage(systems[identity])), []).append(identity)
        shared = [several for several in of_name.values() if len(several) > 1]
        if not shared:
            return {several[0]: name for (name, _), several in of_name.items()}
        for several in shared:
            differing = _differing([systems[one] for one in several], shown[several[0]])
            if differing is None:
                numbered |= {identity: place for place, identity in enumerate(several, 1)}
            for identity in several:
                shown[identity] |= {differing} if differing else set()


def _storage(choice: SystemChoice) -> str:
    """By which servers by URL differ even if they are called the same; empty: not said."""
    return choice.stands_on.name if choice.stands_on else ""


def _differing(choices: Sequence[SystemChoice], shown: frozenset[str]) -> str | None:
    """The first particular, not yet ``shown``, that is not the same for all; None: there is none,
    as where passwords alone differ."""
    found = [choice.particulars for choice in choices]
    for key in dict.fromkeys(key for one in found for key in one):
        if key not in shown and len({one.get(key) for one in found}) > 1:
            return key
    return None


QUOTE: Final = '"'


def written_storage(choice: StorageChoice) -> str:
    """As a storage without a name of its own may be written: ``loop[fs=xfs,rtt=1ms]:/mnt/ssd``."""
    options = asked_options_of(choice).items()
    given = ",".join(f"{key}={_quoted(value)}" for key, value in options)
    where = "" if choice.directory is None else f":{_quoted(choice.directory)}"
    return f"{choice.kind}[{given}]{where}" if given else f"{choice.kind}{where}"


def _quoted(text: str) -> str:
    return f"{QUOTE}{text}{QUOTE}" if "," in text else text
