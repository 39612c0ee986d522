"""Takes a loaded table; gives its number of rows and a digest that does not depend on their order.

Two systems that hold the same rows give the same digest: it stands for the sorted dump of the
table.
"""

from __future__ import annotations

from assay.dialects.protocol import Dialect, Table
from assay.provision.session import session
from assay.provision.site import Site


def table_digest(site: Site, dialect: Dialect, table: Table) -> tuple[int, str]:
    """(rows, 16 hex digits) over all columns in the table's order."""
    columns = ", ".join(dialect.identifier(column.name) for column in table.columns)
    with session(site.address) as opened:
        return opened.digest(f"SELECT {columns} FROM {dialect.identifier(table.name)}")
