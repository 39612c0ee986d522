"""Takes an error of a run, and the space of its storage; says so where the storage is full, or this
machine's shared memory."""

from __future__ import annotations

import os
from pathlib import Path

from msgspec import Struct

from assay.errors import (
    FULL_DISK_HINT,
    FULL_SHARED_MEMORY_HINT,
    RESOURCES,
    SHARED_MEMORY,
    AssayError,
    RunFailed,
    SystemRefused,
    SystemUnderTestError,
    full_disk_hint,
    says_disk_is_full,
    says_shared_memory_is_full,
)
from assay.text.units import size

_BEGINNING = "no space left on storage"
_SHARED_MEMORY_BEGINNING = f"no space left in {SHARED_MEMORY}"
_SCARCE_SHARE = 0.02
"""A system that is refused a block may have freed some of its own since."""
_EXHAUSTED_SHARE = 0.01
_EXHAUSTED_BYTES = 1 << 20
_MUCH_BYTES = 64 << 20
"""On a large disk a small share is enough for most."""


class Space(Struct, frozen=True):
    """Of a file system."""

    size_bytes: int
    free_bytes: int
    has_free_files: bool = True
    of_log: str = ""
    """The storage of the log, where it is this one and not that of the data."""

    @property
    def is_scarce(self) -> bool:
        """Where a system says that it ran out of something, it was this."""
        return self.free_bytes <= self.size_bytes * _SCARCE_SHARE or not self.has_free_files

    @property
    def is_exhausted(self) -> bool:
        """Whatever a system says, it lacked room."""
        share_bytes = min(self.size_bytes * _EXHAUSTED_SHARE, _MUCH_BYTES)
        return self.free_bytes <= max(share_bytes, _EXHAUSTED_BYTES) or not self.has_free_files

    @property
    def free_share(self) -> float:
        """Nothing without free files."""
        is_known = self.size_bytes and self.has_free_files
        return self.free_bytes / self.size_bytes if is_known else 0.0


def space_of(directory: Path) -> Space | None:
    """Of the file system of the directory, now; None where it cannot be asked."""
    try:
        found = os.statvfs(directory)
    except OSError:
        return None
    has_free_files = not (found.f_files > 0 and found.f_favail == 0)  # some do not count them
    block = found.f_frsize
    return Space(found.f_blocks * block, found.f_bavail * block, has_free_files)


def no_space_left(storage_name: str, message: str) -> str:
    """The message, with the storage that is full; unchanged where it says so already."""
    if not storage_name or message.startswith(_BEGINNING):
        return message
    return f"{_BEGINNING} {storage_name}: {message}"


def no_shared_memory_left(message: str) -> str:
    """A message by which shared memory is full, with its folder and size; others unchanged."""
    if not says_shared_memory_is_full(message) or message.startswith(_SHARED_MEMORY_BEGINNING):
        return message
    space = space_of(SHARED_MEMORY)
    of_size = "" if space is None else f", which has {size(space.size_bytes)}"
    return f"{_SHARED_MEMORY_BEGINNING}{of_size}: {message}"


def with_size(hint: str, space: Space | None) -> str:
    """The hint, with the size of the storage."""
    return hint if space is None else hint + f" (it has {size(space.size_bytes)})"


def name_full_storage(
    error: AssayError, storage_name: str, space: Space | None, *, is_by_url: bool = False
) -> bool:
    """Changes the error's message where it is that the storage is full, or shared memory; returns
    whether it is the storage. ``space``: the least there was lately; ``is_by_url``: the storage is
    that of a server by URL."""
    if not isinstance(error, SystemUnderTestError | RunFailed):
        return False
    if says_shared_memory_is_full(error.message):
        error.message = no_shared_memory_left(error.message)
        error.hint = FULL_SHARED_MEMORY_HINT
        return False
    ran_out = isinstance(error, SystemRefused) and error.error_class == RESOURCES
    is_full = space is not None and (space.is_exhausted or (space.is_scarce and ran_out))
    if not is_full and not says_disk_is_full(error.message):
        return False
    error.message = no_space_left((space and space.of_log) or storage_name, error.message)
    if error.hint in (None, FULL_DISK_HINT):
        error.hint = with_size(full_disk_hint(is_by_url=is_by_url), space)
    return True
