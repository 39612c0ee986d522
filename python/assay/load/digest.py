"""Takes a loaded table; returns its number of rows and a digest that does not depend on their
order.

Two systems with the same rows have the same digest: it represents the sorted dump of the table,
with each value in a form common to all systems.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from assay.contracts.deployment import Deployment
from assay.contracts.dialects.protocol import Dialect, Table
from assay.errors import RunFailed
from assay.provision.engine.session import session


def table_digest(deployment: Deployment, dialect: Dialect, table: Table) -> tuple[int, str]:
    """(rows, 16 hex digits) over all columns in the table's order."""
    statement = dialect.read_all(table.name, [column.name for column in table.columns])
    types = [column.type for column in table.columns]
    with session(deployment.address) as opened:
        return opened.digest(statement, types)


def table_digests(
    deployment: Deployment, dialect: Dialect, tables: Sequence[Table]
) -> dict[str, tuple[int, str]]:
    """`table_digest` by the name of the table."""
    return {table.name: table_digest(deployment, dialect, table) for table in tables}


def verify(
    deployment: Deployment,
    dialect: Dialect,
    tables: Sequence[Table],
    checksums: Mapping[str, str],
    on_stage: Callable[[str], None] = lambda _: None,
) -> None:
    """Reads every table back; raises `RunFailed` for the first whose rows are not those that were
    made (``checksums``: table → its digest, as the engine made them)."""
    for table in tables:
        on_stage(f"verify {table.name}")
        rows, found = table_digest(deployment, dialect, table)
        if found != checksums[table.name]:
            raise RunFailed(
                f"{deployment.label} holds different rows in {table.name} than it was sent: "
                f"the {rows} rows have the digest {found}, expected {checksums[table.name]}",
                hint="a type of this system may keep less than the declared type",
            )
