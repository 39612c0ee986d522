"""Takes the standard streams that a client will get; refuses those with which it would do nothing,
or lose everything, and end with status 0."""

from __future__ import annotations

import errno
import os
import select
import stat
from collections.abc import Sequence
from pathlib import Path

from assay.cli.process.streams import OutputLost
from assay.errors import ArgumentError

_INPUT, _OUTPUT = 0, 1
_LONGEST_PATH = 4096
_FULL = Path("/dev/full")


def insist_on_sql(arguments: Sequence[str]) -> None:
    """Raises `ArgumentError` where the client would get no SQL: nothing on standard input and
    nothing among its arguments, or there a file that it does not read."""
    if arguments:
        word = arguments[0]
        if not word.startswith("-") and len(word) < _LONGEST_PATH and Path(word).is_file():
            raise ArgumentError(
                f"{word}: expected SQL on standard input, found a file among the arguments",
                hint=f"bibsql … < {word}",
            )
    elif _is_empty():
        raise ArgumentError(
            "expected SQL on standard input, found none", hint="bibsql … < file.sql"
        )


def insist_on_room() -> None:
    """Raises `OutputLost` where standard output is a file and its file system is full: some clients
    do not notice."""
    status = os.fstat(_OUTPUT)
    is_full = _is_device(status, _FULL)
    if stat.S_ISREG(status.st_mode):
        is_full = os.fstatvfs(_OUTPUT).f_bavail == 0
    if is_full:
        raise OutputLost(OSError(errno.ENOSPC, os.strerror(errno.ENOSPC)))


def _is_empty() -> bool:
    try:
        status = os.fstat(_INPUT)
    except OSError:  # closed
        return True
    if stat.S_ISREG(status.st_mode):
        return os.lseek(_INPUT, 0, os.SEEK_CUR) >= status.st_size
    if stat.S_ISFIFO(status.st_mode):
        # As long as the client itself would wait: for the first byte, or for the end.
        waiting = select.poll()
        waiting.register(_INPUT, select.POLLIN)
        return not any(event & select.POLLIN for _, event in waiting.poll())
    return _is_device(status, Path(os.devnull))


def _is_device(status: os.stat_result, device: Path) -> bool:
    return (
        stat.S_ISCHR(status.st_mode) and device.exists() and status.st_rdev == device.stat().st_rdev
    )
