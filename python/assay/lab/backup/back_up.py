"""Takes a loaded system and a way; makes a backup of it while clients work, restores it, and
compares what came back with what was there."""

from __future__ import annotations

import shutil
import time
from collections.abc import Callable, Sequence

from assay.contracts.dialects.protocol import SingleRows, Table
from assay.contracts.observation import BackupReport
from assay.errors import Bug, RunFailed, SystemRefused
from assay.lab.backup import meanwhile
from assay.lab.backup.flushing import flush
from assay.lab.backup.meanwhile import Meanwhile
from assay.lab.backup.way import BackupSubject, Way
from assay.lab.pool import PooledSystem
from assay.load.digest import table_digests
from assay.load.tables import drop

_FOLDER = "backup"


def observe(
    name: str,
    way: Way,
    pooled: PooledSystem,
    tables: Sequence[Table],
    on_stage: Callable[[str], None],
) -> BackupReport:
    """The system holds ``tables``; it is left with what was restored. Raises `RunFailed` where a
    program fails, and `SystemUnderTestError` where there is no room or the system does not come
    back."""
    dialect = pooled.system.dialect
    if pooled.directory is None or not isinstance(dialect, SingleRows):
        raise Bug(f"{pooled.deployment.label} cannot be backed up")
    subject = BackupSubject(pooled, (*tables, meanwhile.TABLE), pooled.directory.root / _FOLDER)
    source = table_digests(pooled.deployment, dialect, tables)
    meanwhile.create(pooled.deployment, dialect, dialect)
    try:
        flush(pooled.directory.root)  # what the load left unwritten is no part of the backup
        with Meanwhile(lambda: pooled.deployment.address, dialect, dialect) as clients:
            clients.forget()
            before = clients.writer.number
            on_stage(f"back up ({name})")
            began_ns = time.monotonic_ns()
            made = way.make(subject, clients)
            flush(subject.folder)
            backup_ns = time.monotonic_ns() - began_ns
            clients.wait_for_answers()
        on_stage(f"restore ({name})")
        began_ns = way.restore(subject)
        try:
            restored = meanwhile.last_written(pooled.deployment, dialect)
            restore_ns = time.monotonic_ns() - began_ns
            on_stage("compare")
            found = table_digests(pooled.deployment, dialect, tables)
        except (SystemRefused, RunFailed) as error:
            raise RunFailed(f"what was restored cannot be read: {error.message}") from error
        drop(pooled.deployment, dialect, (meanwhile.TABLE,))
    finally:
        shutil.rmtree(subject.folder, ignore_errors=True)
    return BackupReport(
        way=name,
        size_bytes=made.size_bytes,
        shares_blocks=made.shares_blocks,
        backup_ns=backup_ns,
        reads=clients.reader.answered(),
        writes=clients.writer.answered(),
        restore_ns=restore_ns,
        equals_source=found == source,
        lost_writes=max(0, before - restored),
        tables={table: rows for table, (rows, _) in found.items()},
    )
