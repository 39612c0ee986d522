"""Takes a folder of files, or a block device; reads them into the operating system's page cache, or
removes them from it, or only looks; returns how many bytes are there after that.

Only these files are concerned, so no privileges are needed. Of files that are removed no program
may have one open; pages remain where the file system is memory itself (tmpfs), and where another
program has them mapped. The whole machine's page cache is dropped by root alone.
"""

from __future__ import annotations

import ctypes
import mmap
import os
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from assay.errors import SystemUnderTestError
from assay.text.output_file import called_in_libc
from assay.text.phrases import phrase

_MAPPED_BYTES = 1 << 30
"""Of a file, at a time."""
_READ_BYTES = 1 << 20
"""In one request."""
_SYS_BLOCK = Path("/sys/block")
_DROP_CACHES = Path("/proc/sys/vm/drop_caches")
_FILES_AND_METADATA = "3\n"
"""Pages of files, and what the kernel keeps of directories and inodes (proc_sys_vm(5))."""


def drop_cached(path: Path) -> int:
    """Writes what is still to be written, then drops; returns the bytes that remained."""
    return sum(_drop(file) for file in _files(path))


def drop_cache_of_machine(path: Path) -> int:
    """The same after all that can be dropped has left the page cache of the machine. Raises
    `SystemUnderTestError` where it cannot."""
    os.sync()
    try:
        _DROP_CACHES.write_text(_FILES_AND_METADATA)
    except OSError as error:
        raise SystemUnderTestError(
            f"the page cache of the machine cannot be dropped: {error}",
            hint=phrase("as root, outside a container; or {--cache cold}, which needs no root"),
        ) from error
    return drop_cached(path)


def image_below(device: str) -> Path | None:
    """The file that a loop device stands on, where its pages are in the page cache as well: the
    device has no direct I/O."""
    loop = _SYS_BLOCK / Path(device).name / "loop"
    try:
        if (loop / "dio").read_text().strip() == "1":
            return None
        return Path((loop / "backing_file").read_text().rstrip("\n"))
    except OSError:
        return None


def can_drop_cache_of_machine() -> bool:
    return os.access(_DROP_CACHES, os.W_OK)


class InMemory(NamedTuple):
    """The files of a folder."""

    file_bytes: int
    cached_bytes: int
    """Of them, in the page cache."""


def read_into_cache(folder: Path) -> InMemory:
    """Reads every file, or this one; a program may have them open. Fewer bytes are cached than the
    files have where memory is short."""
    sizes = [_read(file) for file in _files(folder)]
    return InMemory(sum(sizes), sum(_cached(file).cached_bytes for file in _files(folder)))


def look_at_cache(folder: Path) -> InMemory | None:
    """What is in memory now; None where a file may not be opened."""
    try:
        found = [_cached(file) for file in _files(folder)]
    except OSError:
        return None
    return InMemory(sum(one.file_bytes for one in found), sum(one.cached_bytes for one in found))


def _read(file: Path) -> int:
    """The size of the file; 0 where it is gone."""
    size = 0
    buffer = bytearray(_READ_BYTES)
    try:
        with suppress(FileNotFoundError), file.open("rb", buffering=0) as opened:
            while count := opened.readinto(buffer):
                size += count
    except OSError as error:
        raise SystemUnderTestError(f"{file} cannot be read: {error.strerror}") from error
    return size


def _cached(file: Path) -> InMemory:
    """Nothing of a file that is gone."""
    with suppress(FileNotFoundError), file.open("rb") as opened:
        size_bytes = _size(opened.fileno())
        return InMemory(size_bytes, min(_cached_bytes(opened.fileno()), size_bytes))
    return InMemory(0, 0)


def _files(path: Path) -> Iterator[Path]:
    if not path.is_dir():
        yield path
    for parent, _, names in os.walk(path):
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
    size = _size(number)
    pages = 0
    for start in range(0, size, _MAPPED_BYTES):
        length = min(_MAPPED_BYTES, size - start)
        with mmap.mmap(number, length, access=mmap.ACCESS_COPY, offset=start) as mapped:
            pages += _resident_pages(mapped, length)
    return pages * mmap.PAGESIZE


def _size(number: int) -> int:
    """Of an open file or block device, whose `fstat` says 0."""
    return os.lseek(number, 0, os.SEEK_END)


def _resident_pages(mapped: mmap.mmap, length: int) -> int:
    resident = ctypes.create_string_buffer(-(-length // mmap.PAGESIZE))
    first = ctypes.c_char.from_buffer(mapped)
    try:
        called_in_libc("mincore", ctypes.byref(first), ctypes.c_size_t(length), resident)
    finally:
        del first  # a mapping cannot be closed while something points into it
    return resident.raw.translate(_LOWEST_BIT).count(1)


_LOWEST_BIT = bytes(byte & 1 for byte in range(256))
"""Of a byte of mincore(2): the page is in memory; the other bits have no meaning yet."""
