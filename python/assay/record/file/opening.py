"""Takes the path of a record file; returns connections to it. The only place that opens one.

SQLite's locks are those of the process (see `assay.text.files.shared_files`), so the files of a
record are opened by SQLite, and here. `open` is used only to make a private copy of a file that
this process does not have open.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import sqlite3
import stat
import tempfile
from pathlib import Path
from typing import Literal
from urllib.parse import quote

from assay.text.files import shared_files

_LOG = ("-wal", "-shm")
Mode = Literal["rwc", "rw", "ro"]


def connect(path: Path, mode: Mode, *, timeout_s: float) -> sqlite3.Connection:
    """A connection in autocommit mode; ``rwc`` creates a file that is not there. Raises
    `sqlite3.Error`."""
    keep_log_writable(path)
    return _connect(path, f"mode={mode}", timeout_s)


def keep_log_writable(path: Path) -> None:
    """Lets all write the log of a record who may write the record, and its owner. SQLite makes the
    log with the mode of the record: after a look at a read-only one it would stay read-only, and
    the record could not be written when it is writable again."""
    with contextlib.suppress(OSError):
        real = path.resolve()
        wanted = stat.S_IMODE(real.stat().st_mode) | stat.S_IWUSR
        for end in _LOG:
            with contextlib.suppress(FileNotFoundError):
                log = Path(f"{real}{end}")
                mode = stat.S_IMODE(log.stat().st_mode)
                if wanted & ~mode:
                    log.chmod(mode | wanted)


def private() -> sqlite3.Connection:
    """A new temporary database, which SQLite removes with the connection."""
    return sqlite3.connect("", isolation_level=None)


def in_private(connection: sqlite3.Connection) -> sqlite3.Connection:
    """A copy in a temporary database."""
    copy = private()
    connection.backup(copy)
    copy.execute("PRAGMA journal_mode = MEMORY")
    return copy


def private_copy(path: Path) -> sqlite3.Connection | None:
    """A copy of a file beside which SQLite can make no files, with the transactions that a killed
    writer left in its log. None where this process has the file open. Raises `sqlite3.Error`."""
    with shared_files.opening:
        if shared_files.is_open_here(path):
            return None
        log = Path(f"{path}-wal")
        if not (log.exists() and log.stat().st_size):
            return _in_private(_connect(path, "immutable=1", 0))
        with tempfile.TemporaryDirectory(prefix="assay-records-") as folder:
            copy = Path(shutil.copyfile(path, Path(folder, "records")))
            shutil.copyfile(log, f"{copy}-wal")
            return _in_private(_connect(copy, "mode=rw", 0))


def _in_private(whole: sqlite3.Connection) -> sqlite3.Connection:
    try:
        return in_private(whole)
    finally:
        whole.close()


def _connect(path: Path, how: str, timeout_s: float) -> sqlite3.Connection:
    name = quote(os.fsencode(path.absolute()))
    with shared_files.opening:
        return sqlite3.connect(
            f"file:{name}?{how}", uri=True, timeout=timeout_s, isolation_level=None
        )
