"""The contract of a way to make a backup, and the values it uses."""

from __future__ import annotations

from contextlib import AbstractContextManager
from pathlib import Path
from typing import Protocol

from msgspec import Struct

from assay.contracts.dialects.protocol import Table
from assay.contracts.systems.protocol import ServerDirectory, System
from assay.errors import Bug
from assay.experiment import StorageChoice, SystemChoice
from assay.lab.pool import PooledSystem


class BackupSubject(Struct, frozen=True):
    """What is backed up."""

    pooled: PooledSystem
    tables: tuple[Table, ...]
    """All that its database holds."""
    folder: Path
    """Where the backup goes; it does not exist before."""

    @property
    def directory(self) -> ServerDirectory:
        found = self.pooled.directory
        if found is None:
            raise Bug(f"{self.pooled.deployment.label} is not a private server")
        return found


class Made(Struct, frozen=True):
    """A backup."""

    size_bytes: int
    shares_blocks: bool


class AtWork(Protocol):
    """The clients that work while a backup is made."""

    def without_sessions(self) -> AbstractContextManager[None]:
        """While the block runs, no session is open."""
        ...


class Way(Protocol):
    def why_refused(
        self, system: System, choice: SystemChoice, storage: StorageChoice
    ) -> str | None:
        """Why the system on that storage cannot be backed up in this way, as far as that is known
        before it is started; None: it can."""
        ...

    def make(self, subject: BackupSubject, meanwhile: AtWork) -> Made:
        """Makes the backup while the clients of ``meanwhile`` work."""
        ...

    def restore(self, subject: BackupSubject) -> int:
        """Takes the data away, then brings them back and the system up. Returns when the second
        began (``time.monotonic_ns``)."""
        ...
