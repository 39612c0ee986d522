"""Checks what the process inherits: its umask, working directory, time zone and limit of memory,
/proc, and the encoding of its arguments; says what the operating system refused."""

from __future__ import annotations

import errno
import os
import resource
import sys
from collections.abc import Iterable
from datetime import datetime
from pathlib import Path

from assay.errors import ArgumentError, AssayError, MachineLimit
from assay.text.files.text_file import shown_if_not_utf8
from assay.text.units import size

_OWN_RIGHTS = 0o700
_PROC = Path("/proc/self")
_OF_A_NAME = {
    errno.EACCES: "permission denied",
    errno.EPERM: "permission denied",
    errno.EISDIR: "it is a directory",
    errno.ELOOP: "it is a symbolic link in a loop of links",
    errno.ENAMETOOLONG: "the name is too long",
    errno.ENOTDIR: "a part of the path is not a directory",
    errno.EROFS: "the file system is read-only",
}
"""What makes another path necessary: Assay never names one of these by itself."""
_OF_THE_MACHINE = {
    errno.EDQUOT: "the disk quota of this user is used up",
    errno.EFBIG: "a file reached the limit of the size of files",
    errno.EIO: "the device failed (input/output error)",
    errno.EMFILE: "this process has too many open files",
    errno.ENFILE: "this machine has too many open files",
    errno.ENODEV: "there is no such device",
    errno.ENOSPC: "the disk is full",
    errno.ENXIO: "there is no such device",
    errno.ESTALE: "its file system is no longer there",
    errno.ETXTBSY: "it is a program that runs",
}
_TOO_MANY_DIGITS = "Exceeds the limit ("
"""The beginning of what `int` says of a text, and `str` of a number, that is too long."""
_NO_TEMPORARY = "No usable temporary directory"
"""The beginning of what `tempfile` says."""


def keep_own_rights() -> None:
    """Clears the owner's bits of the umask: with ``umask 777`` Assay could not open its own files.
    The bits of group and others stay."""
    mask = os.umask(0o077)
    os.umask(mask & ~_OWN_RIGHTS)


def cause_of(error: Exception) -> AssayError | None:
    """What about the process's surroundings explains an error; None: nothing."""
    if _has_no_working_directory():
        return ArgumentError(
            "the working directory has been removed", hint="cd to a directory that exists"
        )
    if isinstance(error, AssayError):
        return None
    if isinstance(error, MemoryError):
        return _no_memory()
    if isinstance(error, OSError) and not _PROC.exists():
        return MachineLimit(
            "expected the kernel's files in /proc, found none", hint="mount -t proc proc /proc"
        )
    if refused := _refused(error):
        return refused
    if isinstance(error, ValueError) and str(error).startswith(_TOO_MANY_DIGITS):
        return ArgumentError(
            f"expected numbers of at most {sys.get_int_max_str_digits():,} digits, found a longer "
            "one",
            hint="write a shorter number in the arguments, or in the file that they name",
        )
    if isinstance(error, ValueError) and _has_no_time_zone():
        return ArgumentError(
            f"expected a time zone less than 24 hours from UTC, found TZ={os.environ.get('TZ')}",
            hint="set TZ to a name such as Europe/Zurich or UTC, or unset it",
        )
    return None


def _refused(error: Exception) -> AssayError | None:
    """What the operating system refused to do with a file. None: a path that Assay should not have
    used, or another error."""
    # `Path.resolve` raises a RuntimeError in place of the error that says so.
    reason = error.__context__ if isinstance(error, RuntimeError) else error
    if not isinstance(reason, OSError):
        return None
    if str(reason.strerror).startswith(_NO_TEMPORARY):
        return MachineLimit(
            "expected a directory for temporary files, found none that can be written",
            hint="set TMPDIR to a directory that you may write",
        )
    number, path = reason.errno or 0, reason.filename
    place = f"{os.fsdecode(path)}: " if isinstance(path, str | bytes) else ""
    if number in _OF_A_NAME and place:
        return ArgumentError(f"{place}{_OF_A_NAME[number]}", hint="use another path")
    if number in _OF_THE_MACHINE:
        return MachineLimit(f"{place}{_OF_THE_MACHINE[number]}")
    return None


def _no_memory() -> MachineLimit:
    limit_bytes, _ = resource.getrlimit(resource.RLIMIT_AS)
    if limit_bytes == resource.RLIM_INFINITY:
        return MachineLimit("no memory is left", hint="stop other programs, or use less data")
    return MachineLimit(
        f"no memory is left: the limit of this process is {size(limit_bytes)} of address space",
        hint="`ulimit -v unlimited` removes the limit",
    )


def _has_no_time_zone() -> bool:
    try:
        datetime.now().astimezone()
    except ValueError:
        return True
    return False


def _has_no_working_directory() -> bool:
    """Whether the working directory has been removed, so that relative paths do not resolve."""
    try:
        os.getcwd()  # noqa: PTH109
    except FileNotFoundError:
        return True
    return False


def refuse_other_encodings(words: Iterable[str]) -> None:
    """Raises `ArgumentError` for an argument that is not UTF-8: records, reports and the engine
    hold names as text."""
    for word in words:
        if shown := shown_if_not_utf8(word):
            raise ArgumentError(
                f"expected arguments in UTF-8, found {shown}",
                hint="set LC_ALL=C.UTF-8, without PYTHONUTF8=0; rename a file whose name is in "
                "another encoding",
            )
