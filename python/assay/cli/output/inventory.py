"""Takes the registry; returns rows for its systems and its kinds of storages: whether this
machine has them, what they can do, and their options."""

from __future__ import annotations

from collections.abc import Mapping
from inspect import getdoc, getmodule

from assay import registry
from assay.cli.output.rows import Row
from assay.contracts.plugins import OptionSpec
from assay.contracts.storages import abilities
from assay.contracts.storages.abilities import Inspectable
from assay.contracts.storages.protocol import SHARED_OPTIONS, Storage
from assay.contracts.systems.abilities import (
    Findable,
    FoundPrograms,
    HasProfiles,
    Installable,
    Verified,
)
from assay.contracts.systems.protocol import System
from assay.errors import SystemUnderTestError
from assay.provision.install import cache
from assay.text.versions import version_numbers


def system_rows(*, with_versions: bool) -> list[Row]:
    """In alphabetical order, without plugins that break their contract; then the known members of
    families. ``with_versions``: also every version that is here."""
    families = [registry.family(name) for name in registry.families()]
    members = [f"{one.name}:{member}" for one in families for member in one.known_members]
    own = registry.usable_systems()
    return [
        *(
            {
                **_system_row(name, system),
                **({"versions": _versions(system)} if with_versions else {}),
            }
            for name, system in own
        ),
        *(_member_row(name, registry.system(name)) for name in members),
    ]


def _member_row(name: str, system: System) -> Row:
    """A member of a family is reached by what stands in its brackets."""
    row = _system_row(name, system)
    available = "found" if row["available"] == "found" else "missing"
    return {**row, "available": available, "urls": [f"{name}[…]"]}


def _system_row(name: str, system: System) -> Row:
    found, why_not_found = _found_programs(system)
    schemes = [f"{scheme}://" for scheme in registry.url_schemes(name)]
    return {
        "system": name,
        "available": _available(system, found, schemes),
        "version": found.version if found else "",
        "driver": system.driver,
        "urls": schemes,
        "verified": system.verified if isinstance(system, Verified) else "",
        "place": found.place if found else "",
        "why_not_found": why_not_found,
        "dialect": system.dialect.name,
        "capabilities": sorted(system.capabilities),
        "options": [
            f"{option.name}={'|'.join(filter(None, option.levels)) or option.default or '…'}"
            for option in system.option_specs
        ],
        "profiles": sorted(system.profiles()) if isinstance(system, HasProfiles) else [],
        "installed": [one.version for one in cache.installations(name)],
        "install": f"{system.installable_version}: {system.install_source}"
        if isinstance(system, Installable)
        else "",
    }


def _versions(system: System) -> list[str]:
    return [version_numbers(found.version) for found in cache.programs_here(system)]


def _found_programs(system: System) -> tuple[FoundPrograms | None, str]:
    """The programs; else why there are none."""
    if not isinstance(system, Findable):
        return None, ""
    try:
        return system.find(), ""
    except SystemUnderTestError as error:
        return None, f"{error.message} ({error.hint})" if error.hint else error.message


def _available(system: System, installation: FoundPrograms | None, schemes: list[str]) -> str:
    if installation is not None:
        return "found"
    if isinstance(system, Installable):
        return "installable"
    if schemes:
        return "by URL"
    return "missing" if isinstance(system, Findable) else ""


_EVERY = "(any)"


def storage_rows() -> list[Row]:
    return [_storage_row(name, registry.storage(name)) for name in registry.storages()]


def _storage_row(name: str, storage: Storage) -> Row:
    reason = storage.why_unavailable() if isinstance(storage, Inspectable) else None
    return {
        "storage": name,
        "available": "yes" if reason is None else "no",
        "what": _what_storage(storage),
        "why_not_available": reason or "",
        "options": [spec.name for spec in storage.option_specs],
        "abilities": [one.__name__ for one in abilities.ABILITIES if isinstance(storage, one)],
    }


def storage_option_rows() -> list[Row]:
    """A row for each option; of a kind without options, one without. At the end those that every
    storage has."""
    of_kinds = [
        row for name in registry.storages() for row in _options(name, registry.storage(name))
    ]
    shared: Row = {"storage": _EVERY, "what": "What every storage may be given besides"}
    return [*of_kinds, shared, *(_option(_EVERY, spec, "") for spec in SHARED_OPTIONS)]


def _options(name: str, storage: Storage) -> list[Row]:
    missing = storage.unavailable_levels() if isinstance(storage, Inspectable) else {}
    reason = storage.why_unavailable() if isinstance(storage, Inspectable) else None
    about = (
        f"{_what_storage(storage)}. Not available: {reason}" if reason else _what_storage(storage)
    )
    rows: list[Row] = [{"storage": name, "what": about}]
    rows += [_option(name, spec, _not_here(spec, missing)) for spec in storage.option_specs]
    return rows


def _option(storage: str, spec: OptionSpec, not_here: str) -> Row:
    return {
        "storage": storage,
        "option": spec.name,
        "default": spec.default,
        "values": ", ".join(level for level in spec.levels if level)
        or (spec.quantity.expected if spec.quantity else ""),
        "what": f"{spec.help} Not here: {not_here}" if not_here else _as_title(spec.help),
    }


def _not_here(spec: OptionSpec, missing: Mapping[str, str]) -> str:
    """``f2fs, jfs (not in this machine's kernel)``: the levels with the same reason together."""
    by_reason: dict[str, list[str]] = {}
    for level in spec.levels:
        if reason := missing.get(f"{spec.name}={level}"):
            by_reason.setdefault(reason, []).append(level)
    return "; ".join(f"{', '.join(levels)} ({reason})" for reason, levels in by_reason.items())


def _what_storage(storage: object) -> str:
    """The first line of the docstring of its module, without the name."""
    text = getdoc(getmodule(type(storage))) or ""
    return _as_title(text.partition("\n")[0].rpartition("`: ")[2])


def _as_title(text: str) -> str:
    """As in the other lists: a capital first, no full stop at the end."""
    return (text[:1].upper() + text[1:]).removesuffix(".")
