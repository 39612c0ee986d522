"""Takes a system whose programs the user named by their directory; returns what they are: their
version, how they say they were built, and the digest of them and of their libraries, by which two
builds of one version are two."""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path

from assay import registry
from assay.contracts.deployment import Deployment
from assay.contracts.experiment import SystemChoice, shown_build
from assay.contracts.systems.abilities import (
    DescribesBuild,
    FoundPrograms,
    ProgramBuild,
    SeveralVersions,
    WorksInProcess,
)
from assay.errors import ArgumentError, NotOnThisMachine, SystemUnderTestError
from assay.provision.machine.users import first_unreachable, server_user
from assay.text import paths
from assay.text.output_file import file_digest

_LIBRARY = re.compile(r".*\.(?:so(?:\.\d+)*|jar)")
_OF_THE_MACHINE = (Path("/usr"), Path("/usr/local"))
"""Folders whose ``lib`` holds libraries of other programs, too."""


def programs_at(choice: SystemChoice) -> FoundPrograms:
    """Those of the directory that the user named. Raises `NotOnThisMachine`."""
    system, place = registry.system(choice.name), Path(choice.programs)
    if not isinstance(system, SeveralVersions):  # as of a record of another version of a plugin
        raise ArgumentError(f"{choice.name} has no programs of which a directory could be named")
    hint = f"name the directory that holds its programs: {choice.name}:DIRECTORY"
    if not paths.exists(place):
        raise NotOnThisMachine(f"there is no directory {place}", hint=hint)
    try:
        found = system.find_at(choice.programs)
    except SystemUnderTestError as error:
        what = f"; {place} is a file" if paths.is_file(place) else ""
        raise NotOnThisMachine(f"{error.message}{what}", hint=hint) from error
    is_server = not isinstance(system, WorksInProcess) or not system.is_in_process(choice)
    if is_server and (blocked := first_unreachable(place, server_user())):
        raise NotOnThisMachine(
            f"servers run as another user, who may not enter {blocked}",
            hint=f"chmod o+x {blocked}, or copy {place} elsewhere",
        )
    return found


def with_build(choice: SystemChoice) -> SystemChoice:
    """Known by the digest in the place of its directory. Raises `NotOnThisMachine`."""
    return replace(choice, build=_digest(_build(choice).parts))


def with_its_build(deployment: Deployment, choice: SystemChoice) -> Deployment:
    """With what the programs say of it; both as they are now. Raises `NotOnThisMachine`."""
    found = _build(choice)
    version = f"{deployment.version}, build {shown_build(_digest(found.parts))}"
    return replace(deployment, version=version, built=found.said)


def libraries_of(folder: Path, own: Iterable[str]) -> tuple[Path, ...]:
    """The libraries of programs that were installed into a folder; ``own``: where they have some of
    their own, below it, if others have theirs there as well."""
    names = own if folder.resolve() in _OF_THE_MACHINE else ("lib", "lib64")
    return tuple(folder / name for name in names if (folder / name).is_dir())


def _build(choice: SystemChoice) -> ProgramBuild:
    found, system = programs_at(choice), registry.system(choice.name)
    if isinstance(system, DescribesBuild):
        return system.build_at(choice.programs)
    return ProgramBuild((Path(choice.programs),), found.version)


def _digest(parts: Iterable[Path]) -> str:
    """Equal for equal files, wherever they lie. Raises `NotOnThisMachine`."""
    try:
        files = {f"{name} {file_digest(path)}" for part in parts for name, path in _files(part)}
    except OSError as error:
        raise NotOnThisMachine(
            f"{error.filename} cannot be read: {error.strerror or error}",
            hint="allow it, or name another directory",
        ) from error
    return hashlib.sha256("\n".join(sorted(files)).encode()).hexdigest()


def _files(part: Path) -> Iterator[tuple[str, Path]]:
    """Programs and libraries, with their names in it."""
    if part.is_file():
        yield "", part
    for folder, _, names in os.walk(part):
        for path in (Path(folder, name) for name in names):
            if path.is_file() and (_LIBRARY.fullmatch(path.name) or os.access(path, os.X_OK)):
                yield str(Path(part.name, path.relative_to(part))), path
