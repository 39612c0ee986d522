"""Takes limits of a block device; returns the limit of a control group that enforces them.

Version 1 has a file for each limit, version 2 one for all. Both count requests and bytes that a
process of the group sends to the device; a flush counts as a request.
"""

from __future__ import annotations

from collections.abc import Mapping

from assay.contracts.storages.group_limits import GroupLimit

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


def group_limit(device_number: str, limits: Mapping[str, int]) -> GroupLimit:
    """For a device as ``major:minor``."""
    together = " ".join(f"{_VERSION_2[name]}={limit}" for name, limit in limits.items())
    return GroupLimit(
        "io",
        version_1=tuple(
            (_VERSION_1[name], f"{device_number} {limit}") for name, limit in limits.items()
        ),
        version_2=(("io.max", f"{device_number} {together}"),),
    )
