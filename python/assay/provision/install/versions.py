"""Takes the choice of a system; returns its programs on this machine, in the version that was asked
for: those that the environment names, those of the machine, and what `assay install` brought.

A version is known by its numbers (``10.11.14``, whatever its package adds), and may be named by the
first of them (``10``, ``10.11``): the newest of those that begin so.
"""

from __future__ import annotations

import contextlib
import re
from collections.abc import Iterator
from dataclasses import replace

from assay import registry
from assay.contracts.experiment import VERSION, SystemChoice
from assay.contracts.systems.abilities import (
    Findable,
    FoundPrograms,
    Installable,
    OfReleases,
    SeveralVersions,
)
from assay.contracts.systems.protocol import System
from assay.errors import SystemMissing, SystemUnderTestError
from assay.provision.install import cache

_BEHIND_THE_NUMBERS = re.compile(r"[-~+ ].*")


def programs_of(choice: SystemChoice) -> FoundPrograms | None:
    """What a private system would be started from; None: nothing is looked for here. Raises
    `SystemMissing` where it, or its version, is not on this machine."""
    system = registry.system(choice.name)
    if choice.url is not None or not isinstance(system, Findable):
        return None
    if not choice.version:
        return system.find()
    if choice.programs and isinstance(system, SeveralVersions):
        return system.find_at(choice.programs)
    return _of_version(system, choice.version)


def with_programs(choice: SystemChoice) -> SystemChoice:
    """The choice with the place of its programs and the whole version that they are; without a
    version, as it is. Raises as `programs_of`."""
    if not choice.version or choice.programs:
        return choice
    found = programs_of(choice)
    return choice if found is None else replace(_at(choice, found), programs=found.place)


def in_its_version(choice: SystemChoice) -> SystemChoice:
    """As `with_programs`; without a version, with the one that it would be started in."""
    found = None if choice.version else programs_of(choice)
    return with_programs(choice if found is None else _at(choice, found))


def _at(choice: SystemChoice, programs: FoundPrograms) -> SystemChoice:
    return replace(choice, options={**choice.options, VERSION: numbers(programs.version)})


def here(system: System) -> list[FoundPrograms]:
    """Each version that is here and can be used, the newest first; of one that is here twice what
    is looked for first."""
    of_numbers: dict[str, FoundPrograms] = {}
    for found in _found(system):
        of_numbers.setdefault(numbers(found.version), found)
    return [of_numbers[one] for one in sorted(of_numbers, key=cache.order, reverse=True)]


def numbers(version: str) -> str:
    """Without what a package adds behind them."""
    return _BEHIND_THE_NUMBERS.sub("", version)


def _found(system: System) -> Iterator[FoundPrograms]:
    if isinstance(system, SeveralVersions):
        named = system.chosen_by.get()
        for place in [*([named] if named else []), *system.places()]:
            with contextlib.suppress(SystemUnderTestError):
                yield system.find_at(place)
    if isinstance(system, Installable):
        for installed in cache.installed(system.name):
            with contextlib.suppress(SystemUnderTestError):
                yield system.find_in(installed.folder)


def _of_version(system: System, asked: str) -> FoundPrograms:
    wanted = numbers(asked)
    known = here(system)
    for found in known:
        if _is_of(numbers(found.version), wanted):
            return found
    has = ", ".join(numbers(found.version) for found in known)
    fixes = []
    if isinstance(system, Installable):
        releases = system.installable_releases if isinstance(system, OfReleases) else ()
        can_be_had = not releases or any(_is_of(wanted, one) for one in releases)
        from assay.text.alternatives import alternatives

        fixes.append(
            f"assay install {system.name}@{asked}"
            if can_be_had
            else f"assay install brings {system.name} {alternatives(releases)}"
        )
    if isinstance(system, SeveralVersions):
        fixes.append(f"name where its programs are in {system.chosen_by.name}")
    raise SystemMissing(
        f"{system.name} {asked} is not on this machine, which has "
        + (f"{system.name} {has}" if has else "no version of it"),
        hint="; or ".join(fixes) or None,
    )


def _is_of(version: str, release: str) -> bool:
    """Whether its first numbers are those: ``15.18`` is of ``15``."""
    return f"{version}.".startswith(f"{release}.")
