"""Takes a deployment on a storage whose device nothing else uses; returns its durability class,
from the device's flushes against the commits of one client.

1. The file system's own flushes are put off, and it is synced: from here on every page that is
   changed must be written again.
2. The device is watched while nobody commits.
3. One client commits 50 transactions with pauses between. Before each is sent and after each is
   answered the device's flushes and written bytes are read; the last ones are followed up until
   they are flushed, or for 10 seconds.
4. The file system is synced: what was written by then had left the processes.
"""

from __future__ import annotations

import time
from pathlib import Path

from assay.durability import commits
from assay.durability.classes import classified, least_bytes
from assay.durability.counters import DeviceCounters, why_flushes_are_not_counted
from assay.durability.file_system import own_flushes_put_off, sync
from assay.durability.values import Durability, not_measured
from assay.durability.watching import idle, watch
from assay.errors import RunFailed, SystemRefused
from assay.provision.deployment import Deployment
from assay.storages.device_counters import Devices, devices_under
from assay.systems.protocol import System


def measure(deployment: Deployment, system: System) -> Durability:
    """Takes some 5 seconds where commits are flushed before they are answered, up to 40 elsewhere.
    Makes a table and drops it.

    Raises `SystemUnderTestError` where the system is lost.
    """
    if (reason := _why_not(deployment, system)) is not None:
        return not_measured(reason)
    directory = Path(deployment.storage.directory)
    devices = devices_under(directory)
    if devices is None:
        return not_measured(f"no device is known under {directory}")
    if (reason := why_flushes_are_not_counted(devices)) is not None:
        return not_measured(reason)
    try:
        return _measured(deployment, system, directory, devices)
    except (RunFailed, SystemRefused) as error:
        return not_measured(f"the system refused to commit a row: {error.message}")


def _why_not(deployment: Deployment, system: System) -> str | None:
    if not deployment.is_private:
        return "a server by URL"
    if not deployment.storage.is_own_device:
        return f"the storage {deployment.storage.name} has no device of its own"
    with_data = sum(node.directory is not None for node in deployment.nodes)
    if with_data > 1:
        return f"{with_data} nodes share the device"
    return commits.why_not(system.dialect, system.capabilities)


def _measured(
    deployment: Deployment, system: System, directory: Path, devices: Devices
) -> Durability:
    with (
        DeviceCounters(devices) as counters,
        own_flushes_put_off(directory) as file_system_flushes,
        commits.committing(deployment, system.dialect) as client,
    ):
        sync(directory)
        quiet = idle(counters.read)
        before, began_s = counters.read(), time.monotonic()
        watched = watch(
            client.prepare, client.commit, counters.read, least_bytes(commits.PAYLOAD_BYTES)
        )
        sync(directory)
        after, ended_s = counters.read(), time.monotonic()
    return classified(
        watched,
        quiet,
        payload_bytes=commits.PAYLOAD_BYTES * len(watched),
        written_bytes=after.written_bytes - before.written_bytes,
        elapsed_s=ended_s - began_s,
        file_system_flushes=file_system_flushes,
    )
