"""Takes a system and a version; returns the folder in which it is installed."""

from __future__ import annotations

import errno
import shutil
from pathlib import Path

from assay.env_vars import CACHE
from assay.errors import ArgumentError, SystemUnderTestError
from assay.install import cache
from assay.install.prefix import Report
from assay.systems.abilities import Installable
from assay.systems.protocol import System


def install(system: System, version: str | None, report: Report) -> Path:
    """Brings the system in ``version`` (None: the one it has by default), unless it is there.

    Raises `ArgumentError` for a system that cannot be installed, `SystemUnderTestError` where it
    does not come; then nothing is left of it.
    """
    if not isinstance(system, Installable):
        raise ArgumentError(
            f"{system.name} cannot be installed by Assay",
            hint="`assay list systems` shows which systems can; others are found on this machine "
            "or reached by URL",
        )
    version = version or system.installable_version
    cache.check_version(version)
    with cache.locked(system.name, report):
        for one in cache.installed(system.name):
            if one.version == version:
                report(f"{system.name} {version} is installed already")
                return one.folder
        _insist_on_room(system)
        report(f"installing {system.name} {version}: {system.install_source}")
        try:
            with cache.new_prefix(system.name, version) as prefix:
                system.install(version, prefix, report)
        except OSError as error:
            is_full = error.errno in (errno.ENOSPC, errno.EDQUOT)
            raise SystemUnderTestError(
                f"{system.name} could not be installed in {cache.folder()}: {error}",
                hint=f"free space there, or name another folder in {CACHE.name}"
                if is_full
                else f"name another folder in {CACHE.name}",
            ) from error
        return prefix.becomes


def uninstall(system: str, version: str | None, report: Report) -> list[Path]:
    """Removes one version of a system, or all of them; returns the folders that are gone.

    Raises `ArgumentError` where nothing of it is installed.
    """
    with cache.locked(system, report):
        there = cache.installed(system)
        wanted = [one for one in there if version in (None, one.version)]
        if not wanted:
            named = f"{system} {version}" if version else system
            versions = ", ".join(one.version for one in there)
            raise ArgumentError(
                f"{named} is not installed in {cache.folder()}",
                hint=f"installed: {versions}" if there else "`assay list systems` shows what is",
            )
        for one in wanted:
            cache.remove(one)
        return [one.folder for one in wanted]


def _insist_on_room(system: Installable) -> None:
    place = cache.folder()
    while not place.exists():
        place = place.parent
    free = shutil.disk_usage(place).free
    if free < system.install_bytes:
        raise SystemUnderTestError(
            f"{cache.folder()}: expected {system.install_bytes >> 20} MiB of free space, found "
            f"{free >> 20} MiB",
            hint=f"free space there, or name another folder in {CACHE.name}",
        )
