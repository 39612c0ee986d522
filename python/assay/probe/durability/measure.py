"""Takes a deployment on a storage whose device nothing else uses; returns its durability class,
from the device's flushes against the commits of one client.

1. The file system's own flushes are put off, and it is synced: from here on every page that is
   changed must be written again.
2. One client commits 47 transactions with pauses between, in a session with the settings that those
   of the run give themselves. Before each is sent and after each is
   answered the device's flushes and written bytes are read.
3. If one of them was not flushed before its answer, the file system is synced, and the device is
   watched while no client commits.
4. Three more are committed, of 64 times the size, so that the system's background work is not
   taken for their flush, and followed until they are flushed, or for 10 seconds.
5. The file system is synced: what was written by then had left the processes.
6. If they were flushed after their answers, a file is written that nobody flushes. If it is flushed
   all the same, other programs call sync, and no class is known.
"""

from __future__ import annotations

import time
from collections.abc import Iterable
from functools import partial
from pathlib import Path

from msgspec.structs import replace

from assay.contracts.deployment import Deployment
from assay.contracts.durability import NO_SETTINGS, Durability, SessionSettings, not_measured
from assay.contracts.storage_facts import IN_MEMORY
from assay.contracts.systems.protocol import System
from assay.errors import RunFailed, SystemRefused
from assay.probe.durability import commits
from assay.probe.durability.classes import classified, least_bytes
from assay.probe.durability.counters import FlushCounter, why_flushes_are_not_counted
from assay.probe.durability.file_system import own_flushes_put_off, sync, unflushed_file
from assay.probe.durability.watching import (
    IDLE_S,
    LIMIT_S,
    NEVER_IDLE,
    Watched,
    are_flushed_later,
    follow,
    idle,
    is_flushed_unasked,
    watch,
)
from assay.storages.device_counters import Devices, device_at, devices_under


def measure(
    deployment: Deployment, system: System, settings: SessionSettings = NO_SETTINGS
) -> Durability:
    """Takes some 2 seconds where commits are flushed before they are answered, 5 where they are
    flushed soon after, 15 where they are not, and three times the period where a system flushes
    periodically. Makes a table and drops it. ``settings``: of the session that commits.

    Raises `SystemUnderTestError` where the system is lost.
    """
    if (reason := _why_not(deployment, system, settings)) is not None:
        return not_measured(reason)
    directory = Path(deployment.commit_storage.directory)
    devices = _own_devices(deployment, directory)
    if devices is None:
        return not_measured(f"{directory} is not on the storage's own device")
    if (reason := why_flushes_are_not_counted(devices)) is not None:
        return not_measured(reason)
    try:
        found = _measured(deployment, system, directory, devices, settings)
    except (RunFailed, SystemRefused) as error:
        return not_measured(f"the system refused to commit a row: {error.message}")
    return replace(found, session_statements=settings.statements)


def _why_not(deployment: Deployment, system: System, settings: SessionSettings) -> str | None:
    if not deployment.is_private:
        return "a server by URL"
    storage = deployment.commit_storage
    for one in (storage, deployment.storage):
        if one.file_system in IN_MEMORY:
            return f"the storage {one.name} is memory: what is flushed is lost with the power, too"
    if not storage.is_own_device:
        return f"the storage {storage.name} has no device of its own"
    with_data = sum(node.directory is not None for node in deployment.nodes)
    if with_data > 1:
        return f"{with_data} nodes share the device"
    return commits.why_not(system.dialect, system.capabilities) or settings.why_unknown or None


def _own_devices(deployment: Deployment, directory: Path) -> Devices | None:
    """Those under the data, or under a log on a storage of its own; None where these are not the
    storage's own, as of a system whose tables are on a raw device and its log is elsewhere."""
    own, under = device_at(Path(deployment.commit_storage.device)), devices_under(directory)
    is_own = own is not None and under is not None and set(own.nodes) <= set(under.nodes)
    return under if is_own else None


def _measured(
    deployment: Deployment,
    system: System,
    directory: Path,
    devices: Devices,
    settings: SessionSettings,
) -> Durability:
    one, followed = commits.PAYLOAD_BYTES, commits.PAYLOAD_BYTES * commits.ROWS_FOLLOWED
    read = FlushCounter(devices).read
    with (
        own_flushes_put_off(directory) as file_system_flushes,
        commits.committing(deployment, system.dialect, settings) as client,
    ):
        sync(directory)
        before, began_s = read(), time.monotonic()
        quiet = NEVER_IDLE
        first = watch(client.prepare, client.commit, read, least_bytes(one))
        if not _all_flushed(first):
            sync(directory)
            quiet = idle(read, least_bytes(followed))
        prepare = partial(client.prepare, commits.ROWS_FOLLOWED)
        waits = _all_flushed(first)
        last = follow(prepare, client.commit, read, least_bytes(followed), waits=waits)
        sync(directory)
        after, ended_s = read(), time.monotonic()
        if not _all_flushed(last) and quiet == NEVER_IDLE:
            quiet = idle(read, least_bytes(followed))
        is_unasked = False
        if are_flushed_later([*first, *last]):
            longest_s = max(one.delay_ns or 0 for one in last) / 1e9
            for_s = min(max(IDLE_S, 2 * longest_s), LIMIT_S)
            with unflushed_file(directory, followed) as write:
                is_unasked = is_flushed_unasked(write, read, least_bytes(followed), for_s)
    return classified(
        [*first, *last],
        quiet,
        followed_bytes=followed,
        payload_bytes=one * len(first) + followed * len(last),
        written_bytes=after.written_bytes - before.written_bytes,
        elapsed_s=ended_s - began_s,
        file_system_flushes=file_system_flushes,
        is_flushed_unasked=is_unasked,
    )


def _all_flushed(watched: Iterable[Watched]) -> bool:
    return all(one.is_flushed_before_answer for one in watched)
