"""Takes a path; returns the block devices under its file system, what they have read, written and
flushed, and how many requests asked for a flush alone."""

from __future__ import annotations

import ctypes
import fcntl
import os
import platform
import struct
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from msgspec import Struct

from assay.contracts.deployment import Deployment
from assay.contracts.observation.costs import DeviceCounts
from assay.contracts.storage_facts import RAW, StorageFacts
from assay.provision.machine.mounts import MountLine, mount_of
from assay.text import paths
from assay.text.output_file import called_in_libc

_BLOCK_DEVICES = Path("/sys/dev/block")
_BTRFS = Path("/sys/fs/btrfs")
_SECTOR_BYTES = 512
"""The unit of ``stat``, whatever the device's own sectors are (Documentation/block/stat.rst)."""
_READS, _SECTORS_READ, _WRITES, _SECTORS_WRITTEN = 0, 2, 4, 6
_BUSY_MS, _QUEUE_MS, _FLUSHES = 9, 10, 15
_MS_NS = 1_000_000
_NO_CACHE = "write through"
"""``write_cache`` of a device that keeps nothing back; the kernel sends it no flushes."""


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


_TRACEPOINT = "events/block/block_bio_queue/id"
_TRACING = (Path("/sys/kernel/tracing"), Path("/sys/kernel/debug/tracing"))
_ONLINE = Path("/sys/devices/system/cpu/online")
_LEAST_KERNEL = (5, 12)
"""From here on a request for a partition is traced with the partition's number."""

# System calls without a function in the C libraries of all supported distributions.
_FSOPEN, _FSCONFIG, _FSMOUNT = 430, 431, 432
_PERF_EVENT_OPEN = {"x86_64": 298, "aarch64": 241}
_FSCONFIG_CMD_CREATE = 6
_TYPE_TRACEPOINT, _FD_CLOEXEC, _SET_FILTER = 2, 8, 0x40082406
_ATTRIBUTES = struct.Struct("=IIQQQQQIIQ")
"""The first version of ``perf_event_attr``: 64 bytes."""


class FlushRequests:
    """Counters that are open."""

    def __init__(self, descriptors: Iterable[int]) -> None:
        self._descriptors = tuple(descriptors)

    def count(self) -> int | None:
        """Since the counters were opened; None: they could not be."""
        if not self._descriptors:
            return None
        return sum(int.from_bytes(os.read(one, 8), sys.byteorder) for one in self._descriptors)


@contextmanager
def flush_requests(nodes: Iterable[Path]) -> Iterator[FlushRequests]:
    """Counts those of the devices with these folders below /sys. Does not count where the kernel
    refuses it, is older than 5.12, or sends the requests of a device on without counting them as
    writes (device mapper, software RAID)."""
    descriptors: list[int] = []
    try:
        with suppress(OSError):
            _open(tuple(nodes), descriptors)
        yield FlushRequests(descriptors)
    finally:
        _close(descriptors)


def _open(nodes: tuple[Path, ...], descriptors: list[int]) -> None:
    """Adds a descriptor for each processor, or none."""
    if not nodes or not all(map(_counts_as_writes, nodes)) or not _is_new_enough():
        return
    tracepoint = _tracepoint()
    devices = " || ".join(f"dev=={_device(node)}" for node in nodes)
    wanted = f"nr_sector==0 && ({devices})".encode() + b"\0"
    try:
        for processor in _processors():
            descriptors.append(_counter(tracepoint, processor))
            fcntl.ioctl(descriptors[-1], _SET_FILTER, wanted)
    except OSError:
        _close(descriptors)
        descriptors.clear()


def _counts_as_writes(node: Path) -> bool:
    """Whether the device has queues of its own, for which the kernel counts requests."""
    disk = node.parent if (node / "partition").exists() else node
    return (disk / "mq").is_dir()


def _is_new_enough() -> bool:
    major, minor = os.uname().release.split(".")[:2]
    return (int(major), int("".join(filter(str.isdigit, minor[:2])))) >= _LEAST_KERNEL


def _tracepoint() -> int:
    """Its number in this kernel; `OSError` where it may not be known."""
    for folder in _TRACING:
        with suppress(OSError):
            return int((folder / _TRACEPOINT).read_text())
    # Not mounted, as in many containers: a mount of our own, which no path leads to.
    context = _call(_FSOPEN, ctypes.c_char_p(b"tracefs"), 1)
    try:
        _call(_FSCONFIG, context, _FSCONFIG_CMD_CREATE, None, None, 0)
        mount = _call(_FSMOUNT, context, 1, 0)
    finally:
        os.close(context)
    try:
        file = os.open(_TRACEPOINT, os.O_RDONLY | os.O_CLOEXEC, dir_fd=mount)
    finally:
        os.close(mount)
    try:
        return int(os.read(file, 32))
    finally:
        os.close(file)


def _device(node: Path) -> int:
    """Its number as the kernel has it: 12 bits and 20."""
    major, minor = (node / "dev").read_text().split(":")
    return int(major) << 20 | int(minor)


def _processors() -> Iterator[int]:
    for part in _ONLINE.read_text().strip().split(","):
        first, _, last = part.partition("-")
        yield from range(int(first), int(last or first) + 1)


def _counter(tracepoint: int, processor: int) -> int:
    number = _PERF_EVENT_OPEN.get(platform.machine())
    if number is None:
        raise OSError(f"the number of perf_event_open is not known for {platform.machine()}")
    values = (_TYPE_TRACEPOINT, _ATTRIBUTES.size, tracepoint, *[0] * 7)
    attributes = ctypes.create_string_buffer(_ATTRIBUTES.pack(*values), _ATTRIBUTES.size)
    all_processes, no_group = -1, -1
    return _call(number, attributes, all_processes, processor, no_group, _FD_CLOEXEC)


def _call(number: int, *arguments: object) -> int:
    passed = [ctypes.c_long(one) if isinstance(one, int) else one for one in arguments]
    return called_in_libc("syscall", ctypes.c_long(number), *passed)


def _close(descriptors: Iterable[int]) -> None:
    for one in descriptors:
        os.close(one)
