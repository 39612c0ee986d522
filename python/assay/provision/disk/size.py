"""Takes a file, or a folder that a server writes in; returns the bytes it occupies."""

from __future__ import annotations

import os
from pathlib import Path

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
