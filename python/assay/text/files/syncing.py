"""Takes a directory; writes and flushes what its file system holds in memory, and no other one's.

A ``sync`` of the whole machine would wait for, and flush, the storages of systems under test.
"""

from __future__ import annotations

import ctypes
import os
from pathlib import Path

_LIBC = ctypes.CDLL(None, use_errno=True)


def sync_file_system(directory: Path) -> None:
    """``syncfs(2)``. Raises `OSError`."""
    opened = os.open(directory, os.O_RDONLY)
    try:
        if _LIBC.syncfs(opened) != 0:
            error = ctypes.get_errno()
            raise OSError(error, os.strerror(error), str(directory))
    finally:
        os.close(opened)
