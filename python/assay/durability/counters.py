"""Takes block devices; returns how many flushes they have ended and how many bytes they have
written.

The fields are those of Documentation/block/stat.rst; flushes are counted since Linux 5.5, when they
end. One flush of the device may end those of several writers.
"""

from __future__ import annotations

import os
from pathlib import Path
from types import TracebackType
from typing import NamedTuple, Self

from assay.storages.device_counters import Devices

_SECTOR_BYTES = 512
_SECTORS_WRITTEN, _FLUSHES = 6, 15
_LONGEST = 1024


class Counts(NamedTuple):
    """Since the devices were made."""

    flushes: int
    written_bytes: int


class DeviceCounters:
    """The counters of devices, open for reading: a reading costs some 20 µs per device."""

    def __init__(self, devices: Devices) -> None:
        self._files = [os.open(node / "stat", os.O_RDONLY | os.O_CLOEXEC) for node in devices.nodes]

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        for file in self._files:
            os.close(file)

    def read(self) -> Counts:
        flushes = written = 0
        for file in self._files:
            fields = os.pread(file, _LONGEST, 0).split()
            flushes += int(fields[_FLUSHES])
            written += int(fields[_SECTORS_WRITTEN])
        return Counts(flushes, written * _SECTOR_BYTES)


def why_flushes_are_not_counted(devices: Devices) -> str | None:
    """None: each flush that a file system asks for reaches the device, and is counted."""
    for node in devices.nodes:
        if len((node / "stat").read_text().split()) <= _FLUSHES:
            return "this kernel does not count the flushes of a device; Linux 5.5 and newer do"
        if _write_cache(node) == "write through":
            return f"{node.name} has no write cache, so the kernel sends it no flushes"
    return None


def _write_cache(node: Path) -> str:
    """Of the device, or of the one whose partition it is; empty: the kernel does not say."""
    for queue in (node / "queue", node.parent / "queue"):
        try:
            return (queue / "write_cache").read_text().strip()
        except OSError:
            continue
    return ""
