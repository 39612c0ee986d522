"""Takes a data directory; returns the bytes that its databases occupy, without the server's own,
or those of their tables alone."""

from __future__ import annotations

import os
import re
from pathlib import Path

from assay.provision.disk.size import allocated_bytes

_OF_THE_SERVER = frozenset({"mysql", "performance_schema", "sys", "test"})
"""Databases that every server has; their 10 MB say nothing of what was loaded."""

_BINARY_LOG = r"[^.]+\.\d{6}|[^.]+\.index"
_FOLDER_OF_FILES = "#"
"""A folder that is no database begins with it."""


def databases_bytes(data_directory: Path, shared_files: str | None) -> int:
    """The folders of all databases but the server's own, the files (and folders of files) that the
    tables of this engine share, and binary logs; as the file system allocates them."""
    both = [_BINARY_LOG] if shared_files is None else [shared_files, _BINARY_LOG]
    shared = re.compile("|".join(both))
    return table_files_bytes(data_directory) + sum(
        allocated_bytes(Path(entry.path))
        for entry in os.scandir(data_directory)
        if not _is_database(entry) and shared.fullmatch(entry.name)
    )


def table_files_bytes(data_directory: Path) -> int:
    """The folders of all databases but the server's own."""
    return sum(
        allocated_bytes(Path(entry.path))
        for entry in os.scandir(data_directory)
        if _is_database(entry) and entry.name not in _OF_THE_SERVER
    )


def _is_database(entry: os.DirEntry[str]) -> bool:
    return entry.is_dir(follow_symlinks=False) and not entry.name.startswith(_FOLDER_OF_FILES)
