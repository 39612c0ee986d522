"""A node for a block device, by which another user reaches it while the device's own node keeps
its owner."""

from __future__ import annotations

import os
import stat
from dataclasses import dataclass
from pathlib import Path

from assay.errors import SystemUnderTestError
from assay.provision.undo.resources.resource import NOTHING, CannotUndo, Resource, Undone

_DEVICES = Path("/dev")
"""Elsewhere a file system may be mounted so that device nodes have no effect."""


@dataclass(frozen=True)
class DeviceNode(Resource):
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
