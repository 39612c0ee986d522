"""Takes a path and a size; makes an image file that is laid out with data.

A sparse or preallocated file is not enough: the blocks that were never written read as zeros
without any access to the disk, and the first write to each is slower than the next.
"""

from __future__ import annotations

import os
from pathlib import Path

from assay import env_vars
from assay.errors import ArgumentError, SystemUnderTestError
from assay.experiment.values import StorageChoice
from assay.storages.here import FALLBACK, refuse_no_directory
from assay.text.units import size

_BLOCK_BYTES = 4 << 20
_SPARE_BYTES = 32 << 20
"""For the file's own blocks on its file system, and so as not to fill that to the last byte."""


def need_room(directory: Path, size_bytes: int, storage: str) -> None:
    """Raises `ArgumentError` where the file system of the directory (or of its first parent that
    exists) has not that much space."""
    existing = next(path for path in (directory, *directory.parents) if path.exists())
    found = os.statvfs(existing)
    free_bytes = found.f_bavail * found.f_frsize
    if free_bytes < size_bytes + _SPARE_BYTES:
        raise ArgumentError(
            f"storage {storage!r}: its image needs {size(size_bytes + _SPARE_BYTES)}, and "
            f"{directory} has {size(free_bytes)} free",
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


def need_known_room(choice: StorageChoice, size_bytes: int) -> None:
    """`need_room` before anything is made: of a directory that is named, or of the two among which
    the default one will be. Raises `ArgumentError` also where what is named is no directory."""
    refuse_no_directory(choice)
    named = choice.directory or env_vars.DATA_DIRECTORY.get()
    if named:
        need_room(Path(named).absolute(), size_bytes, choice.name)
        return
    try:
        need_room(Path.cwd(), size_bytes, choice.name)
    except ArgumentError:
        need_room(FALLBACK, size_bytes, choice.name)
