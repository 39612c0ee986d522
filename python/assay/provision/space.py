"""Takes the directory of a system and an error of a run; keeps how little free space its storage
had lately, and says so where the storage is full."""

from __future__ import annotations

import os
import threading
import time
from collections import deque
from pathlib import Path
from typing import Self

from msgspec import Struct
from msgspec.structs import replace

from assay.contracts.systems.abilities import WaitsForSpace
from assay.contracts.systems.protocol import ServerDirectory, System
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
from assay.provision.directory import identity_of
from assay.provision.machine import process_table
from assay.text.units import binary

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
    of_size = "" if space is None else f", which has {binary(space.size_bytes)}"
    return f"{_SHARED_MEMORY_BEGINNING}{of_size}: {message}"


def with_size(hint: str, space: Space | None) -> str:
    """The hint, with the size of the storage."""
    return hint if space is None else hint + f" (it has {binary(space.size_bytes)})"


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


_LOOK_EVERY_S = 0.05
_ASK_EVERY_S = 1.0
_LATELY_S = 30


class SpaceWatch:
    """Looks at the free space of the storage, and once a second at what the system logs where
    there is none."""

    def __init__(self, system: System, directory: ServerDirectory, label: str) -> None:
        self._system = system
        self._directory = directory
        self._label = label
        self._end = threading.Event()
        self._thread = threading.Thread(target=self._watch, name="space watch", daemon=True)
        self._least: deque[tuple[int, Space]] = deque(maxlen=_LATELY_S)
        """Of each second in which it was looked."""
        self.reason: str | None = None
        """What the system logged when it was ended; None: it never waited."""

    def least(self) -> Space | None:
        """The least there was in the last seconds; None where it is not known."""
        self._look()
        now_s = time.monotonic()
        lately = [space for second, space in list(self._least) if second > now_s - _LATELY_S]
        return min(lately, key=lambda space: space.free_share, default=None)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._end.set()
        self._thread.join()

    def _watch(self) -> None:
        asked_s = time.monotonic()
        while not self._end.wait(_LOOK_EVERY_S):
            space = self._look()
            if time.monotonic() - asked_s < _ASK_EVERY_S:
                continue
            asked_s = time.monotonic()
            if space is None or not space.is_scarce or not isinstance(self._system, WaitsForSpace):
                continue
            said = self._system.why_waiting(self._directory)
            if said is not None:
                self.reason = f"{self._label} waits for free space: {said}"
                process_table.kill_tagged(identity_of(self._directory))
                return

    def _look(self) -> Space | None:
        space, second = self._space(), int(time.monotonic())
        if space is None:
            return None
        if not self._least or self._least[-1][0] != second:
            self._least.append((second, space))
        elif space.free_share < self._least[-1][1].free_share or not space.has_free_files:
            self._least[-1] = (second, space)
        return space

    def _space(self) -> Space | None:
        """Of the storage of the data; of that of the log where a smaller share of it is free."""
        on = self._directory
        of_data = space_of(on.root)
        of_log = space_of(on.log) if on.log else None
        if of_log is None or (of_data is not None and of_data.free_share <= of_log.free_share):
            return of_data
        return replace(of_log, of_log=on.log_storage.name if on.log_storage else "")
