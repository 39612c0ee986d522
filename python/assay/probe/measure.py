"""Takes the directory of a server on its storage; returns the storage's `Probe`, and leaves nothing
behind."""

from __future__ import annotations

import os
import time
from pathlib import Path
from typing import Final

from msgspec import structs

from assay.contracts.systems.protocol import ServerDirectory
from assay.errors import SystemRefused, says_disk_is_full
from assay.probe import fio
from assay.probe.first_use import DEFAULT_S
from assay.probe.values import Probe
from assay.storages.device_counters import DeviceCounts, devices_of_storage
from assay.text.reasons import sentence
from assay.text.units import size

NOT_INSTALLED: Final = f"{fio.FIO.name} is not installed"
HOW_TO_INSTALL: Final = fio.FIO.hint

_BYTES_PER_S = 128 << 20
"""Of the file, for each second of the probe: more than a disk can write in its share."""
_SHARE_OF_FREE = 4
"""At most this part of the free space is filled."""
_LEAST_FREE_BYTES = 16 << 20


def probe(directory: ServerDirectory, seconds: float = DEFAULT_S) -> Probe:
    """Measures in about so many seconds, as the user and in the place of the server whose directory
    this is; a raw device is overwritten from its beginning. Where that is not possible the probe
    has a reason and no figures."""
    found = Probe(storage=directory.storage.name, begun_unix_ns=time.time_ns(), seconds=seconds)
    if not fio.is_installed():
        return structs.replace(found, reason=f"{NOT_INSTALLED}: {HOW_TO_INSTALL}")
    if (device := directory.raw_device) is not None:
        free_bytes, file, is_direct = _device_bytes(device), device, True
    else:
        free_bytes, is_direct = _free_bytes(directory.root), _can_be_direct(directory.root)
        file = directory.plain_root / "probe"  # fio would split another path at its colons
    if free_bytes < _LEAST_FREE_BYTES:
        reason = f"{size(free_bytes)} are free, expected at least {size(_LEAST_FREE_BYTES)}"
        return structs.replace(found, reason=reason)
    most_bytes = min(int(_BYTES_PER_S * seconds), free_bytes // _SHARE_OF_FREE)
    devices = devices_of_storage(directory.storage, directory.root)
    before = devices.counts() if devices else None
    try:
        measured = fio.measure(found, file, most_bytes, seconds, directory, is_direct=is_direct)
    except SystemRefused as error:
        is_full = says_disk_is_full(error.message)
        return structs.replace(
            found, reason="the storage is full" if is_full else sentence(error.message)
        )
    finally:
        if device is None:
            file.unlink(missing_ok=True)
    flushed = _flushes_since(before, devices.counts() if devices else None)
    return structs.replace(measured, is_direct=is_direct, device_flushes=flushed)


def _flushes_since(before: DeviceCounts | None, after: DeviceCounts | None) -> int | None:
    if before is None or after is None or before.flushes is None or after.flushes is None:
        return None
    return after.flushes - before.flushes


def _free_bytes(directory: Path) -> int:
    room = os.statvfs(directory)
    return room.f_bavail * room.f_frsize


def _device_bytes(device: Path) -> int:
    number = os.open(device, os.O_RDONLY)
    try:
        return os.lseek(number, 0, os.SEEK_END)
    finally:
        os.close(number)


def _can_be_direct(directory: Path) -> bool:
    """Whether files can be opened past the page cache; older tmpfs and some others cannot."""
    file = directory / "direct"
    try:
        os.close(os.open(file, os.O_WRONLY | os.O_CREAT | os.O_DIRECT, 0o600))
    except OSError:
        return False
    finally:
        file.unlink(missing_ok=True)
    return True
