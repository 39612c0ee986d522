"""Makes a backup that is kept while other steps change the data; restores it, and compares what
came back with what was there. No client works while one of the two is done."""

from __future__ import annotations

import contextlib
import shutil
import time
from collections.abc import Iterator, Mapping, Sequence

from msgspec import Struct

from assay.contracts.dialects.protocol import Table
from assay.errors import Bug, RunFailed, SystemRefused
from assay.lab.backup.flushing import flush
from assay.lab.backup.way import BackupSubject, Made, Way
from assay.lab.pool import PooledSystem
from assay.load.digest import table_digests


class _Nobody:
    """No clients work meanwhile."""

    @contextlib.contextmanager
    def without_sessions(self) -> Iterator[None]:
        yield


class KeptBackup(Struct, frozen=True):
    """A backup, and what it must bring back."""

    way: Way
    way_name: str
    subject: BackupSubject
    made: Made
    made_ns: int
    """Until it was on the storage."""
    source: Mapping[str, tuple[int, str]]
    """Table → its rows and their digest."""

    def restore(self) -> tuple[int, bool]:
        """How long it took until the first table was read, and whether every table has the rows
        that it had. The backup is gone afterwards."""
        pooled = self.subject.pooled
        dialect, tables = pooled.system.dialect, self.subject.tables
        try:
            began_ns = self.way.restore(self.subject)
            try:
                table_digests(pooled.deployment, dialect, tables[:1])
                took_ns = time.monotonic_ns() - began_ns
                found = table_digests(pooled.deployment, dialect, tables)
            except (SystemRefused, RunFailed) as error:
                raise RunFailed(f"what was restored cannot be read: {error.message}") from error
        finally:
            shutil.rmtree(self.subject.folder, ignore_errors=True)
        return took_ns, found == self.source


def make(
    name: str, way_name: str, way: Way, pooled: PooledSystem, tables: Sequence[Table]
) -> KeptBackup:
    """``name``: of its folder. Raises `RunFailed` where a program fails, `SystemUnderTestError`
    where there is no room or the system does not come back."""
    if pooled.directory is None:
        raise Bug(f"{pooled.deployment.label} cannot be backed up")
    folder = pooled.directory.root / f"backup-{name}"
    subject = BackupSubject(pooled, tuple(tables), folder)
    source = table_digests(pooled.deployment, pooled.system.dialect, tables)
    flush(pooled.directory.root)  # what the load left unwritten is no part of the backup
    began_ns = time.monotonic_ns()
    made = way.make(subject, _Nobody())
    flush(folder)
    made_ns = time.monotonic_ns() - began_ns
    return KeptBackup(way, way_name, subject, made, made_ns, source)
