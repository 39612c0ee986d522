"""Takes the path of a block device; refuses it where it is in use or holds something.

A device that is in use is refused in any case. What one holds is destroyed only if that was asked
for (``--erase``): also a device on which nothing is recognised may hold data.
"""

from __future__ import annotations

import errno
import json
import os
import stat
import subprocess
from pathlib import Path

from assay.contracts.experiment import StorageChoice
from assay.errors import ArgumentError, NotOnThisMachine, SystemUnderTestError
from assay.storages.block.machine import WIPEFS, need_program, need_root
from assay.storages.mounts import MOUNT_TABLE, MountLine, device_number, every_mount
from assay.text.mentions import Mention, phrase

_SYS_DEVICES = Path("/sys/dev/block")
_SWAPS = Path("/proc/swaps")


def usable_device(choice: StorageChoice, path: Path) -> Path:
    """The device's own node, not a link to it. Raises `NotOnThisMachine` where there is no such
    device that is free, `ArgumentError` where it may not be erased."""
    named = f"storage {choice.name!r}: {path}"
    need_root(f"storage {choice.name!r}")
    try:
        is_block_device = stat.S_ISBLK(path.stat().st_mode)
    except OSError as error:
        raise NotOnThisMachine(f"{named}: {error.strerror}", hint="see `lsblk`") from error
    if not is_block_device:
        raise NotOnThisMachine(f"{named} is not a block device", hint="see `lsblk`")
    node = path.resolve()
    if use := _use_of(node):
        raise NotOnThisMachine(
            f"{named} is in use: {use}", hint="choose a device that nothing uses; see `lsblk`"
        )
    if not choice.may_erase:
        held = contents(node, f"storage {choice.name!r}")
        raise ArgumentError(
            f"{named} would be erased; it holds {held or 'nothing that is recognised'}",
            hint=phrase("if that may be destroyed: {}", Mention("erase", is_wished=True)),
        )
    return node


def contents(node: Path, what: str) -> str:
    """What the device holds, as far as util-linux knows it: file systems, partition tables, parts
    of arrays, swap. Empty: nothing that is known."""
    wipefs = need_program(WIPEFS, what)
    asked = subprocess.run(
        [wipefs, "--no-act", "--json", str(node)], capture_output=True, text=True, check=False
    )
    if asked.returncode != 0:
        raise SystemUnderTestError(
            f"{node} cannot be examined: {' '.join(asked.stderr.split())}",
            hint="is the device readable? see the kernel's log: dmesg",
        )
    found = json.loads(asked.stdout)["signatures"] if asked.stdout.strip() else []
    return ", ".join(dict.fromkeys(_described(signature) for signature in found))


def _described(signature: dict[str, str | None]) -> str:
    label = signature.get("label")
    return f"{signature['type']}" + (f" labelled {label!r}" if label else "")


def _use_of(node: Path) -> str | None:
    """By what the device, or a part of it, is used; None: by nothing."""
    numbers = _numbers(node)
    for mount in every_mount(MOUNT_TABLE.read_text()):
        if _number_of(mount) in numbers:
            return f"{mount.source} is mounted at {mount.point}"
    for line in _SWAPS.read_text().splitlines()[1:]:
        swap = Path(line.split()[0])
        if swap.is_block_device() and device_number(swap) in numbers:
            return f"{swap} is swap space"
    for number in numbers:
        holders = sorted(path.name for path in (_SYS_DEVICES / number / "holders").glob("*"))
        if holders:
            return f"it is part of {', '.join(holders)}"
    return _why_not_exclusive(node)


def _why_not_exclusive(node: Path) -> str | None:
    """The kernel opens a device exclusively for one user, as for each file system on it."""
    try:
        os.close(os.open(node, os.O_RDONLY | os.O_EXCL | os.O_CLOEXEC))
    except OSError as error:
        busy = error.errno == errno.EBUSY
        return "another program or the kernel has it open" if busy else str(error.strerror)
    return None


def _numbers(node: Path) -> set[str]:
    """``major:minor`` of the device and of its partitions; of a partition, its own alone."""
    number = device_number(node)
    parts = (_SYS_DEVICES / number).resolve().glob("*/partition")
    return {number, *(part.with_name("dev").read_text().strip() for part in parts)}


def _number_of(mount: MountLine) -> str:
    """Of the device below; a file system of several devices has a number of its own."""
    source = Path(mount.source)
    if mount.device_number.startswith("0:") and source.is_absolute() and source.is_block_device():
        return device_number(source)
    return mount.device_number


def erase(node: Path) -> None:
    """Removes every signature, so that no tool takes the device for what it was."""
    wiped = subprocess.run(
        [WIPEFS.path, "--all", "--quiet", str(node)], capture_output=True, text=True, check=False
    )
    if wiped.returncode != 0:
        raise SystemUnderTestError(
            f"{node} cannot be erased: {' '.join(wiped.stderr.split())}",
            hint="is it in use, or write-protected? see `lsblk`",
        )


def device_size_bytes(node: Path) -> int:
    file = os.open(node, os.O_RDONLY | os.O_CLOEXEC)
    try:
        return os.lseek(file, 0, os.SEEK_END)
    finally:
        os.close(file)


def is_partition(node: Path) -> bool:
    return (_SYS_DEVICES / device_number(node) / "partition").exists()
