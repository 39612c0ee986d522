"""Takes ``sqlite:///file``; returns the path of the file."""

from __future__ import annotations

import shlex
from pathlib import Path

from assay.contracts.server_url import Resolved
from assay.systems import file_url
from assay.systems.file_url import FileKind

SCHEMES = ("sqlite", "sqlite3")


def file_of(url: str) -> Path:
    """See `assay.systems.file_url`."""
    return file_url.file_of(url, _KIND)


def absolute(url: str) -> Resolved:
    """See `assay.systems.file_url`."""
    return file_url.absolute(url, _KIND)


_KIND = FileKind(
    SCHEMES[0],
    "SQLite",
    # An empty file is an empty database.
    is_one=lambda head: not head or head == b"SQLite format 3\0",
    making=lambda file: f"touch {shlex.quote(str(file))}",
)
