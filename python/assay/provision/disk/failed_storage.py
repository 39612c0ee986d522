"""Takes a directory on a storage; says whether its file system has failed since it was made.

After an error of its disk a file system takes no more changes: it can only be read then, has shut
itself down, or returns errors.
"""

from __future__ import annotations

import errno
import os
from pathlib import Path

_MOUNTS = Path("/proc/self/mountinfo")
_DEVICE = 2
_FAILED = {
    "ro": "can only be read",
    "emergency_ro": "can only be read",
    "shutdown": "has shut itself down",
}
"""Options of a file system, whatever those of its mounts, in the kernel's list."""


def why_failed(directory: Path, storage_name: str) -> str | None:
    """None while it can be written, as far as the kernel knows."""
    try:
        number = directory.stat().st_dev
    except OSError as error:
        if error.errno == errno.EIO:
            return f"the file system of the storage {storage_name} fails: {error.strerror}"
        return None
    for option in _options(f"{os.major(number)}:{os.minor(number)}"):
        if option in _FAILED:
            return (
                f"the file system of the storage {storage_name} {_FAILED[option]}: the kernel does "
                "that after an I/O error"
            )
    return None


def _options(device: str) -> set[str]:
    """Of the file system on a device (``7:3``)."""
    found: set[str] = set()
    for line in _MOUNTS.read_text(encoding="utf-8", errors="replace").splitlines():
        words = line.split(" ")
        if words[_DEVICE] == device:
            found.update(words[-1].split(","))
    return found
