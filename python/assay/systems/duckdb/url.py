"""Takes ``duckdb:///file``; returns the path of the file."""

from __future__ import annotations

import json
import shlex
import sys
from pathlib import Path

from assay.contracts.server_url import Resolved
from assay.errors import SystemMissing
from assay.systems import file_url
from assay.systems.duckdb import installation
from assay.systems.file_url import FileKind

SCHEMES = ("duckdb",)


def file_of(url: str) -> Path:
    """See `assay.systems.file_url`."""
    return file_url.file_of(url, _KIND)


def absolute(url: str) -> Resolved:
    """See `assay.systems.file_url`."""
    return file_url.absolute(url, _KIND)


def _making(file: Path) -> str:
    """By the Python package, in which the library usually is."""
    python = f"import duckdb; duckdb.connect({json.dumps(str(file))}).close()"
    command = f"{shlex.quote(sys.executable)} -c {shlex.quote(python)}"
    try:
        folder = installation.find_library().parent
    except SystemMissing:
        return command
    is_packaged = (folder / "duckdb").is_dir()
    return f"PYTHONPATH={shlex.quote(str(folder))} {command}" if is_packaged else command


_KIND = FileKind(
    SCHEMES[0],
    "DuckDB",
    # Behind a checksum.
    is_one=lambda head: head[8:12] == b"DUCK",
    making=_making,
)
