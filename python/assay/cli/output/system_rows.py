"""Takes the registry; returns a row for each system: is it available, what can it do."""

from __future__ import annotations

from assay import registry
from assay.cli.output.rows import Row
from assay.contracts.systems.abilities import (
    Findable,
    FoundPrograms,
    HasProfiles,
    Installable,
    Verified,
)
from assay.contracts.systems.protocol import System
from assay.errors import SystemUnderTestError
from assay.provision.install import cache, versions


def system_rows(*, with_versions: bool = False) -> list[Row]:
    """In alphabetical order, without plugins that break their contract; then the known members of
    families. ``with_versions``: also every version that is here."""
    families = [registry.family(name) for name in registry.families()]
    members = [f"{one.name}:{member}" for one in families for member in one.known_members]
    own = registry.usable_systems()
    return [
        *(
            {**_row(name, system), **({"versions": _versions(system)} if with_versions else {})}
            for name, system in own
        ),
        *(_member_row(name, registry.system(name)) for name in members),
    ]


def _member_row(name: str, system: System) -> Row:
    """A member of a family is reached by what stands in its brackets."""
    row = _row(name, system)
    available = "found" if row["available"] == "found" else "missing"
    return {**row, "available": available, "urls": [f"{name}[…]"]}


def _row(name: str, system: System) -> Row:
    found, why_not_found = _found(system)
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
        "installed": [one.version for one in cache.installed(name)],
        "install": f"{system.installable_version}: {system.install_source}"
        if isinstance(system, Installable)
        else "",
    }


def _versions(system: System) -> list[str]:
    return [versions.numbers(found.version) for found in versions.here(system)]


def _found(system: System) -> tuple[FoundPrograms | None, str]:
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
