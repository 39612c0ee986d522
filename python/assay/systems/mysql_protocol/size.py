"""Takes a data directory; returns the bytes that its databases occupy, without the server's own."""

from __future__ import annotations

import os
import re
from pathlib import Path

from assay.provision.size import allocated_bytes

_OF_THE_SERVER = frozenset({"mysql", "performance_schema", "sys", "test"})
"""Databases that every server has; their 10 MB say nothing of what was loaded."""

_SHARED = {
    # System tablespace, undo and redo logs. The temporary tablespace (12 MB) is made anew at start.
    "innodb": r"ibdata\d+|undo\d+|ib_logfile\d+",
    "aria": r"aria_log\.\d+|aria_log_control",
}
"""Files beside the databases in which an engine keeps what belongs to all its tables."""

_BINARY_LOG = r"[^.]+\.\d{6}|[^.]+\.index"


def databases_bytes(data_directory: Path, engine: str) -> int:
    """The folders of all databases but the server's own, the files that the tables of this engine
    share, and binary logs; as the file system allocates them."""
    own = _SHARED.get(engine.lower())
    shared = re.compile(_BINARY_LOG if own is None else f"{own}|{_BINARY_LOG}")
    total = 0
    for entry in os.scandir(data_directory):
        if entry.is_dir(follow_symlinks=False):
            is_wanted = entry.name not in _OF_THE_SERVER
        else:
            is_wanted = shared.fullmatch(entry.name) is not None
        if is_wanted:
            total += allocated_bytes(Path(entry.path))
    return total
