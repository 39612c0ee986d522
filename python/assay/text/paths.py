"""Takes a path given by the user; says what is there, where the name is invalid or the path is not
accessible too, and reads its content: as text, or its first bytes."""

from __future__ import annotations

import errno
import fcntl
import hashlib
import os
import stat
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path
from typing import IO

from assay.errors import ExperimentError, InputError, ScriptError
from assay.text.phrases import nearest


def is_file(path: Path) -> bool:
    """Whether a file can be found there, links followed."""
    try:
        return path.is_file()
    except OSError:
        return False


def is_something_else(path: Path) -> bool:
    """Whether a pipe, a device or a socket stands there: no file, and no folder."""
    return exists(path) and not is_file(path) and not is_folder(path)


def is_folder(path: Path) -> bool:
    """Whether a folder can be found there, links followed."""
    try:
        return path.is_dir()
    except OSError:
        return False


def exists(path: Path) -> bool:
    """Whether anything can be found there."""
    try:
        return path.exists()
    except OSError:
        return False


def with_name(path: str) -> str:
    """As given; absolute where its last part is no name (``.``, ``..``), by which it is shown."""
    return path if Path(path).name not in ("", "..") else str(Path(path).resolve())


MOST_BYTES = 64 << 20
"""A longer file is refused."""
_BYTE_ORDER_MARK = "\ufeff"
"""Some editors write it at the beginning of a file."""

_KINDS = (
    (stat.S_ISDIR, "a folder"),
    (stat.S_ISFIFO, "a pipe, which can be read only once"),
    (stat.S_ISCHR, "a device"),
    (stat.S_ISBLK, "a device"),
    (stat.S_ISSOCK, "a socket"),
)
_REASONS = {
    errno.ENOENT: "there is no such file",
    errno.ELOOP: "it is a symbolic link in a loop of links",
    errno.EACCES: "you have no permission to",
}

FileErrorType = type[ExperimentError] | type[InputError] | type[ScriptError]


def read_text(file: Path, error: FileErrorType, *, most_bytes: int = MOST_BYTES) -> str:
    """The text of ``file``; raises ``error`` where it is no file, cannot be read, is too long or
    is not UTF-8."""
    try:
        content = _content(file, error, most_bytes)
    except OSError as reason:
        known = _REASONS.get(reason.errno or 0, reason.strerror)
        hint = _file_beside(file) if reason.errno == errno.ENOENT else None
        raise error(f"cannot be read: {known}", file=file, hint=hint) from reason
    except ValueError as reason:  # a name that no file can have
        raise error(f"cannot be read: {reason}", file=file) from reason
    return _text(content, file, error, most_bytes)


def text_digest(text: str) -> str:
    """SHA-256 of a text, by which it is known wherever it lies."""
    return hashlib.sha256(text.encode()).hexdigest()


def _file_beside(missing: Path) -> str | None:
    """The name that is most like that of a file which is not there, with the same ending."""
    try:
        beside = [one.name for one in missing.parent.iterdir() if one.suffix == missing.suffix]
    except (OSError, ValueError):
        return None
    meant = nearest(missing.name, beside)
    return f"did you mean {missing.with_name(meant)}?" if meant else None


@cache
def read_standard_input(error: FileErrorType) -> str:
    """The text of standard input, under the name ``<stdin>``; it is read once, and given to all who
    ask."""
    return _text(sys.stdin.buffer.read(MOST_BYTES + 1), "<stdin>", error, MOST_BYTES)


def _text(content: bytes, file: str | Path, error: FileErrorType, most_bytes: int) -> str:
    if len(content) > most_bytes:
        raise error(f"has more than {most_bytes >> 20} MiB: expected a shorter text", file=file)
    try:
        text = content.decode("utf-8")
    except UnicodeDecodeError as reason:
        begin = content.rfind(b"\n", 0, reason.start) + 1
        raise error(
            f"is not UTF-8 (byte {reason.start})",
            file=file,
            line=content.count(b"\n", 0, begin) + 1,
            column=len(content[begin : reason.start].decode()) + 1,
            hint="convert it to UTF-8",
        ) from reason
    return text.removeprefix(_BYTE_ORDER_MARK).replace("\r\n", "\n").replace("\r", "\n")


def shown_if_not_utf8(name: str | Path) -> str | None:
    """A file's name as it can be shown, where it is not UTF-8; None where it is. The record, the
    reports and the engine take names as text."""
    try:
        str(name).encode("utf-8")
    except UnicodeEncodeError:
        return os.fsencode(name).decode("utf-8", "backslashreplace")
    return None


def _content(file: Path, error: FileErrorType, most_bytes: int) -> bytes:
    status, content = read_beginning(file, most_bytes + 1)
    for is_kind, name in _KINDS:
        if is_kind(status.st_mode):
            raise error(
                f"is {name}: expected a file of text",
                file=file,
                hint="write the text into a file, and name that",
            )
    return content


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


def read_beginning(path: Path, most_bytes: int) -> tuple[os.stat_result, bytes]:
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
def opened_file(path: Path) -> Iterator[IO[bytes]]:
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
