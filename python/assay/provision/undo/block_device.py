"""A loop device, which is a file that the kernel shows as a block device; and a node for a block
device, by which another user reaches it while the device's own node keeps its owner."""

from __future__ import annotations

import fcntl
import os
import stat
import struct
import subprocess
from collections.abc import Sequence
from pathlib import Path

from msgspec import Struct

from assay.errors import SystemUnderTestError
from assay.provision.machine.program import Program
from assay.provision.undo.resources import NOTHING, CannotUndo, Resource, Undone, retry

LOSETUP = Program("losetup", "mount")

_BLOCK_DEVICES = Path("/sys/block")
_NODES = Path("/dev")
_GET_STATUS = 0x4C05
"""LOOP_GET_STATUS64 of linux/loop.h."""
_STATUS = struct.Struct("=QQ36xI64s112x")
_DIRECT_IO = 16
"""LO_FLAGS_DIRECT_IO."""
_DELETED = " (deleted)"
_TIMEOUT_S = 10.0


class LoopStatus(Struct, frozen=True):
    """What a loop device says of itself, also where there is no /sys."""

    device: int
    """Of the file, as the kernel writes it; so is the inode."""
    inode: int
    file: bytes
    """Its path, of which the kernel keeps 63 bytes."""
    has_direct_io: bool

    @classmethod
    def of(cls, node: Path) -> LoopStatus | None:
        """None: the device has no file, or cannot be asked."""
        try:
            descriptor = os.open(node, os.O_RDONLY | os.O_CLOEXEC)
            try:
                answer = fcntl.ioctl(descriptor, _GET_STATUS, bytes(_STATUS.size))
            finally:
                os.close(descriptor)
        except OSError:
            return None
        device, inode, flags, name = _STATUS.unpack(answer)
        return cls(device, inode, name.rstrip(b"\0"), bool(flags & _DIRECT_IO))


class LoopDevice(Resource, frozen=True):
    """Known by its file, whose name (without its ending) ends in the mark: which number the kernel
    gives the device is not known before it is made."""

    kind = "loop device"
    file: str

    def attach(self) -> Path:
        """Makes the device of the file; returns its node."""
        done = _losetup(["--find", "--show", self.file])
        if done.returncode != 0:
            raise SystemUnderTestError(
                f"a loop device for {self.file} cannot be made: {done.stderr.strip()}",
                hint="loop devices need root and free nodes: losetup --find",
            )
        return Path(done.stdout.strip())

    def undo(self, identity: str) -> Undone:
        if not Path(self.file).stem.endswith(identity):
            raise CannotUndo("it is not a file that Assay made")
        devices = _devices_of(self.file)
        if not devices:
            return NOTHING
        retry(self._detach, _TIMEOUT_S)
        return Undone(", ".join(devices))

    def _detach(self) -> str | None:
        """Also of a device that is in use the kernel says that it is detached; it then goes away
        with its last user. So the list of devices is what counts."""
        messages = [
            _losetup(["--detach", device]).stderr.strip() for device in _devices_of(self.file)
        ]
        left = _devices_of(self.file)
        return (
            f"{', '.join(left)}: {' '.join(filter(None, messages)) or 'in use'}" if left else None
        )

    def __str__(self) -> str:
        return f"loop device of {self.file}"


def _devices_of(file: str) -> list[str]:
    if _BLOCK_DEVICES.is_dir():
        return _listed_devices_of(file)
    return _asked_devices_of(file)  # in a chroot, and in some containers


def _asked_devices_of(file: str) -> list[str]:
    """Of a file that has been removed they know only a short path."""
    try:
        facts = Path(file).stat()
        wanted = (_encoded(facts.st_dev), facts.st_ino)
    except OSError:
        wanted = None
    devices = []
    for node in sorted(_NODES.glob("loop[0-9]*")):
        status = LoopStatus.of(node)
        # On some file systems the kernel knows the file by another device than `stat` gives.
        if status and (wanted == (status.device, status.inode) or status.file == os.fsencode(file)):
            devices.append(str(node))
    return devices


def _encoded(device: int) -> int:
    """The number of a device as the kernel writes it (``huge_encode_dev``)."""
    major, minor = os.major(device), os.minor(device)
    return (minor & 0xFF) | (major << 8) | ((minor & ~0xFF) << 12)


def _listed_devices_of(file: str) -> list[str]:
    """Also of a file that has been removed."""
    found = []
    for entry in sorted(_BLOCK_DEVICES.glob("loop*/loop/backing_file")):
        try:
            backing = entry.read_text().rstrip("\n").removesuffix(_DELETED)
        except OSError:
            continue  # detached in between
        if backing == file:
            found.append(f"/dev/{entry.parents[1].name}")
    return found


def _losetup(words: Sequence[str]) -> subprocess.CompletedProcess[str]:
    try:
        return subprocess.run([LOSETUP.path, *words], capture_output=True, text=True, check=False)
    except OSError as error:
        message = f"losetup cannot be run: {error.strerror}"
        return subprocess.CompletedProcess(list(words), 127, "", message)


_DEVICES = Path("/dev")
"""Elsewhere a file system may be mounted so that device nodes have no effect."""


class DeviceNode(Resource, frozen=True):
    """Its name ends in the mark."""

    kind = "device node"
    path: str

    @classmethod
    def marked(cls, identity: str) -> DeviceNode:
        return cls(str(_DEVICES / f"assay-{identity}"))

    def make(self, device: Path, uid: int, gid: int) -> Path:
        """A node of the same device, which this user may read and write."""
        path = Path(self.path)
        try:
            os.mknod(path, stat.S_IFBLK | 0o600, device.stat().st_rdev)
            os.chown(path, uid, gid)
            path.chmod(0o600)
        except OSError as error:
            raise SystemUnderTestError(
                f"a node for the device {device} cannot be made: {error}",
                hint="that needs root; a container must be allowed to make device nodes",
            ) from error
        return path

    def undo(self, identity: str) -> Undone:
        path = Path(self.path)
        if not path.name.endswith(identity) or path.is_symlink():
            raise CannotUndo("it is not a device node that Assay made")
        if not path.exists():
            return NOTHING
        if not path.is_block_device():
            raise CannotUndo("it is not a device node")
        path.unlink()
        return Undone(self.path)

    def __str__(self) -> str:
        return self.path
