"""Takes the directory of a storage; keeps the flushes of its file system apart from those that a
system asks for.

A file system with a journal flushes the device by itself: ext3 and ext4 some 5 seconds after a
change of a file, btrfs after 30. Then an engine that never flushes would seem to flush within that
time. Their mount option ``commit`` puts it off for as long as commits are watched. XFS writes its
log every 30 seconds, which cannot be put off for one mount: several commits are followed, each for
less than that. ext2 and ext4 without a journal never flush by themselves.
"""

from __future__ import annotations

import contextlib
import os
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

from assay.errors import SystemUnderTestError
from assay.provision.undo.resources.mount import MOUNT
from assay.storages.mounts import MountLine, mount_of
from assay.text.files.syncing import sync_file_system

PUT_OFF_S = 3600
_WITH_COMMIT = ("ext3", "ext4", "btrfs")
_OF_ANY_FILE_SYSTEM = {
    "ro", "rw", "sync", "dirsync", "noatime", "relatime", "strictatime", "nodiratime", "lazytime",
    "nosuid", "nodev", "noexec",
}  # fmt: skip
"""Mount options that a remount sets back where they are not repeated."""
_EXT = Path("/sys/fs/ext4")
_OWN_FLUSHES = {
    "ext2": "ext2 does not flush by itself",
    "xfs": "xfs flushes by itself every 30 s",
}


@contextlib.contextmanager
def own_flushes_put_off(directory: Path) -> Iterator[str]:
    """Yields in words what is done about them. The mount is as it was at the end.

    Only for a mount that Assay made. Raises `SystemUnderTestError` where it cannot be changed.
    """
    mount = mount_of(directory.resolve())
    if mount.file_system not in _WITH_COMMIT:
        own = _OWN_FLUSHES.get(mount.file_system)
        yield own or f"whether {mount.file_system} flushes by itself is not known"
        return
    if not _has_journal(mount):
        yield f"{mount.file_system} without a journal does not flush by itself"
        return
    before = _option(mount, "commit") or "0"  # which both take for their default
    _remount(mount, PUT_OFF_S)
    try:
        yield f"{mount.file_system}'s own flushes put off: commit={PUT_OFF_S}"
    finally:
        _remount(mount, int(before))


def sync(directory: Path) -> None:
    """Writes and flushes everything that the file system of the directory holds in memory."""
    try:
        sync_file_system(directory)
    except OSError as error:
        raise SystemUnderTestError(f"{directory} cannot be synced: {error.strerror}") from None


@contextlib.contextmanager
def unflushed_file(directory: Path, size_bytes: int) -> Iterator[Callable[[], object]]:
    """Yields what overwrites a file there without a flush. Its blocks are on the device already, so
    that a flush of another file leaves them alone. Raises `SystemUnderTestError`."""
    try:
        with tempfile.TemporaryFile(dir=directory) as file:
            file.write(os.urandom(size_bytes))
            file.flush()
            os.fsync(file.fileno())
            yield partial(os.pwrite, file.fileno(), os.urandom(size_bytes), 0)
    except OSError as error:
        raise SystemUnderTestError(f"{directory} cannot be written: {error.strerror}") from None


def _has_journal(mount: MountLine) -> bool:
    if mount.file_system == "btrfs":
        return True
    device = Path(mount.source).resolve().name
    return (_EXT / device / "journal_task").exists()


def _option(mount: MountLine, name: str) -> str | None:
    options = dict(option.partition("=")[::2] for option in mount.options.split(","))
    return options.get(name)


def _remount(mount: MountLine, commit_s: int) -> None:
    where, kept = [str(mount.point)], []
    if mount.file_system == "ext3":
        # Of the point alone mount(8) repeats every option that the kernel shows, and with
        # data=journal it shows one that it takes of ext4 only. Of device and point it repeats none.
        where.insert(0, mount.source)
        kept = [one for one in mount.options.split(",") if one in _OF_ANY_FILE_SYSTEM]
    _run(
        [MOUNT.path, "-o", ",".join(["remount", *kept, f"commit={commit_s}"]), *where],
        f"the mount option commit={commit_s} of {mount.point} cannot be set",
    )


def _run(words: list[str], what: str) -> None:
    try:
        done = subprocess.run(words, capture_output=True, text=True, check=False)
        failed = done.stderr.strip() if done.returncode else None
    except OSError as error:
        failed = f"the program {words[0]} cannot be run: {error.strerror}"
    if failed is not None:
        raise SystemUnderTestError(f"{what}: {failed}")
