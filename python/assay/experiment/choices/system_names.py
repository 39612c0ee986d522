"""Takes systems that are shown together; returns a name for each, as short as no two different ones
share: ``SYSTEM at HOST``, with port, database, user, parameter or folder as soon as two would be
called the same. Machines and passwords are no part of it, nor is the storage of a server by URL:
two servers on storages of different names may share a name.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from assay.contracts.experiment import SystemChoice
from assay.errors import ArgumentError
from assay.experiment.choices.system_identity import without_machine


def labels(choices: Sequence[SystemChoice]) -> list[str]:
    """The `SystemChoice.label_on_storage` of each, unique among those on one storage."""
    return [choice.label_on_storage for choice in named(choices)]


def named(choices: Iterable[SystemChoice]) -> tuple[SystemChoice, ...]:
    """With their names. A system that the user called differently here and there has its first
    name."""
    choices = list(choices)
    systems = {without_machine(choice): choice for choice in reversed(choices)}
    names = _names(systems)
    return tuple(replace(choice, shown=names[without_machine(choice)]) for choice in choices)


def insist_on_own_names(choices: Iterable[SystemChoice]) -> None:
    """Raises `ArgumentError` where the user gave one name to different systems."""
    servers: dict[tuple[str, str], tuple[str, str | None]] = {}
    for choice in choices:
        server = (choice.name, choice.url_without_password)
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
