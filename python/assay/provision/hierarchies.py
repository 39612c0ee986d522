"""Takes the name of a controller (``memory``, ``cpu``); returns the control group in which groups
with limits of it can be made.

Version 1 has a tree of groups for each controller, version 2 one for all; a machine may have both.
New groups are made within our own one, so that the limits of a container hold for them as well.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from assay.errors import MachineLimit

_MOUNTS = Path("/proc/self/mountinfo")
_OWN = Path("/proc/self/cgroup")


@dataclass(frozen=True)
class Parent:
    """A control group in which another can be made."""

    version: int
    """Of control groups: 1 or 2."""
    folder: Path


@dataclass(frozen=True)
class _Mount:
    version: int
    root: str
    point: Path
    controllers: frozenset[str]
    """Of version 1."""


def parents(controllers: Iterable[str]) -> Mapping[str, Parent]:
    """Where a group of each controller can be made. Raises `MachineLimit` with the fix where the
    machine has none, or does not let us."""
    mounts, own = _mounts(_MOUNTS.read_text()), _own_groups(_OWN.read_text())
    found = {}
    for controller in controllers:
        parent = _of_version_1(controller, mounts, own) or _of_version_2(controller, mounts, own)
        if parent is None:
            raise MachineLimit(
                f"this machine has no control groups with the controller {controller!r}, which "
                "limit memory and processors",
                hint=_HINT,
            )
        if not os.access(parent.folder, os.W_OK):
            raise MachineLimit(
                f"no control group can be made in {parent.folder}: permission denied", hint=_HINT
            )
        found[controller] = parent
    return found


_HINT = (
    "run assay as root; or, with systemd: systemd-run --user --scope -p Delegate=yes assay …; in a "
    "container: with --privileged"
)


def _mounts(text: str) -> list[_Mount]:
    found = []
    for line in text.splitlines():
        before, _, behind = line.partition(" - ")
        _, _, _, root, point, *_ = before.split(" ")
        kind, _, options = (*behind.split(" "), "", "")[:3]
        if kind in ("cgroup", "cgroup2"):
            version = 1 if kind == "cgroup" else 2
            found.append(_Mount(version, root, Path(point), frozenset(options.split(","))))
    return found


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
    for mount in mounts:
        if mount.version == 1 and controller in mount.controllers:
            return Parent(1, _own_folder(mount, own.get(controller, "/")))
    return None


def _of_version_2(
    controller: str, mounts: Iterable[_Mount], own: Mapping[str, str]
) -> Parent | None:
    """The nearest group around us whose groups may have limits of the controller: one that holds
    processes cannot be it."""
    for mount in mounts:
        if mount.version != 2:
            continue
        folder = _own_folder(mount, own.get("", "/"))
        for group in (folder, *folder.parents):
            if not group.is_relative_to(mount.point):
                break
            if controller in _words(group / "cgroup.subtree_control"):
                return Parent(2, group)
    return None


def _own_folder(mount: _Mount, path: str) -> Path:
    """Our group's folder; in a container only a part of the tree may be mounted."""
    inside = path.removeprefix(mount.root.rstrip("/")).lstrip("/")
    folder = mount.point / inside
    return folder if folder.is_dir() else mount.point


def _words(file: Path) -> list[str]:
    try:
        return file.read_text().split()
    except OSError:
        return []
