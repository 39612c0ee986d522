"""Takes a system and a version; returns the folder in which it is installed, and what is there."""

from __future__ import annotations

import contextlib
import errno
import shutil
from pathlib import Path

from msgspec import Struct

from assay.contracts.experiment import VERSION
from assay.contracts.systems.abilities import FoundPrograms, Installable
from assay.contracts.systems.protocol import ReportInstalling, System
from assay.env_vars import CACHE
from assay.errors import ArgumentError, SystemUnderTestError
from assay.provision.install import cache
from assay.provision.install.cache import unused_installation
from assay.provision.install.package_clients import InstallFailed, VersionUnknown


class Ready(Struct, frozen=True):
    """An installation that a run can use."""

    folder: Path
    programs: FoundPrograms


def install(system: System, version: str | None, report: ReportInstalling) -> Ready:
    """Brings the system in ``version`` (None: the one it has by default), unless it is there.

    Raises `ArgumentError` for a system that cannot be installed and a version that cannot be had or
    used, before anything is brought where the system knows it; `SystemUnderTestError` where it does
    not come; then nothing is left of it.
    """
    if not isinstance(system, Installable):
        raise ArgumentError(
            f"{system.name} cannot be installed by Assay",
            hint="`assay list systems` shows which systems can; others are found on this machine "
            "or reached by URL",
        )
    wanted = version or system.installable_version
    cache.check_version(wanted)
    for option in system.option_specs:
        if option.name == VERSION and option.refuse is not None:
            option.refuse(wanted)
    with cache.locked_installation(system.name, report):
        if (ready := _already(system.name, system, wanted, report)) is not None:
            return ready
        _insist_on_room(system)
        if version is None:
            report(f"installing {system.name} {wanted}: {system.install_source}")
        else:
            report(f"looking for {system.name} {wanted}; if it is there, {system.install_source}")
        try:
            return _bring(system.name, system, wanted, report)
        except (VersionUnknown, _CannotBeUsed) as error:
            if version is None or (isinstance(error, VersionUnknown) and error.version != version):
                raise
            raise ArgumentError(
                error.message,
                hint=f"`assay install {system.name}` brings {system.installable_version}",
            ) from error
        except OSError as error:
            is_full = error.errno in (errno.ENOSPC, errno.EDQUOT)
            raise SystemUnderTestError(
                f"{system.name} could not be installed in {cache.cache_folder()}: {error}",
                hint=f"free space there, or name another folder in {CACHE.name}"
                if is_full
                else f"name another folder in {CACHE.name}",
            ) from error


def _already(
    name: str, system: Installable, version: str, report: ReportInstalling
) -> Ready | None:
    """The version that is there; one that cannot be used is removed."""
    one = next((one for one in cache.installations(name) if one.version == version), None)
    if one is None:
        return None
    try:
        found = system.find_in(one.folder)
    except SystemUnderTestError as error:
        report(f"{name} {version} in {one.folder} cannot be used: {error.message}")
        with unused_installation(one):
            cache.remove_installation(one)
        return None
    report(f"{name} {version} is installed already")
    return Ready(one.folder, found)


def _bring(name: str, system: Installable, version: str, report: ReportInstalling) -> Ready:
    """Raises `_CannotBeUsed`."""
    with cache.new_prefix(name, version) as prefix:
        system.install(version, prefix, report)
    folder = prefix.becomes
    try:
        return Ready(folder, system.find_in(folder))
    except SystemUnderTestError as error:
        cache.remove_installation(cache.Installed(name, version, folder))
        raise _CannotBeUsed(
            f"{name} {version} cannot be used by Assay: {error.message}", hint=error.hint
        ) from error


class _CannotBeUsed(InstallFailed):
    """What was brought lacks something that a run needs."""


def uninstall(system: str, version: str | None, report: ReportInstalling) -> list[Path]:
    """Removes one version of a system, or all of them; returns the folders that are gone.

    Raises `ArgumentError` where nothing of it is installed, and where one of them is in use.
    """
    with cache.locked_installation(system, report):
        there = cache.installations(system)
        wanted = [one for one in there if version in (None, one.version)]
        if not wanted:
            named = f"{system} {version}" if version else system
            versions = ", ".join(one.version for one in there)
            raise ArgumentError(
                f"{named} is not installed in {cache.cache_folder()}",
                hint=f"installed: {versions}" if there else "`assay list systems` shows what is",
            )
        with contextlib.ExitStack() as all_of_them:
            for one in wanted:
                all_of_them.enter_context(unused_installation(one))
            for one in wanted:
                cache.remove_installation(one)
        return [one.folder for one in wanted]


def _insist_on_room(system: Installable) -> None:
    place = cache.cache_folder()
    while not place.exists():
        place = place.parent
    free = shutil.disk_usage(place).free
    if free < system.install_bytes:
        raise SystemUnderTestError(
            f"{cache.cache_folder()}: "
            f"expected {system.install_bytes >> 20} MiB of free space, found "
            f"{free >> 20} MiB",
            hint=f"free space there, or name another folder in {CACHE.name}",
        )
