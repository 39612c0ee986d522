"""Takes the names of controllers (``cpu``, ``io``, ``memory``); returns the control groups that
this process is in, and those in which a group with limits of them can be made.

Version 1 has a tree of groups for each controller, or for a few together; version 2 has one for
all; a machine may have both. New groups are made within our own one where the kernel allows it, so
that the limits of a container hold for them as well.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable, Mapping
from pathlib import Path

from msgspec import Struct

from assay.errors import MachineLimit

PROCESSES = "cgroup.procs"
"""The file of a group that lists its processes; one that writes 0 there enters the group."""
ENABLED = "cgroup.subtree_control"
"""Version 2: the controllers that the groups within a group have."""
_AVAILABLE = "cgroup.controllers"
_TYPE = "cgroup.type"
"""Every group of version 2 has this file, but for the root of the whole tree."""

_MOUNTS = Path("/proc/self/mountinfo")
_OWN = Path("/proc/self/cgroup")
_NAMES_OF_VERSION_1: Mapping[str, str] = {"io": "blkio"}

_HINT = (
    "run assay as root; or, with systemd: systemd-run --user --scope -p Delegate=yes assay …; in a "
    "container: with --privileged"
)


class Parent(Struct, frozen=True):
    """A control group in which another can be made."""

    version: int
    """Of control groups: 1 or 2."""
    folder: Path
    enable: tuple[str, ...] = ()
    """Version 2: controllers that its groups have only once they are written to `ENABLED`."""


class _Mount(Struct, frozen=True):
    version: int
    root: str
    point: Path
    controllers: frozenset[str]
    """Of version 1."""


def parents(controllers: Collection[str]) -> Mapping[str, Parent]:
    """Where a group of each controller can be made; it is the same group for all controllers of
    version 2. Raises `MachineLimit` with the fix where the machine has none, or does not let us
    make one. Changes nothing."""
    mounts, own = _mounts(_MOUNTS.read_text()), _own_groups(_OWN.read_text())
    found: dict[str, Parent] = {}
    for controller in controllers:
        if (parent := _of_version_1(controller, mounts, own)) is not None:
            found[controller] = parent
    rest = tuple(controller for controller in controllers if controller not in found)
    if rest:
        found.update(dict.fromkeys(rest, _of_version_2(rest, mounts, own)))
    for parent in found.values():
        if not os.access(parent.folder, os.W_OK):
            raise MachineLimit(
                f"no control group can be made in {parent.folder}: permission denied", hint=_HINT
            )
    return found


def around_us(controller: str) -> tuple[Path, ...]:
    """The groups whose limits of a controller hold for this process: our own, then those around
    it, as far as they are mounted, of both versions. None where the kernel does not show them."""
    try:
        mounts, own = _mounts(_MOUNTS.read_text()), _own_groups(_OWN.read_text())
    except OSError:
        return ()
    name = _NAMES_OF_VERSION_1.get(controller, controller)
    return tuple(
        group
        for mount in mounts
        if mount.version == 2 or name in mount.controllers
        for group in _around_us(mount, own.get("" if mount.version == 2 else name, "/"))
    )


def _mounts(text: str) -> list[_Mount]:
    found = []
    for line in text.splitlines():
        before, _, behind = line.partition(" - ")
        _, _, _, root, point, *_ = before.split(" ")
        kind, _, options = (*behind.split(" "), "", "")[:3]
        if kind in ("cgroup", "cgroup2"):
            version = 1 if kind == "cgroup" else 2
            controllers = frozenset(options.split(","))
            found.append(_Mount(version, _plain(root), Path(_plain(point)), controllers))
    return found


def _plain(word: str) -> str:
    """Decodes a blank, which is an octal number in the table of mounts."""
    return word.replace("\\040", " ")


def _own_groups(text: str) -> dict[str, str]:
    """Controller → our group of it, from the root of its tree; the one of version 2 has no name."""
    found = {}
    for line in text.splitlines():
        _, controllers, path = line.split(":", 2)
        for controller in controllers.split(","):
            found[controller] = path
    return found


def _of_version_1(
    controller: str, mounts: Iterable[_Mount], own: Mapping[str, str]
) -> Parent | None:
    name = _NAMES_OF_VERSION_1.get(controller, controller)
    for mount in mounts:
        if mount.version == 1 and name in mount.controllers:
            return Parent(1, _own_folder(mount, own.get(name, "/")))
    return None


def _of_version_2(
    controllers: Collection[str], mounts: Iterable[_Mount], own: Mapping[str, str]
) -> Parent:
    """The nearest group around us whose groups have all of the controllers, or else the nearest
    where they can be enabled: a group that holds processes itself cannot pass controllers on."""
    wanted = set(controllers)
    path = own.get("", "/")
    around = [group for mount in mounts if mount.version == 2 for group in _around_us(mount, path)]
    for group in around:
        if wanted <= _words(group / ENABLED):
            return Parent(2, group)
    for group in around:
        is_root = not (group / _TYPE).exists()
        if wanted <= _words(group / _AVAILABLE) and (is_root or not _words(group / PROCESSES)):
            return Parent(2, group, enable=tuple(sorted(wanted - _words(group / ENABLED))))
    missing = wanted.difference(*(_words(group / _AVAILABLE) for group in around))
    if missing:
        raise MachineLimit(
            "this machine has no control groups with the controller "
            f"{' and '.join(map(repr, sorted(missing)))}",
            hint="see /proc/cgroups; a container must be given the host's control groups",
        )
    raise MachineLimit(
        f"no control group around this process can limit {' and '.join(sorted(wanted))}: each has "
        "processes of its own",
        hint=_HINT,
    )


def _around_us(mount: _Mount, path: str) -> Iterable[Path]:
    """Our own group, which has this path, and those around it, as far as they are mounted."""
    folder = _own_folder(mount, path)
    for group in (folder, *folder.parents):
        if not group.is_relative_to(mount.point):
            return
        yield group


def _own_folder(mount: _Mount, path: str) -> Path:
    """Our group's folder; in a container only a part of the tree may be mounted."""
    try:
        folder = mount.point / Path(path).relative_to(mount.root)
    except ValueError:
        return mount.point
    return folder if folder.is_dir() else mount.point


def _words(file: Path) -> set[str]:
    try:
        return set(file.read_text().split())
    except OSError:
        return set()
