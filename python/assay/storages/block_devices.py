"""Takes the path of a block device or of an image file; refuses it where it is in use or holds
something, and lays out images as loop devices that are removed at the end."""

from __future__ import annotations

import contextlib
import errno
import json
import os
import stat
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

from msgspec import Struct

from assay import env_vars
from assay.contracts.experiment import StorageChoice
from assay.contracts.storages.abilities import FreeSpace
from assay.errors import ArgumentError, NotOnThisMachine, StorageUnavailable, SystemUnderTestError
from assay.provision.machine.mounts import MOUNT_TABLE, MountLine, device_number, every_mount
from assay.provision.machine.program import Program
from assay.provision.machine.users import may_mount
from assay.provision.undo import ledger
from assay.provision.undo.block_device import LOSETUP, LoopDevice, LoopStatus
from assay.provision.undo.ledger import HeldEntry, undone_at_end
from assay.provision.undo.resources import MOUNT, UMOUNT, Directory
from assay.storages.here import FALLBACK, directory_of, refuse_no_directory, usable_directory
from assay.text.phrases import Mention, phrase
from assay.text.units import size

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
        held = device_contents(node, f"storage {choice.name!r}")
        raise ArgumentError(
            f"{named} would be erased; it holds {held or 'nothing that is recognised'}",
            hint=phrase("if that may be destroyed: {}", Mention("erase", is_wished=True)),
        )
    return node


def device_contents(node: Path, what: str) -> str:
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


def erase_device(node: Path) -> None:
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


WIPEFS = Program("wipefs", "util-linux")
LOOP_CONTROL = Path("/dev/loop-control")


def need_root(what: str) -> None:
    if os.geteuid() != 0:
        raise StorageUnavailable(
            f"{what} needs root: only root can mount file systems and set up block devices",
            hint="run assay as root (sudo)",
        )
    if not may_mount():
        raise StorageUnavailable(
            f"{what} needs the right to mount file systems (the capability CAP_SYS_ADMIN), which "
            "this container does not give",
            hint="start the container with --privileged",
        )


def need_device(what: str, needed: str, node: Path, module: str) -> None:
    """The device exists, and this process may open it."""
    if not node.exists():
        raise StorageUnavailable(
            f"{what} needs {needed}, and this machine has no {node}",
            hint=f"load the kernel's module: modprobe {module}; a container must be given the "
            "device",
        )
    if not os.access(node, os.R_OK | os.W_OK):
        raise StorageUnavailable(
            f"{what} needs {needed}, and this process may not open {node}",
            hint=f"start the container with --device {node}, or with --privileged",
        )


def need_mount(what: str) -> None:
    """The right to mount a file system, and what does it."""
    need_root(what)
    need_mount_programs(what)


def need_mount_programs(what: str) -> None:
    need_program(MOUNT, what)
    need_program(UMOUNT, what)


def need_loop_devices(what: str) -> None:
    need_root(what)
    need_device(what, "loop devices", LOOP_CONTROL, "loop")
    need_program(LOSETUP, what)


def why_not(need: Callable[[str], object], what: str) -> str | None:
    """Why this machine has not what ``need`` asks for, as a sentence with the fix; None: it has."""
    try:
        need(what)
    except StorageUnavailable as error:
        return f"{error.message}; {error.hint}" if error.hint else error.message
    return None


def need_program(program: Program, what: str) -> str:
    """The path of the program."""
    found = program.find()
    if found is None:
        raise StorageUnavailable(
            f"{what} needs the program {program.name}, which is not installed", hint=program.hint
        )
    return found


_BLOCK_BYTES = 4 << 20
_SPARE_BYTES = 32 << 20
"""For the file's own blocks on its file system, and so as not to fill that to the last byte."""


def need_room(directory: Path, size_bytes: int, storage: str) -> None:
    """Raises `NotOnThisMachine` where the file system of the directory (or of its first parent that
    exists) has not that much space."""
    _need(_free_space_in(directory), size_bytes, storage)


def _free_space_in(directory: Path) -> FreeSpace:
    existing = next(path for path in (directory, *directory.parents) if path.exists())
    found = os.statvfs(existing)
    return FreeSpace(str(directory), found.f_bavail * found.f_frsize)


