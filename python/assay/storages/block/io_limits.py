"""Takes limits of a block device; returns what to write into the files of a control group.

Version 1 has a file for each limit, version 2 one for all. Both count requests and bytes that a
process of the group sends to the device; a flush counts as a request.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from assay.errors import StorageUnavailable
from assay.provision.control_groups import Controller

_VERSION_1: Mapping[str, str] = {
    "read_iops": "blkio.throttle.read_iops_device",
    "write_iops": "blkio.throttle.write_iops_device",
    "read_bps": "blkio.throttle.read_bps_device",
    "write_bps": "blkio.throttle.write_bps_device",
}
_VERSION_2: Mapping[str, str] = {
    "read_iops": "riops",
    "write_iops": "wiops",
    "read_bps": "rbps",
    "write_bps": "wbps",
}
LIMITS = tuple(_VERSION_1)


def lines_for(version: int, device_number: str, limits: Mapping[str, int]) -> list[tuple[str, str]]:
    """Name of a file and the line to write, for a device as ``major:minor``."""
    if version == 1:
        return [(_VERSION_1[name], f"{device_number} {limit}") for name, limit in limits.items()]
    together = " ".join(f"{_VERSION_2[name]}={limit}" for name, limit in limits.items())
    return [("io.max", f"{device_number} {together}")]


def apply(
    controller: Controller, group: Path, device_number: str, limits: Mapping[str, int]
) -> None:
    """Raises `StorageUnavailable` where the kernel refuses a limit."""
    for name, line in lines_for(controller.version, device_number, limits):
        try:
            (group / name).write_text(line)
        except OSError as error:
            raise StorageUnavailable(
                f"the limit {line!r} cannot be written to {group / name}: {error.strerror}",
                hint="was the kernel built with throttling (CONFIG_BLK_DEV_THROTTLING)?",
            ) from error
