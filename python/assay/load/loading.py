"""How data sets are loaded and kept: what a user may say of it, and what is done otherwise."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

from assay.provision.deployment import Deployment
from assay.row_sources.request import DataRequest

_ROWS_PER_SESSION = 50_000
"""Fewer are sent before another session would have been opened."""


@dataclass(frozen=True)
class Loading:
    """What decides the way to the rows and not the rows."""

    sessions: int | None = None
    """That send rows at once, each a part of every table; None: as `sessions_for` finds."""
    is_verified: bool = False
    """Every table is read back and compared with what was made."""
    datasets: Path | None = None
    """The folder in which copies of loaded data outlive an experiment; None: none does."""

    def sessions_for(self, deployment: Deployment, request: DataRequest) -> int:
        """One for rows that are made one after the other, and for an embedded system, which has one
        writer. For a server as many as were asked for, else one for each two processors of this
        machine: a session keeps one of them busy in the server and a part of another one here. Few
        rows have one. With several, a table that is a heap holds the parts side by side, in an
        order that no two loads have in common."""
        if not request.is_divisible or deployment.is_embedded:
            return 1
        if self.sessions is not None:
            return self.sessions
        rows = sum((request.rows_expected or {}).values())
        pays = (os.cpu_count() or 1) // 2
        return max(1, min(pays, rows // _ROWS_PER_SESSION))


DEFAULT = Loading()
