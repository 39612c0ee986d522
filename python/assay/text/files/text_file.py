"""Takes the path of a text file; returns its text, or says what is wrong with it."""

from __future__ import annotations

import errno
import hashlib
import os
import stat
import sys
from functools import cache
from pathlib import Path

from assay.errors import ExperimentError, InputError, ScriptError
from assay.text.files import shared_files
from assay.text.nearest import nearest

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

Error = type[ExperimentError] | type[InputError] | type[ScriptError]


def read(file: Path, error: Error, *, most_bytes: int = MOST_BYTES) -> str:
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


def digest(text: str) -> str:
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
def standard_input(error: Error) -> str:
    """The text of standard input, under the name ``<stdin>``; it is read once, and given to all who
    ask."""
    return _text(sys.stdin.buffer.read(MOST_BYTES + 1), "<stdin>", error, MOST_BYTES)


def _text(content: bytes, file: str | Path, error: Error, most_bytes: int) -> str:
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


def _content(file: Path, error: Error, most_bytes: int) -> bytes:
    status, content = shared_files.read(file, most_bytes + 1)
    for is_kind, name in _KINDS:
        if is_kind(status.st_mode):
            raise error(
                f"is {name}: expected a file of text",
                file=file,
                hint="write the text into a file, and name that",
            )
    return content
