"""Takes the name of a control group's controller; returns where this machine has it, and makes
groups there for processes of ours.

Version 1 has a hierarchy for each controller, or for a few together; version 2 has one for all.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from assay.errors import StorageUnavailable
from assay.provision.ledger import HeldEntry
from assay.provision.resources import ControlGroup

MOUNTS = Path("/proc/self/mounts")
OWN_GROUPS = Path("/proc/self/cgroup")
PROCESSES = "cgroup.procs"
"""The file of a group that lists its processes; one that writes 0 there enters the group."""


@dataclass(frozen=True)
class Controller:
    """A controller, as this machine has it."""

    name: str
    version: int
    folder: Path
    """The group in which ours are made."""


def find(
    names: tuple[str, str], *, mounts: Path = MOUNTS, own_groups: Path = OWN_GROUPS
) -> Controller | None:
    """The controller of these names in version 1 and in version 2 (``blkio``, ``io``); None where
    the machine has neither."""
    first, second = names
    for line in mounts.read_text().splitlines():
        _, point, kind, options, *_ = line.split(" ")
        if kind == "cgroup" and first in options.split(","):
            return Controller(first, 1, _own_group(Path(point), first, own_groups))
    for line in mounts.read_text().splitlines():
        _, point, kind, *_ = line.split(" ")
        if kind == "cgroup2" and second in _words(Path(point) / "cgroup.controllers"):
            return Controller(second, 2, Path(point))
    return None


def make(entry: HeldEntry, controller: Controller) -> Path:
    """A group of ours, whose name ends in the mark of the entry. Raises `StorageUnavailable`."""
    group = controller.folder / f"assay-{entry.entry.id}"
    try:
        if controller.version == 2 and controller.name not in _words(
            controller.folder / "cgroup.subtree_control"
        ):
            # It stays enabled: whether others came to need it since cannot be known.
            (controller.folder / "cgroup.subtree_control").write_text(f"+{controller.name}")
        entry.add(ControlGroup(str(group)))
        group.mkdir()
    except OSError as error:
        raise StorageUnavailable(
            f"a control group cannot be made in {controller.folder}: {error.strerror}",
            hint="control groups need root; a container must be allowed to write them",
        ) from error
    return group


def _own_group(point: Path, name: str, own_groups: Path) -> Path:
    """The group of this process in a hierarchy of version 1: limits of groups above it hold for
    ours, too."""
    for line in own_groups.read_text().splitlines():
        _, controllers, path = line.split(":", 2)
        if name in controllers.split(",") and (point / path.lstrip("/")).is_dir():
            return point / path.lstrip("/")
    return point


def _words(file: Path) -> list[str]:
    try:
        return file.read_text().split()
    except OSError:
        return []
