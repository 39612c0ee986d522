"""Copies a stopped server's data directory, by reference where the file system supports it, else
the content of the files without holes; keeps new data directories for the next server; says
what files occupy."""

from __future__ import annotations

import contextlib
import errno
import fcntl
import hashlib
import os
import shutil
import stat
import tempfile
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Literal

from msgspec import Struct

from assay.contracts.stop import look
from assay.contracts.systems.protocol import ServerDirectory
from assay.env_vars import NEW_DATA
from assay.errors import SystemUnderTestError
from assay.text.output_file import sync_file_system
from assay.text.phrases import phrase
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


def fill_new_data(
    directory: ServerDirectory, program: Path, words: Sequence[str], make: Callable[[], object]
) -> bool:
    """Makes ``directory.data``: with ``make``, in which ``program`` is given ``words``, or as a
    copy of what these made before. Returns whether it is a copy.

    The data are in files of that directory alone. What can be neither kept nor copied is no error:
    it is made. Raises what ``make`` raises.
    """
    kept = _kept(directory, program, words)
    if kept is None:
        make()
        return False
    if _is_copied(kept, directory):
        return True
    make()
    with contextlib.suppress(OSError, SystemUnderTestError):
        _keep(directory.data, kept)
    return False


def _kept(directory: ServerDirectory, program: Path, words: Sequence[str]) -> Path | None:
    """Where that of this program, as it is now, and of this owner is kept; None: it is made in any
    case, as a part of it is elsewhere, or its pages are to count for a limit of memory."""
    folder = NEW_DATA.get()
    if folder is None or directory.log or directory.raw_device or directory.control_groups:
        return None
    found, owner = program.stat(), directory.root.stat()
    facts = (
        str(program.resolve()), found.st_size, found.st_mtime_ns, owner.st_uid, owner.st_gid, *words
    )  # fmt: skip
    name = hashlib.sha256(repr(facts).encode()).hexdigest()[:32]
    return Path(folder).absolute() / name


def _is_copied(kept: Path, directory: ServerDirectory) -> bool:
    """Whether there was one, and it is in place and on the disk, as what is made is."""
    try:
        if not kept.is_dir():
            return False
        _copy(kept, directory.data)
        sync_file_system(directory.data)
    except (OSError, SystemUnderTestError):
        shutil.rmtree(directory.data, ignore_errors=True)
        return False
    return True


def _keep(data: Path, kept: Path) -> None:
    """Complete or not at all: another process may do the same."""
    kept.parent.mkdir(parents=True, exist_ok=True)
    unfinished = Path(tempfile.mkdtemp(prefix="unfinished-", dir=kept.parent))
    try:
        _copy(data, unfinished / "data")
        (unfinished / "data").rename(kept)
    finally:
        shutil.rmtree(unfinished, ignore_errors=True)


def _copy(data: Path, to: Path) -> None:
    """With the room that servers had allocated for their logs: commits would be slower without."""
    copy_directory(data, to, sharing="never")
    for parent, _, names in os.walk(data):
        for file in (Path(parent, name) for name in names):
            found = file.lstat()
            if not stat.S_ISREG(found.st_mode) or found.st_blocks * 512 < found.st_size:
                continue
            copied = to / file.relative_to(data)
            if copied.stat().st_blocks < found.st_blocks:
                with copied.open("r+b") as opened:
                    os.posix_fallocate(opened.fileno(), 0, found.st_size)


_BLOCK_BYTES = 512
"""Unit of ``st_blocks``, whatever the file system's own block is (stat(2))."""


def allocated_bytes(path: Path) -> int:
    """Sum over the path and everything below, as the file system allocates it: holes do not count,
    the rest of a last block does. A file that vanishes while we look is passed over."""
    total = _blocks(path)
    for parent, folders, files in os.walk(path):
        total += sum(_blocks(Path(parent, name)) for name in (*folders, *files))
    return total * _BLOCK_BYTES


def _blocks(path: Path) -> int:
    try:
        return path.lstat().st_blocks
    except FileNotFoundError:
        return 0
