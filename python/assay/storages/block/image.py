"""Takes a path and a size; makes an image file that is laid out with data.

A sparse or preallocated file is not enough: the blocks that were never written read as zeros
without any access to the disk, and the first write to each is slower than the next.
"""

from __future__ import annotations

import os
from pathlib import Path

from assay import env_vars
from assay.contracts.experiment import StorageChoice
from assay.contracts.storages.abilities import FreeSpace
from assay.errors import NotOnThisMachine, SystemUnderTestError
from assay.storages.here import FALLBACK, refuse_no_directory
from assay.text.units import size

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


def lay_out(path: Path, size_bytes: int) -> None:
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
