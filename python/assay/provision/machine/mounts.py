"""Takes a directory; returns its file system, device, mount options and sizes, and whether the
device is rotational."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import TypedDict

from msgspec import Struct

from assay.contracts.experiment import StorageChoice
from assay.contracts.storage_facts import StorageFacts
from assay.text import paths

MOUNT_TABLE = Path("/proc/self/mountinfo")
FSTAB = Path("/etc/fstab")


class DeviceFacts(TypedDict, total=False):
    """What the kernel says of a block device; empty: there is none, or it is hidden."""

    block_device: str
    is_rotational: bool
    write_cache: str
    scheduler: str
    logical_block_bytes: int
    physical_block_bytes: int


class MountLine(Struct, frozen=True):
    """One line of ``/proc/self/mountinfo`` (proc(5))."""

    point: Path
    file_system: str
    source: str
    options: str
    """Of the mount and of the file system, as mount(8) would take them."""
    device_number: str
    """``major:minor`` as the kernel numbers the file system's device."""
    root: str = "/"
    """What of the file system is mounted there."""
    file_system_options: str = ""
    """Those of the file system alone."""


def facts_of(choice: StorageChoice, directory: Path) -> StorageFacts:
    """The storage of `directory`, as the kernel reports it now."""
    resolved = directory.resolve()
    mount = mount_of(resolved)
    size = os.statvfs(resolved)
    return StorageFacts(
        name=choice.name,
        kind=choice.kind,
        directory=str(resolved),
        file_system=mount.file_system,
        device=mount.source,
        mount_options=mount.options,
        size_bytes=size.f_blocks * size.f_frsize,
        free_bytes=size.f_bavail * size.f_frsize,
        facts={"mount_point": str(mount.point), **_device_facts(mount)},
    )


def mount_of(path: Path, table: str | None = None) -> MountLine:
    """The mount of `path` (resolved). Of several mounts on the same point the last one hides the
    others."""
    text = MOUNT_TABLE.read_text() if table is None else table
    best: MountLine | None = None
    for mount in every_mount(text):
        is_around = path == mount.point or mount.point in path.parents
        if is_around and (best is None or len(mount.point.parts) >= len(best.point.parts)):
            best = mount
    return best or MountLine(Path("/"), "unknown", "unknown", "", "0:0")


def unmounted_point(
    path: Path, table: str | None = None, mounted: str | None = None
) -> Path | None:
    """The mount point of ``/etc/fstab`` that ``path`` (resolved) is, or lies below, where nothing
    is mounted there now; None: there is none. ``table`` and ``mounted``: the two tables, for
    tests."""
    try:
        text = FSTAB.read_text(errors="replace") if table is None else table
    except OSError:
        return None
    now = {mount.point for mount in every_mount(mounted or MOUNT_TABLE.read_text())}
    named = [
        Path(_plain(words[1]))
        for words in (line.partition("#")[0].split() for line in text.splitlines())
        if len(words) > 2 and words[1].startswith("/") and words[1] != "/"
    ]
    around = [point for point in named if point == path or point in path.parents]
    # Of several, one within the other, the innermost holds the path.
    innermost = max(around, key=lambda point: len(point.parts), default=None)
    return innermost if innermost is not None and innermost not in now else None


def every_mount(table: str) -> Iterator[MountLine]:
    """The mounts of the table, in its order."""
    yield from map(_parse, table.splitlines())


def _parse(line: str) -> MountLine:
    left, _, right = line.partition(" - ")
    number, root, point, options = left.split(" ")[2:6]
    file_system, source, super_options = (*right.split(" "), "", "")[:3]
    # Options of the mount and of the file system overlap (ro, rw); each is listed once.
    together = dict.fromkeys((options + "," + super_options).strip(",").split(","))
    return MountLine(
        Path(_plain(point)),
        file_system,
        _plain(source),
        ",".join(together),
        number,
        _plain(root),
        super_options,
    )


def _plain(word: str) -> str:
    """Decodes blank, tab, newline and backslash, which are octal numbers in the table."""
    for code, character in (("\\040", " "), ("\\011", "\t"), ("\\012", "\n"), ("\\134", "\\")):
        word = word.replace(code, character)
    return word


def _device_facts(mount: MountLine) -> DeviceFacts:
    """Properties of the block device; empty where there is none (tmpfs, network)."""
    number = mount.device_number
    if number.startswith("0:") and mount.source.startswith("/dev/"):
        try:  # file systems with several devices have a number of their own
            device = Path(mount.source).stat().st_rdev
            number = f"{os.major(device)}:{os.minor(device)}"
        except OSError:
            return DeviceFacts()
    return _queue_facts(number)


def device_facts(node: Path) -> DeviceFacts:
    """Properties of a block device."""
    return _queue_facts(device_number(node))


def device_number(node: Path) -> str:
    """``major:minor`` of a block device."""
    device = node.stat().st_rdev
    return f"{os.major(device)}:{os.minor(device)}"


def _queue_facts(number: str) -> DeviceFacts:
    node = Path(f"/sys/dev/block/{number}").resolve()
    # Containers may hide it.
    queue = next(
        (place for place in (node / "queue", node.parent / "queue") if paths.is_folder(place)), None
    )
    if queue is None:
        return DeviceFacts()
    facts = DeviceFacts(block_device=queue.parent.name)
    if rotational := _said(queue / "rotational"):
        facts["is_rotational"] = rotational == "1"
    if write_cache := _said(queue / "write_cache"):
        facts["write_cache"] = write_cache
    if scheduler := _said(queue / "scheduler"):
        facts["scheduler"] = scheduler.partition("[")[2].partition("]")[0] or scheduler
    if (logical := _said(queue / "logical_block_size")).isdigit():
        facts["logical_block_bytes"] = int(logical)
    if (physical := _said(queue / "physical_block_size")).isdigit():
        facts["physical_block_bytes"] = int(physical)
    return facts


def _said(file: Path) -> str:
    """What the kernel says there; empty: nothing."""
    try:
        return file.read_text().strip()
    except OSError:
        return ""
