"""Where a record file was opened, and whether it is still there: a file that was moved or deleted
stays open, and what is written to it is not found again."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Self

_OPEN_FILES = Path("/proc/self/fd")


@dataclass(frozen=True)
class FilePlace:
    """A file that this process has open, as it was found at its path."""

    path: Path
    identity: tuple[int, int]
    """Device and inode."""

    @classmethod
    def of(cls, path: Path) -> Self:
        whole = path.absolute()
        found = _identity(whole)
        return cls(whole, found or (0, 0))

    def is_there(self) -> bool:
        """Whether the path is still that of the open file."""
        return _identity(self.path) == self.identity

    def now(self) -> Path | None:
        """The path of the open file now; None where it was deleted."""
        for one in _OPEN_FILES.iterdir():
            if _identity(one) == self.identity:
                found = one.readlink()
                return found if _identity(found) == self.identity else None
        return None

    def remove_log(self) -> None:
        """Removes what the library has left beside a file that is no longer there, unless another
        file has taken its place."""
        if not os.path.lexists(self.path):
            for ending in ("-wal", "-shm"):
                Path(f"{self.path}{ending}").unlink(missing_ok=True)


def _identity(path: Path) -> tuple[int, int] | None:
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_dev, found.st_ino
