"""Takes a folder of files that no program has open; removes them from the operating system's page
cache, and returns how many bytes remained there.

Only these files are concerned, so no privileges are needed. Pages remain where the file system is
memory itself (tmpfs), and where another program has them mapped.
"""

from __future__ import annotations

import ctypes
import mmap
import os
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

_MAPPED_BYTES = 1 << 30
"""Of a file, at a time."""


def drop(folder: Path) -> int:
    """Writes what is still to be written, then drops; returns the bytes that remained."""
    return sum(_drop(file) for file in _files(folder))


def _files(folder: Path) -> Iterator[Path]:
    for parent, _, names in os.walk(folder):
        for name in names:
            file = Path(parent, name)
            if file.is_file() and not file.is_symlink():
                yield file


def _drop(file: Path) -> int:
    with suppress(FileNotFoundError), file.open("rb") as opened:
        number = opened.fileno()
        os.fsync(number)  # only pages that are already written can be dropped
        os.posix_fadvise(number, 0, 0, os.POSIX_FADV_DONTNEED)
        return _cached_bytes(number)
    return 0


def _cached_bytes(number: int) -> int:
    """Bytes of an open file in the page cache, in whole pages."""
    size = os.fstat(number).st_size
    pages = 0
    for start in range(0, size, _MAPPED_BYTES):
        length = min(_MAPPED_BYTES, size - start)
        with mmap.mmap(number, length, access=mmap.ACCESS_COPY, offset=start) as mapped:
            pages += _resident_pages(mapped, length)
    return pages * mmap.PAGESIZE


def _resident_pages(mapped: mmap.mmap, length: int) -> int:
    resident = ctypes.create_string_buffer(-(-length // mmap.PAGESIZE))
    first = ctypes.c_char.from_buffer(mapped)
    try:
        failed = _LIBC.mincore(ctypes.byref(first), ctypes.c_size_t(length), resident)
        if failed:
            raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
    finally:
        del first  # a mapping cannot be closed while something points into it
    return sum(byte & 1 for byte in resident.raw)


_LIBC = ctypes.CDLL(None, use_errno=True)
