"""What a system was filled with: which rows from where, and what that cost."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class DataRequest:
    """Which data a run wants: everything that decides the rows, and nothing else."""

    source: Mapping[str, Any]
    """The document the engine takes; its ``kind`` says who makes the rows."""
    origin: str
    """``real``, ``synthetic`` or ``files``: where the data come from, said in every report."""
    description: str
    fingerprint: str
    """Digest of the content of the input, before replication."""
    entries: int
    """Of the input, before replication."""
    bytes_total: int = 0
    """Bytes of input that are read to make all rows, for progress; 0: nobody knows."""
    problems: tuple[Mapping[str, Any], ...] = ()
    """What the reader found wrong and passed over or warned of; each with file, line, column."""
    skipped_entries: int = 0
    replicas: int = 1
    variant: str = "full"
    rows_expected: Mapping[str, int] | None = None
    """Table → its number of rows, where that is known before any row is made."""

    @property
    def key(self) -> str:
        """Equal keys mean equal rows: a site that holds them need not be loaded again."""
        source = None if self.origin == "generated" else self.source  # in its fingerprint already
        decisive = json.dumps([self.fingerprint, source], sort_keys=True)
        return hashlib.sha256(decisive.encode()).hexdigest()


@dataclass(frozen=True)
class Dataset:
    """The rows in a site, counted there."""

    request: DataRequest
    rows: Mapping[str, int]
    """Rows per table, as the system counts them."""
    bytes_sent: int
    schema_ns: int
    load_ns: int
    index_ns: int
    analyze_ns: int
    size_on_disk_bytes: int
    options: Mapping[str, str] = field(default_factory=dict)
    foreign_keys_ns: int = 0
    data_bytes: int = 0
    """Of tables and indexes, without logs and catalogue."""
    sessions: int = 1
    """That sent rows at once, each in a transaction of its own."""
    checksums: Mapping[str, str] = field(default_factory=dict)
    """Table → digest of its rows, where it was read back and found equal (``--verify``)."""
    how: str = "loaded"
    """``loaded``, or ``restored`` from a copy of what was loaded before; the times of the load are
    then those of that time."""
    restore_ns: int = 0
    """For stopping the server, copying, and starting it."""
    buffer_bytes: int | None = None
    """Of the server's buffer as it was sized from the data; None: it was not."""
    data_to_buffer: float | None = None
    """How many times the size of that buffer the data have."""

    def for_record(self) -> dict[str, Any]:
        """Plain data, as `record` keeps it."""
        left_out = {"source", "rows_expected"}
        request = {key: one for key, one in vars(self.request).items() if key not in left_out}
        own = {key: value for key, value in vars(self).items() if key != "request"}
        return {
            **own,
            **request,
            "source": self.request.origin,
            "files": list(self.request.source.get("files", [])),
        }
