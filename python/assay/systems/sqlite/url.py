"""Takes ``sqlite:///file``; returns the path of the file."""

from __future__ import annotations

import shlex
from pathlib import Path

from assay.systems import file_url

SCHEMES = ("sqlite", "sqlite3")


def file_of(url: str) -> Path:
    """See `assay.systems.file_url`."""
    return file_url.file_of(url, SCHEMES[0], _making)


def _making(file: str) -> str:
    return f'sqlite3 {shlex.quote(file)} "VACUUM"'
