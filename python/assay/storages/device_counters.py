"""Takes a path; returns the block devices under its file system, and what they have read, written
and flushed.

The counters are those of the whole device: of the server, of all other users, and of the kernel,
which writes the page cache back later. They count the actual transfers, which no counter of a
process does.
"""

from __future__ import annotations

import os
from pathlib import Path

from msgspec import Struct

from assay.contracts.deployment import Deployment
from assay.contracts.storage_facts import RAW, StorageFacts
from assay.storages.mounts import MountLine, mount_of
from assay.text.files import paths

_BLOCK_DEVICES = Path("/sys/dev/block")
_BTRFS = Path("/sys/fs/btrfs")
_SECTOR_BYTES = 512
"""The unit of ``stat``, whatever the device's own sectors are (Documentation/block/stat.rst)."""
_READS, _SECTORS_READ, _WRITES, _SECTORS_WRITTEN = 0, 2, 4, 6
_BUSY_MS, _QUEUE_MS, _FLUSHES = 9, 10, 15
_MS_NS = 1_000_000
_NO_CACHE = "write through"
"""``write_cache`` of a device that keeps nothing back; the kernel sends it no flushes."""


class DeviceCounts(Struct, frozen=True):
    """Since the machine was started, or the device made; None: not counted here."""

    read_bytes: int
    written_bytes: int
    reads: int | None = None
    """Requests that were completed; the kernel merges adjacent ones."""
    writes: int | None = None
    flushes: int | None = None
    """None: the device has no volatile cache, so the kernel sends it no flushes; or the kernel is
    older than 5.5 and does not count them."""
    busy_ns: int | None = None
    """Time with at least one request under way; of several devices the mean."""
    queue_ns: int | None = None
    """Time of all requests under way, summed: divided by the time that passed, the mean length of
    the queue."""
    empty_writes: int | None = None
    """Those of ``writes`` that ask for a flush and carry no data; counted by `flush_requests`."""


class Devices(Struct, frozen=True):
    """The devices of a file system; mostly one."""

    nodes: tuple[Path, ...]

    @property
    def label(self) -> str:
        return ", ".join(node.name for node in self.nodes)

    def counts(self) -> DeviceCounts | None:
        """None where a device is gone."""
        try:
            found = [_fields(node) for node in self.nodes]
            flushes = [_flushes(node) for node in self.nodes]
        except OSError:
            return None

        def total(place: int) -> int:
            return sum(fields[place] for fields in found)

        counted = [one for one in flushes if one is not None]
        return DeviceCounts(
            read_bytes=total(_SECTORS_READ) * _SECTOR_BYTES,
            written_bytes=total(_SECTORS_WRITTEN) * _SECTOR_BYTES,
            reads=total(_READS),
            writes=total(_WRITES),
            flushes=sum(counted) if counted else None,
            busy_ns=total(_BUSY_MS) * _MS_NS // len(found),
            queue_ns=total(_QUEUE_MS) * _MS_NS,
        )


def devices_of(deployment: Deployment) -> Devices | None:
    """The devices under the data of all nodes, each once; None where those of a node are not
    known. A storage with a device of its own, or a raw one, has that one alone: a system on a raw
    device has its log elsewhere."""
    found = [
        devices_of_storage(node.storage, node.directory)
        for node in deployment.nodes
        if node.directory
    ]
    if not found or None in found:
        return None
    nodes = [node for devices in found if devices is not None for node in devices.nodes]
    return Devices(tuple(dict.fromkeys(nodes)))


def devices_of_log(deployment: Deployment) -> Devices | None:
    """Those under the log, where that is on a storage of its own; None: it is not, or they are not
    known."""
    node = deployment.nodes[0]
    if node.log_storage is None or node.log_directory is None:
        return None
    return devices_of_storage(node.log_storage, node.log_directory)


def devices_of_storage(storage: StorageFacts, directory: Path) -> Devices | None:
    """Those under a directory on it."""
    if storage.is_own_device or storage.file_system == RAW:
        return device_at(Path(storage.device))
    return devices_under(directory)


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


def device_at(device: Path) -> Devices | None:
    """The block device of that file (``/dev/loop3``); None where it is none, or its counters are
    off."""
    if not device.is_block_device():
        return None
    number = device.stat().st_rdev
    node = _node(f"{os.major(number)}:{os.minor(number)}")
    return Devices((node,)) if node is not None and _counts(node) else None


def _nodes(mount: MountLine) -> tuple[Path, ...]:
    number = mount.device_number
    if number.startswith("0:"):  # a file system with several devices has a number of its own
        try:
            device = Path(mount.source).stat().st_rdev
        except OSError:
            return ()
        number = f"{os.major(device)}:{os.minor(device)}"
    node = _node(number)
    if node is None:
        return ()
    if mount.file_system == "btrfs":
        for together in _BTRFS.glob("*/devices"):
            members = tuple(sorted(member.resolve() for member in together.iterdir()))
            if node in members:
                return members
    return (node,)


def _node(number: str) -> Path | None:
    """The folder of a device by its ``major:minor``."""
    node = (_BLOCK_DEVICES / number).resolve()
    return node if paths.is_file(node / "stat") else None


def _fields(node: Path) -> list[int]:
    return [int(word) for word in (node / "stat").read_text().split()]


def _flushes(node: Path) -> int | None:
    """Of the whole disk: the kernel counts flushes of a partition there, and 0 at the partition."""
    disk = _disk(node)
    if _queue(disk, "write_cache") == _NO_CACHE:
        return None
    fields = _fields(disk)
    return fields[_FLUSHES] if len(fields) > _FLUSHES else None


def _disk(node: Path) -> Path:
    return node.parent if (node / "partition").exists() else node


def _queue(disk: Path, name: str) -> str | None:
    try:
        return (disk / "queue" / name).read_text().strip()
    except OSError:
        return None


def _counts(node: Path) -> bool:
    """Whether the device's counters are switched on."""
    return _queue(_disk(node), "iostats") != "0"


def _option(mount: MountLine, name: str) -> Path | None:
    for option in mount.options.split(","):
        key, _, value = option.partition("=")
        if key == name and value:
            return Path(value)
    return None
