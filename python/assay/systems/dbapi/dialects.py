"""The dialects that a DB-API module can speak, with the one bulk load that DB-API has: INSERT by
``cursor.executemany``."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any, Final, cast

from assay.dialects.mysql import MYSQL
from assay.dialects.only_standard import ONLY_STANDARD
from assay.dialects.postgresql import POSTGRESQL
from assay.dialects.protocol import Dialect, Table
from assay.dialects.sqlite import SQLITE
from assay.dialects.standard import StandardSql

DIALECTS: Final[Mapping[str, StandardSql]] = {
    one.name: one for one in (MYSQL, ONLY_STANDARD, POSTGRESQL, SQLITE)
}

VERSION_QUERIES: Final[Mapping[str, str]] = {
    "mysql": "SELECT version()",
    "postgresql": "SELECT version()",
    "sqlite": "SELECT 'SQLite ' || sqlite_version()",
}
"""What asks a server for its name and version."""


class _ByRows:
    """There is no bulk load but INSERT."""

    bulk_form = "multi-row"

    def bulk_statement(self: Any, table: Table) -> str:
        return str(self.insert(table))

    def multi_row_statement(self: Any, table: Table) -> str | None:
        return str(self.insert(table))


@cache
def loaded_by_insert(name: str) -> StandardSql:
    """The dialect of that name, whose rows are loaded by INSERT."""
    inner = type(DIALECTS[name])
    made: Any = type(inner.__name__, (_ByRows, inner), {})()
    return cast(StandardSql, made)


def begin_statement(dialect: Dialect) -> str:
    """What begins a transaction; empty where the connection does, as PEP 249 has it."""
    if isinstance(dialect, StandardSql) and dialect.begins_implicitly:
        return ""
    return next(iter(dialect.begin()), "")
