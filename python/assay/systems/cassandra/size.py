"""Takes a deployment; returns the bytes of its tables in the files of its nodes.

What was written last is in memory and in the commit log. It is flushed to the tables' files first,
in the one way that a client has: for a moment each table has a flush period.
"""

from __future__ import annotations

import time

from assay.contracts.deployment import Deployment
from assay.provision.disk.size import allocated_bytes
from assay.provision.engine.engine_calls import Session
from assay.provision.engine.session import session
from assay.systems.answers import rows_of
from assay.systems.cassandra.agreement import KEYSPACE

_PERIOD_MS = 500
_TIMEOUT_S = 30.0

_USAGE = "SELECT mebibytes FROM system_views.disk_usage"
_TABLES = f"SELECT table_name FROM system_schema.tables WHERE keyspace_name = '{KEYSPACE}'"


def tables_bytes(deployment: Deployment) -> int:
    """Of the tables of the clients' keyspace with their indexes: of a private cluster on all nodes,
    of one by URL on that node, in whole MiB."""
    with session(deployment.address) as opened:
        if not deployment.is_private:
            where = f"keyspace_name = '{deployment.address.database}' ALLOW FILTERING"
            found = rows_of(opened, f"{_USAGE} WHERE {where}", columns=1) or ()
            return sum(int(row[0] or 0) for row in found) << 20
        names = [str(row[0]) for row in rows_of(opened, _TABLES, columns=1) or ()]
        _flush(opened, names)
    return _files_bytes(deployment)


def _flush(opened: Session, names: list[str]) -> None:
    for name in names:
        opened.execute(_every(name, _PERIOD_MS))
    time.sleep(2 * _PERIOD_MS / 1000)
    for name in names:
        opened.execute(_every(name, 0))


def _every(table: str, period_ms: int) -> str:
    """Sets the time between two flushes of the table; 0: the server decides."""
    return f'ALTER TABLE {KEYSPACE}."{table}" WITH memtable_flush_period_in_ms = {period_ms}'


def _files_bytes(deployment: Deployment) -> int:
    """Once the files have stopped to grow."""
    deadline = time.monotonic() + _TIMEOUT_S
    before = -1
    while (now := _now_bytes(deployment)) != before and time.monotonic() < deadline:
        before = now
        time.sleep(0.2)
    return now


def _now_bytes(deployment: Deployment) -> int:
    folders = [node.directory / "data" / KEYSPACE for node in deployment.nodes if node.directory]
    return sum(allocated_bytes(folder) for folder in folders if folder.exists())
