"""Takes a loaded deployment and the request it was loaded with; deletes all rows and inserts them
again, several times; returns the size of their files after each."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from msgspec import Struct

from assay.contracts.deployment import Deployment
from assay.contracts.dialects.protocol import Reclaims, Table
from assay.contracts.systems.abilities import HasTableFiles, Sized
from assay.contracts.systems.protocol import System
from assay.errors import Bug
from assay.load.digest import table_digests
from assay.load.fill import fill
from assay.load.row_sources.request import DataRequest
from assay.provision.engine.session import session


class Sizes(Struct, frozen=True):
    """Bytes of the files of the tables, in one cycle: of all files where a system keeps logs and
    catalogue in the same ones."""

    deleted_bytes: int
    reinserted_bytes: int


class Reused(Struct, frozen=True):
    loaded_bytes: int
    cycles: tuple[Sizes, ...]
    equals_load: bool
    """Whether the tables hold the same rows as after the load."""


def observe(
    deployment: Deployment,
    system: System,
    tables: Sequence[Table],
    request: DataRequest,
    cycles: int,
    *,
    reclaims: bool,
    on_stage: Callable[[str], None],
) -> Reused:
    """``reclaims``: the system's own statements give the space of deleted rows back, after each
    deletion. Raises `SystemRefused` and `RunFailed` where a statement fails."""
    size_bytes = table_files_bytes(system)
    if size_bytes is None:
        raise Bug(f"{system.name} does not report the size of its data")
    dialect = system.dialect
    loaded_bytes = size_bytes(deployment)
    source = table_digests(deployment, dialect, tables)
    found = []
    for cycle in range(1, cycles + 1):
        on_stage(f"delete all rows, and insert them again ({cycle} of {cycles})")
        deletes = [one for table in tables for one in dialect.delete_all(table.name)]
        _execute(deployment, [*dialect.begin(), *deletes, *dialect.commit()])
        if reclaims and isinstance(dialect, Reclaims):
            _execute(deployment, dialect.reclaim(tables))
        deleted_bytes = size_bytes(deployment)
        fill(deployment, dialect, tables, request.source)
        found.append(Sizes(deleted_bytes, size_bytes(deployment)))
    on_stage("compare")
    is_equal = table_digests(deployment, dialect, tables) == source
    return Reused(loaded_bytes, tuple(found), is_equal)


def table_files_bytes(system: System) -> Callable[[Deployment], int] | None:
    """What returns the bytes of the files of the tables, of all files where a system keeps logs and
    catalogue in the same ones; None where it does not report the size of its data."""
    if isinstance(system, HasTableFiles):
        return system.table_files_bytes
    return system.size_on_disk_bytes if isinstance(system, Sized) else None


def _execute(deployment: Deployment, statements: Sequence[str]) -> None:
    with session(deployment.address) as opened:
        for statement in statements:
            opened.execute(statement)
