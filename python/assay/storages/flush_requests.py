"""Takes block devices; returns how many requests they were sent that ask for a flush and carry no
data.

The kernel counts each of them as a write (block/blk-flush.c). Its count of flushes is no measure of
them: one flush of a device answers several requests, and a journal's write, which carries data, may
need two. So they are counted where they are sent, at the kernel's tracepoint ``block_bio_queue``,
by a counter of perf_event_open(2) for each processor. It ends with its descriptor and needs root.
"""

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
    found = int(_LIBC.syscall(ctypes.c_long(number), *passed))
    if found < 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
    return found


def _close(descriptors: Iterable[int]) -> None:
    for one in descriptors:
        os.close(one)


_LIBC = ctypes.CDLL(None, use_errno=True)
_LIBC.syscall.restype = ctypes.c_long