def _need(room: FreeSpace, size_bytes: int, storage: str) -> None:
    if room.free_bytes < size_bytes + _SPARE_BYTES:
        raise NotOnThisMachine(
            f"storage {storage!r}: its image needs {size(size_bytes + _SPARE_BYTES)}, and "
            f"{room.place} has {size(room.free_bytes)} free",
            hint="choose a smaller size, or another directory: KIND[size=512M]:DIRECTORY",
        )


def lay_out_image(path: Path, size_bytes: int) -> None:
    """Makes the file and writes all of it, with data that no file system compresses away; its pages
    do not stay in memory."""
    block = os.urandom(_BLOCK_BYTES)
    try:
        file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
        try:
            left = size_bytes
            while left > 0:
                left -= os.write(file, memoryview(block)[: min(left, _BLOCK_BYTES)])
                if left % (64 * _BLOCK_BYTES) < _BLOCK_BYTES:
                    # Written as we go: a full page cache would slow down what else is running.
                    os.fdatasync(file)
            os.fsync(file)
            os.posix_fadvise(file, 0, 0, os.POSIX_FADV_DONTNEED)
        finally:
            os.close(file)
    except OSError as error:
        raise SystemUnderTestError(
            f"the image {path} of {size(size_bytes)} cannot be made: {error.strerror}",
            hint="choose a smaller size, or another directory for the storage",
        ) from error


def need_known_free_space(choice: StorageChoice, size_bytes: int) -> None:
    """`need_room` before anything is made. Raises the same where what is named is no
    directory."""
    refuse_no_directory(choice)
    _need(known_free_space(choice), size_bytes, choice.name)


def known_free_space(choice: StorageChoice) -> FreeSpace:
    """That of the directory that is named; of the two that may be the default one, that of the one
    with more."""
    named = choice.directory or env_vars.DATA_DIRECTORY.get()
    places = [Path(named).absolute()] if named else [Path.cwd(), FALLBACK]
    return max(map(_free_space_in, places), key=lambda room: room.free_bytes)


class AttachedImage(Struct, frozen=True):
    entry: HeldEntry
    """What is made on the device belongs into it as well."""
    folder: Path
    """A directory of its own, which all users may enter; removed with everything in it."""
    loop: AttachedLoop

    @property
    def mount_point(self) -> Path:
        """Where a file system of the device may be mounted."""
        return self.folder / f"mounted-{self.entry.entry.id}"


@contextlib.contextmanager
def attached_image(choice: StorageChoice, size_bytes: int) -> Iterator[AttachedImage]:
    """The image lies in the directory of the choice. Raises `ArgumentError` where there is no room
    for it, before anything is made there."""
    need_room(directory_of(choice), size_bytes, choice.name)
    identity = ledger.new_id()
    with usable_directory(choice) as directory, undone_at_end(identity) as entry:
        folder = directory / f"assay-storage-{identity}"
        entry.add(Directory(str(folder)))
        make_folder(folder)
        file = folder / f"image-{identity}.img"
        lay_out_image(file, size_bytes)
        yield AttachedImage(entry, folder, attach_loop_device(entry, file))


def make_folder(folder: Path) -> None:
    try:
        folder.mkdir()
        folder.chmod(0o755)  # independent of the umask: the servers' user needs access
    except OSError as error:
        raise SystemUnderTestError(
            f"a directory for the storage cannot be made: {error}",
            hint="choose another directory for the storage",
        ) from error


class AttachedLoop(Struct, frozen=True):
    node: Path
    """``/dev/loop3``."""
    has_direct_io: bool
    """False where the file system of the file does not offer it."""


def attach_loop_device(entry: HeldEntry, file: Path) -> AttachedLoop:
    """Attaches the file, whose name (without its ending) ends in the mark of the entry."""
    resource = LoopDevice(str(file))
    entry.add(resource)
    node = resource.attach()
    subprocess.run(
        [LOSETUP.path, "--direct-io=on", str(node)], capture_output=True, check=False
    )  # what came of it is read from the kernel
    status = LoopStatus.of(node)
    return AttachedLoop(node, status is not None and status.has_direct_io)
