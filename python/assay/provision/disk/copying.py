"""Copies a stopped server's data directory: by reference where the file system supports it, else
the content of the files without holes.

Owners and modes are copied; sockets and the like are not, since they belong to a running server.
"""

from __future__ import annotations

import contextlib
import errno
import fcntl
import os
import stat
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Literal

from msgspec import Struct

from assay.contracts.stop import look
from assay.errors import SystemUnderTestError
from assay.provision.disk.size import allocated_bytes
from assay.text.mentions import phrase
from assay.text.units import size

Sharing = Literal["where possible", "never", "always"]
"""Whether the copy shares its blocks with the source."""

OnCopied = Callable[[int], None]
"""Called repeatedly with the bytes copied so far."""

_FICLONE = 0x40049409
"""ioctl_ficlone(2): the target shares the source's blocks until one of the two is written to."""

_AT_ONCE_BYTES = 8 << 20
RESERVE_BYTES = 64 << 20
"""What a copy beside the data of a server leaves free: a full file system stops servers."""

_CANNOT_CLONE = {
    errno.EOPNOTSUPP,
    errno.EXDEV,
    errno.EINVAL,
    errno.ENOTTY,
    errno.ENOSYS,
    errno.EPERM,
}


class Copied(Struct, frozen=True):
    """The size of a copy."""

    bytes: int
    """In the files, their holes left out."""
    is_shared: bool
    """Whether source and copy share their blocks, so that no byte was copied."""


def copy_directory(
    source: Path,
    target: Path,
    on_copied: OnCopied | None = None,
    *,
    reserve_bytes: int = 0,
    sharing: Sharing = "where possible",
) -> Copied:
    """Makes ``target``, which must not exist, a copy of ``source``. ``reserve_bytes`` stay free on
    the file system.

    ``source`` must not be written to meanwhile. Raises `SystemUnderTestError` if a disk is full
    or something cannot be read or written, or the blocks cannot be shared although they ``always``
    should; the caller then removes what there is of ``target``.
    """
    try:
        can_share = sharing != "never" and _can_share(source, target.parent)
        if sharing == "always" and not can_share:
            raise SystemUnderTestError(
                f"{target.parent} cannot hold a snapshot of {source}: their file system does not "
                "share blocks between files",
                hint=phrase("a storage with btrfs or xfs: {--storage 'loop[fs=btrfs]'}"),
            )
        if not can_share:
            _insist_on_room(source, target.parent, reserve_bytes)
        return _copy_tree(source, target, on_copied, can_share)
    except OSError as error:
        raise SystemUnderTestError(f"{source} cannot be copied to {target}: {error}") from error


def _copy_tree(source: Path, target: Path, on_copied: OnCopied | None, can_share: bool) -> Copied:
    total, shared = 0, can_share
    folders = []
    for parent, names, files in os.walk(source):
        here = target / Path(parent).relative_to(source)
        here.mkdir(mode=0o700)
        folders.append((Path(parent), here))
        for name in [folder for folder in names if Path(parent, folder).is_symlink()]:
            _copy_link(Path(parent, name), here / name)
        for name in files:
            found = Path(parent, name)
            kind = found.lstat().st_mode
            if stat.S_ISLNK(kind):
                _copy_link(found, here / name)
            elif stat.S_ISREG(kind):
                look()
                copied = _copy_file(found, here / name, can_share)
                total, shared = total + copied.bytes, shared and copied.is_shared
                if on_copied is not None:
                    on_copied(total)
    for found, made in reversed(folders):  # a folder may close itself to us: from the leaves up
        _keep_owner(found, made)
    return Copied(total, shared)


def _copy_file(source: Path, target: Path, can_share: bool) -> Copied:
    with source.open("rb") as reading, target.open("xb") as writing:
        shared = can_share and _share(reading.fileno(), writing.fileno())
        length = os.fstat(reading.fileno()).st_size
        if shared:
            copied = sum(end - start for start, end in _pieces(reading.fileno(), length))
        else:
            copied = _copy_content(reading.fileno(), writing.fileno(), length)
    _keep_owner(source, target)
    return Copied(copied, shared)


def _share(source: int, target: int) -> bool:
    try:
        fcntl.ioctl(target, _FICLONE, source)
    except OSError as error:
        if error.errno in _CANNOT_CLONE:
            return False
        raise
    return True


def _copy_content(source: int, target: int, size: int) -> int:
    """Copies what is between the holes; returns how many bytes that was."""
    copied = 0
    for start, end in _pieces(source, size):
        os.lseek(target, start, os.SEEK_SET)
        at = start
        while at < end and (
            written := os.sendfile(target, source, at, min(_AT_ONCE_BYTES, end - at))
        ):
            at += written
        copied += at - start
    os.ftruncate(target, size)
    return copied


def _pieces(file: int, size: int) -> Iterator[tuple[int, int]]:
    """The parts of a file that hold data, as (begin, end)."""
    end = 0
    while end < size:
        try:
            start = os.lseek(file, end, os.SEEK_DATA)
            end = os.lseek(file, start, os.SEEK_HOLE)
        except OSError as error:
            if error.errno == errno.ENXIO:  # nothing but a hole from here on
                return
            if error.errno == errno.EINVAL:  # a file system without support for it
                start, end = 0, size
            else:
                raise
        yield start, min(end, size)


def _copy_link(source: Path, target: Path) -> None:
    target.symlink_to(source.readlink())
    _keep_owner(source, target)


def _keep_owner(source: Path, target: Path) -> None:
    found = source.lstat()
    if (found.st_uid, found.st_gid) != (os.geteuid(), os.getegid()):
        os.chown(target, found.st_uid, found.st_gid, follow_symlinks=False)
    if not stat.S_ISLNK(found.st_mode):
        target.chmod(stat.S_IMODE(found.st_mode))


def _can_share(source: Path, folder: Path) -> bool:
    """Whether files of the one directory can share their blocks with files of the other: tried with
    Assay's file in ``folder`` and one of the directory's own."""
    own = next(
        (file for file in source.rglob("*") if file.is_file() and not file.is_symlink()), None
    )
    if own is None:
        return False
    sample = folder / f".shares-{os.getpid()}"
    try:
        with own.open("rb") as reading, sample.open("wb") as writing:
            return _share(reading.fileno(), writing.fileno())
    finally:
        with contextlib.suppress(FileNotFoundError):
            sample.unlink()


def _insist_on_room(source: Path, folder: Path, reserve_bytes: int) -> None:
    copy_bytes, found = allocated_bytes(source), os.statvfs(folder)
    free_bytes = found.f_bavail * found.f_frsize
    if free_bytes < copy_bytes + reserve_bytes:
        reserve = f", and {size(reserve_bytes)} stay free for the server" if reserve_bytes else ""
        raise SystemUnderTestError(
            f"a copy of the data takes {size(copy_bytes)}{reserve}: {folder} has "
            f"{size(free_bytes)} free",
            hint=phrase(
                "choose a storage with more room; for copies of loads another folder: {--datasets}"
            ),
        )
