"""Takes block devices; returns how many flushes they have ended and how many bytes they have
written.

A flush is counted when it ends. One flush of the device may end those of several writers. A reading
takes some 0.1 ms.
"""

from __future__ import annotations

from typing import NamedTuple

from assay.errors import SystemUnderTestError
from assay.storages.device_counters import Devices


class Counts(NamedTuple):
    """Since the devices were made."""

    flushes: int
    written_bytes: int


class FlushCounter:
    """Devices whose flushes are counted; raises `SystemUnderTestError` where one is gone."""

    def __init__(self, devices: Devices) -> None:
        self._devices = devices

    def read(self) -> Counts:
        found = self._devices.counts()
        if found is None or found.flushes is None:
            raise SystemUnderTestError(f"the device {self._devices.label} is gone")
        return Counts(found.flushes, found.written_bytes)


def why_flushes_are_not_counted(devices: Devices) -> str | None:
    """None: each flush that a file system asks for reaches the device, and is counted."""
    found = devices.counts()
    if found is not None and found.flushes is not None:
        return None
    return (
        f"flushes of {devices.label} are not counted: it has no write cache, so that the kernel "
        "sends it none, or the kernel is older than 5.5"
    )
