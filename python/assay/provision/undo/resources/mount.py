"""A file system that we mounted."""

from __future__ import annotations

import contextlib
import subprocess
from dataclasses import dataclass
from pathlib import Path

from assay.provision.machine.mounts import MOUNT_TABLE, every_mount
from assay.provision.machine.program import Program
from assay.provision.undo.resources.resource import NOTHING, CannotUndo, Resource, Undone, retry

_TIMEOUT_S = 10.0

MOUNT = Program("mount", "mount")
UMOUNT = Program("umount", "mount")


@dataclass(frozen=True)
class Mount(Resource):
    """The name of its mount point, a directory that goes with it, ends in the mark."""

    kind = "mount"
    path: str

    def undo(self, identity: str) -> Undone:
        path = Path(self.path)
        if not path.name.endswith(identity):
            raise CannotUndo("it is not a mount that Assay made")
        was_mounted = is_mounted(path)
        if was_mounted:
            retry(lambda: _unmount(path), _TIMEOUT_S)
        # A process in a mount namespace of its own may hold a copy of the mount, and with it the
        # device; without a mount point the kernel takes it away there, too.
        with contextlib.suppress(OSError):
            path.rmdir()
        return Undone(self.path) if was_mounted else NOTHING

    def __str__(self) -> str:
        return self.path


def is_mounted(path: Path) -> bool:
    """Whether the path is a mount point. The kernel's list is asked: a FUSE mount whose process has
    ended cannot be looked at."""
    return path.parent.resolve() / path.name in _mount_points()


def mounted_within(path: Path) -> list[Path]:
    """The mount points at the path and below it."""
    resolved = path.resolve()
    return [point for point in _mount_points() if point.is_relative_to(resolved)]


def _mount_points() -> list[Path]:
    table = MOUNT_TABLE.read_text(encoding="utf-8", errors="replace")
    return [one.point for one in every_mount(table)]


def _unmount(path: Path) -> str | None:
    if not is_mounted(path):
        return None
    try:
        done = subprocess.run(
            [UMOUNT.path, str(path)], capture_output=True, text=True, check=False, cwd="/"
        )
    except OSError as error:
        return f"umount cannot be run: {error.strerror}"
    if done.returncode != 0:
        return done.stderr.strip() or f"umount ended with status {done.returncode}"
    return None
