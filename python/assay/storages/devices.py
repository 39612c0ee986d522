"""Takes a path; returns the block devices under its file system, and the bytes they have read and
written.

The counters are those of the whole device: of the server, of all other users, and of the kernel,
which writes the page cache back later. They count the actual transfers, which no counter of a
process does.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

from assay.provision.deployment import Deployment
from assay.storages.mounts import Mount, mount_of

_BLOCK_DEVICES = Path("/sys/dev/block")
_BTRFS = Path("/sys/fs/btrfs")
_SECTOR_BYTES = 512
"""The unit of ``stat``, whatever the device's own sectors are (Documentation/block/stat.rst)."""
_SECTORS_READ, _SECTORS_WRITTEN = 2, 6


@dataclass(frozen=True)
class Transferred:
    """Since the machine was started, or the device made."""

    read_bytes: int
    written_bytes: int


@dataclass(frozen=True)
class Devices:
    """The devices of a file system; mostly one."""

    nodes: tuple[Path, ...]

    @property
    def label(self) -> str:
        return ", ".join(node.name for node in self.nodes)

    def transferred(self) -> Transferred | None:
        """None where a device is gone."""
        try:
            counts = [(node / "stat").read_text().split() for node in self.nodes]
        except OSError:
            return None
        return Transferred(
            sum(int(fields[_SECTORS_READ]) for fields in counts) * _SECTOR_BYTES,
            sum(int(fields[_SECTORS_WRITTEN]) for fields in counts) * _SECTOR_BYTES,
        )


def devices_of(deployment: Deployment) -> Devices | None:
    """The devices under the data of all nodes, each once; None where those of a node are not
    known."""
    found = [devices_under(node.directory) for node in deployment.nodes if node.directory]
    if not found or None in found:
        return None
    nodes = [node for devices in found if devices is not None for node in devices.nodes]
    return Devices(tuple(dict.fromkeys(nodes)))


def devices_under(path: Path) -> Devices | None:
    """The devices under a path; None where there is no block device (memory, network), it cannot be
    found, or its counters are off."""
    mount = mount_of(path.resolve())
    if mount.file_system == "overlay":
        # Writes go to the upper directory; in a container that path may be of another namespace.
        upper = _option(mount, "upperdir")
        is_here = upper is not None and upper.is_dir()
        return devices_under(upper) if is_here and upper is not None else None
    nodes = _nodes(mount)
    return Devices(nodes) if nodes and all(map(_counts, nodes)) else None


def _nodes(mount: Mount) -> tuple[Path, ...]:
    number = mount.device_number
    if number.startswith("0:"):  # a file system with several devices has a number of its own
        try:
            device = Path(mount.source).stat().st_rdev
        except OSError:
            return ()
        number = f"{os.major(device)}:{os.minor(device)}"
    node = (_BLOCK_DEVICES / number).resolve()
    if not (node / "stat").is_file():
        return ()
    if mount.file_system == "btrfs":
        for together in _BTRFS.glob("*/devices"):
            members = tuple(sorted(member.resolve() for member in together.iterdir()))
            if node in members:
                return members
    return (node,)


def _counts(node: Path) -> bool:
    """Whether the device's counters are switched on."""
    for queue in (node / "queue", node.parent / "queue"):
        try:
            return (queue / "iostats").read_text().strip() != "0"
        except OSError:
            continue
    return True


def _option(mount: Mount, name: str) -> Path | None:
    for option in mount.options.split(","):
        key, _, value = option.partition("=")
        if key == name and value:
            return Path(value)
    return None
