"""Options of the load: sessions, verification, and the folder of copies, with their defaults."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec import Struct

from assay.contracts.deployment import Deployment

if TYPE_CHECKING:
    from assay.load.row_sources.request import DataRequest

_ROWS_PER_SESSION = 50_000
"""With fewer rows per session, another session does not pay."""


class Loading(Struct, frozen=True):
    """Options that determine how rows are loaded, not which rows."""

    sessions: int | None = None
    """Sessions that load concurrently, each a part of every table; None: `sessions_for` decides."""
    is_verified: bool = False
    """Whether every table is read back and compared with the generated rows."""
    datasets: Path | None = None
    """The folder in which copies of loaded data are kept after an experiment; None: none are
    kept."""

    def sessions_for(self, deployment: Deployment, request: DataRequest) -> int:
        """The number of sessions to load with. 1 for rows that cannot be divided and for an
        embedded system, which has one writer. For a server the number given, else one per two
        processors of this machine, because a session keeps one busy in the server and part of
        another in the client; few rows get 1. With several sessions the order of rows in a heap
        table differs from load to load."""
        if not request.is_divisible or deployment.is_embedded:
            return 1
        if self.sessions is not None:
            return self.sessions
        rows = sum((request.rows_expected or {}).values())
        pays = (os.cpu_count() or 1) // 2
        return max(1, min(pays, rows // _ROWS_PER_SESSION))


DEFAULT = Loading()
