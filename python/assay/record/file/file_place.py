"""Where a record file was opened, and whether it is still there and whole: a file that was moved,
deleted or emptied stays open, and what is written to it is not found again."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path
from typing import Literal, Self

from msgspec import Struct

_OPEN_FILES = Path("/proc/self/fd")
_LOG, _INDEX = "-wal", "-shm"
"""The endings of SQLite's files beside a record that is open."""

Identity = tuple[int, int]
"""Device and inode."""


class FilePlace(Struct):
    """A file that this process has open, as it was found at its path."""

    path: Path
    identity: Identity
    _log: Identity | None = None

    @classmethod
    def of(cls, path: Path) -> Self:
        whole = path.absolute()
        found = _identity(whole)
        return cls(whole, found or (0, 0))

    def loss(self) -> Literal["", "gone", "emptied"]:
        """What happened to the open file: nothing; it is no longer at its path; or it is there, and
        its content was removed (``truncate -s 0``)."""
        if _identity(self.path) != self.identity:
            return "gone"
        if self.path.stat().st_size == 0:
            return "emptied"
        # SQLite removes the log of an empty file that it opens: then another process has begun a
        # new record in the emptied file, which does not know of our log.
        log = _identity(f"{self.path}{_LOG}")
        self._log = self._log or log
        return "" if log == self._log else "emptied"

    def now(self) -> Path | None:
        """The path of the open file now; None where it was deleted."""
        for number in _open_numbers(self.identity):
            with suppress(OSError):
                found = (_OPEN_FILES / str(number)).readlink()
                return found if _identity(found) == self.identity else None
        return None

    def remove_log(self) -> None:
        """Removes what the library has left beside a file that is no longer there, unless another
        file has taken its place."""
        if not os.path.lexists(self.path):
            self._remove(_LOG, _INDEX)

    def empty_log(self) -> None:
        """Of an emptied file: SQLite must not write parts of the old content into it from the log
        when it is closed. The log is removed, unless another process has put its own there."""
        for number in _open_numbers(self._log):
            with suppress(OSError):
                os.ftruncate(number, 0)
        if _identity(f"{self.path}{_LOG}") == self._log:
            self._remove(_LOG, _INDEX)

    def _remove(self, *endings: str) -> None:
        for ending in endings:
            Path(f"{self.path}{ending}").unlink(missing_ok=True)


def _open_numbers(identity: Identity | None) -> list[int]:
    """The descriptors that this process has of the file."""
    return [
        int(one.name) for one in _OPEN_FILES.iterdir() if _identity(one) == identity is not None
    ]


def _identity(path: Path | str) -> Identity | None:
    try:
        found = os.stat(path)  # noqa: PTH116  # before and after each change of a record
    except OSError:
        return None
    return found.st_dev, found.st_ino
