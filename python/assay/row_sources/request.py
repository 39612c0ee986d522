"""Which data a run wants."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
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
        """Equal keys mean equal rows: a deployment that holds them need not be loaded again."""
        source = None if self.origin == "generated" else self.source  # in its fingerprint already
        decisive = json.dumps([self.fingerprint, source], sort_keys=True)
        return hashlib.sha256(decisive.encode()).hexdigest()
