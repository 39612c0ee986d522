"""Takes what is said of the storage of a server by URL (``URL[storage=ssd,role=solid-state]``);
returns the system with it, and the storages on which each system of an experiment is run.

Such a server is on one storage, which Assay neither makes nor probes: its name is a column of
reports, and its role one of a paper's tables.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Final

from assay import registry
from assay.contracts.experiment import BY_URL, StorageChoice, SystemChoice
from assay.contracts.option_spec import OptionSpec, spelled
from assay.contracts.server_url import without_password
from assay.contracts.storages.shared_options import SHARED_OPTIONS, fields_of
from assay.errors import ArgumentError

STORAGE: Final = OptionSpec(
    name="storage",
    default="",
    levels=(),
    help="What the storage of a server by URL is called: its column in reports.",
)
OPTIONS: Final = {spec.name: spec for spec in (STORAGE, *SHARED_OPTIONS)}
_BRACKET = re.compile(r"\[\s*[\w.]+\s*=[^\]]*\]")
"""``[NAME=VALUE,…]``, as behind the name of a system; no IPv6 address is one."""


_NOT_CLOSED = re.compile(rf"\[\s*(?:{'|'.join(OPTIONS)})\s*=[^\]@]*$")


def url_and_bracket(word: str) -> tuple[str, str]:
    """``URL[storage=ssd]`` apart; the bracket is empty where there is none."""
    if _NOT_CLOSED.search(word):
        raise ArgumentError(
            f"{without_password(word)}: the bracket is not closed",
            hint=f"{without_password(word)}]",
        )
    found = list(_BRACKET.finditer(word, word.rfind("@") + 1))
    if not found or found[-1].end() != len(word.rstrip()):
        return word, ""
    return word[: found[-1].start()], found[-1][0]


def end_of_bracket(text: str, begin: int) -> int:
    """Where the first bracket behind ``begin`` ends; -1: there is none."""
    found = _BRACKET.search(text, begin)
    return -1 if found is None else found.end()


def on_storage(choice: SystemChoice, given: Mapping[str, str]) -> SystemChoice:
    """The server by URL on the storage that these options describe. Raises `ArgumentError`."""
    if not given:
        return choice
    before = choice.stands_on or StorageChoice("", BY_URL)
    owner = f"the storage of {choice.name}"
    checked = {key: spelled(OPTIONS[key], value, owner) for key, value in given.items()}
    name = checked.pop(STORAGE.name, before.name)
    shown = without_password(choice.url or "")
    if not name.strip() or not name.isprintable():
        said = ",".join(f"{key}={value}" for key, value in given.items())
        raise ArgumentError(
            f"{shown}: expected the name of the storage that this server is on, found {said!r}",
            hint=f"storage=NAME beside it: '{shown}[storage=ssd,role=solid-state]'",
        )
    if name in registry.storages():
        raise ArgumentError(
            f"{shown}: the storage of a server by URL cannot be called {name}, which is a kind of "
            "storage that Assay makes",
            hint="choose another name, such as ssd",
        )
    return replace(choice, stands_on=replace(before, name=name, **fields_of(checked)))


def insist_on_one_storage(choices: Iterable[SystemChoice]) -> None:
    """Raises `ArgumentError` where two storages have one name, or one server is on two."""
    of_name: dict[str, StorageChoice] = {}
    of_server: dict[str, str] = {}
    for choice in choices:
        storage = choice.stands_on
        if storage is None:
            continue
        if of_name.setdefault(storage.name, storage) != storage:
            raise ArgumentError(
                f"two storages are called {storage.name!r}: their role or rtt differs",
                hint="give each a name of its own",
            )
        server = choice.url_without_password or ""
        if of_server.setdefault(server, storage.name) != storage.name:
            raise ArgumentError(
                f"{server} is on two storages: {of_server[server]} and {storage.name}",
                hint="a server is on one: give the URL of the other server, too",
            )


def places(
    systems: Iterable[SystemChoice], storages: Sequence[StorageChoice]
) -> list[tuple[SystemChoice, StorageChoice]]:
    """Each system on each of its storages: of a server by URL the one that it is on. A storage with
    a round-trip time of its own has no level of ``--rtt``."""
    found: list[tuple[SystemChoice, StorageChoice]] = []
    for system in systems:
        own = storages if system.url is None else (system.stands_on or StorageChoice(),)
        for storage in own:
            machine = replace(system.machine, rtt_s=0.0) if storage.rtt_s else system.machine
            place = replace(system, machine=machine), storage
            if place not in found:
                found.append(place)
    return found
