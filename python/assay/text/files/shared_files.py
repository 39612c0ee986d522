"""Takes the path of a file that this process may have open, such as a record or a database; returns
its first bytes.

A process loses all its locks of a file (POSIX locks, see fcntl(2)) when it closes any descriptor of
that file. Database libraries take such locks: after `open` and `close` of a database in use,
another process may write at the same time, which destroys the file. So a file that is open here is
read through the descriptor that is there, and is opened only where there is none. Databases of this
process are opened while `opening` is held, so that none is opened in between.
"""

from __future__ import annotations

import errno
import fcntl
import os
import stat
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO

opening = threading.RLock()
"""Held while a database file is opened by its library, and while a file is read here."""
_DESCRIPTORS = "/proc/self/fd"
_READ = os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC
"""Opening a pipe without a writer would wait for one."""


def is_open_here(path: Path) -> bool:
    """Whether this process has the file open for reading, by whatever name."""
    with suppress(OSError):
        return _descriptor(path.stat()) is not None
    return False


def read(path: Path, most_bytes: int) -> tuple[os.stat_result, bytes]:
    """What stands at the path, and its first bytes where it is a regular file: all of a shorter
    one. Raises `OSError`."""
    with opening:
        while (number := _descriptor(path.stat())) is not None:
            with suppress(OSError):  # closed meanwhile by another thread
                status, content = _beginning(number, most_bytes)
                if os.path.samestat(os.fstat(number), status):
                    return status, content
        number = os.open(path, _READ)
        try:
            return _beginning(number, most_bytes)
        finally:
            os.close(number)


@contextmanager
def opened(path: Path) -> Iterator[IO[bytes]]:
    """A file to be read in pieces; none that this process has open. Raises `OSError`."""
    with opening:
        if is_open_here(path):
            raise OSError(errno.EBUSY, os.strerror(errno.EBUSY), path)
        file = os.fdopen(os.open(path, _READ), "rb")
    with file:
        yield file


def _beginning(descriptor: int, most_bytes: int) -> tuple[os.stat_result, bytes]:
    status, content = os.fstat(descriptor), b""
    if stat.S_ISREG(status.st_mode):
        # Without moving the position, which belongs to the one who opened it.
        while chunk := os.pread(descriptor, most_bytes - len(content), len(content)):
            content += chunk
    return status, content


def _descriptor(file: os.stat_result) -> int | None:
    """One by which this process can read the file."""
    with suppress(OSError):
        for number in map(int, os.listdir(_DESCRIPTORS)):  # noqa: PTH208  (numbers, no paths)
            with suppress(OSError):  # that of the list itself, or closed meanwhile
                if os.path.samestat(os.fstat(number), file) and _can_read(number):
                    return number
    return None


def _can_read(descriptor: int) -> bool:
    flags = fcntl.fcntl(descriptor, fcntl.F_GETFL)
    return flags & os.O_ACCMODE != os.O_WRONLY and not flags & os.O_PATH
