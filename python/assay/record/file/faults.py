"""Takes what the file's library says of a record; returns the error that a person can act on: a
disk that is full, a file that is damaged, or one that cannot be used."""

from __future__ import annotations

import json
import os
import resource
import sqlite3
from pathlib import Path

from assay.errors import ArgumentError, AssayError, SystemUnderTestError
from assay.text.paths import is_folder
from assay.text.phrases import phrase
from assay.text.units import size_word

OTHER_FILE = phrase("name another file with {--records}")
_A_COPY = phrase("use a copy of it; or {}", OTHER_FILE)
_ERROR, _READONLY, _IOERR, _CORRUPT, _FULL, _CANTOPEN, _NOTADB = 1, 8, 10, 11, 13, 14, 26
"""Primary result codes of SQLite, by its names."""
_DAMAGED = {_CORRUPT, _NOTADB, _ERROR, 0}
"""ERROR: a table or a column is missing; 0: text is not UTF-8."""
OF_CONTENT = (ValueError, TypeError, KeyError, AttributeError, IndexError)
"""What is raised where the content of a file is not what Assay wrote."""
_LEAST_ROOM_BYTES = 64 << 10


def library_error(error: sqlite3.Error | UnicodeDecodeError) -> sqlite3.Error:
    """The error of the library; of a damaged file its message may be no UTF-8."""
    if isinstance(error, sqlite3.Error):
        return error
    malformed = sqlite3.DatabaseError("database disk image is malformed")
    malformed.sqlite_errorcode = _CORRUPT
    return malformed


def not_read(error: sqlite3.Error, path: Path) -> AssayError:
    """The error of a query."""
    return damaged(error, path) if _result(error) in _DAMAGED else not_opened(error, path)


def not_opened(error: sqlite3.Error, path: Path) -> AssayError:
    """The error of a file that cannot be opened or prepared."""
    if is_full(error, path):
        return _full(path)
    return ArgumentError(
        f"{path}: expected a record file that can be read, found: {reason(error)}",
        hint=_A_COPY if _result(error) == _CORRUPT else OTHER_FILE,
    )


def not_opened_for_writing(error: sqlite3.Error, path: Path) -> AssayError:
    """The error of a file that is to be written."""
    if _result(error) in (_READONLY, _CANTOPEN):
        return no_folder(path) or _not_writable(path)
    if _result(error) == _IOERR:
        return not_written(error, path)
    return not_opened(error, path)


def locked(path: Path) -> AssayError:
    """The error of a file that another process holds."""
    return SystemUnderTestError(
        f"{path} is locked by another process", hint="try again when it has ended"
    )


def no_folder(path: Path) -> ArgumentError | None:
    """The error of a file that cannot be made because its folder does not exist; None: it does."""
    folder = path.absolute().parent
    if is_folder(folder):
        return None
    return ArgumentError(
        f"{path}: expected a record file that can be written, found no folder {folder}",
        hint=OTHER_FILE,
    )


def not_written(error: sqlite3.Error, path: Path) -> AssayError:
    """The error of a transaction that was rolled back."""
    if is_full(error, path):
        return _full(path)
    if _result(error) in (_READONLY, _CANTOPEN):
        return _not_writable(path)
    if _result(error) in _DAMAGED:
        return damaged(error, path)
    limit, _ = resource.getrlimit(resource.RLIMIT_FSIZE)
    if _result(error) == _IOERR and limit != resource.RLIM_INFINITY:
        return SystemUnderTestError(
            f"{path}: the record could not be written: {error}; this process may write files of up "
            f"to {size_word(limit)}",
            hint="everything written before is safe; raise the limit on the size of files: "
            "ulimit -f unlimited",
        )
    return SystemUnderTestError(
        f"{path}: the record could not be written: {error}",
        hint=phrase("everything written before is safe; {}", OTHER_FILE),
    )


def is_full(error: sqlite3.Error, path: Path) -> bool:
    """Whether the disk is full; SQLite reports an I/O error where a memory mapping failed for lack
    of space."""
    if _result(error) == _IOERR:
        try:
            room = os.statvfs(path.absolute().parent)
        except OSError:
            return False
        return room.f_bavail * room.f_frsize < _LEAST_ROOM_BYTES
    return _result(error) == _FULL


def _full(path: Path) -> AssayError:
    return SystemUnderTestError(
        f"{path}: the disk is full: the record could not be written",
        hint=phrase("everything written before is safe; free space there, or {}", OTHER_FILE),
    )


def _not_writable(path: Path) -> AssayError:
    return SystemUnderTestError(
        f"{path}: expected a record file that can be written",
        hint=phrase("change the permissions of the file and its folder, or {}", OTHER_FILE),
    )


def damaged(error: Exception, path: Path) -> ArgumentError:
    """The error of a file whose content is not what Assay wrote."""
    return ArgumentError(f"{path}: this record file is damaged: {reason(error)}", hint=_A_COPY)


def reason(error: Exception) -> str:
    """Without the content of the file, which can be long and is not text."""
    if isinstance(error, KeyError):
        return f"there is no {error}"
    if isinstance(error, UnicodeDecodeError):
        return "a text is not UTF-8"
    if isinstance(error, json.JSONDecodeError):
        return f"a document is not valid JSON: {error}"
    if isinstance(error, TypeError | AttributeError | IndexError):
        return "a value has another form than those that Assay writes"
    return str(error).partition(" with text '")[0]


def _result(error: sqlite3.Error) -> int:
    """The primary result code; 0 where there is none."""
    return int(getattr(error, "sqlite_errorcode", 0)) & 0xFF
