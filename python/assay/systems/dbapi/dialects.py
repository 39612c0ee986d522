"""The dialects that a DB-API module can speak, with the one bulk load that DB-API has: INSERT by
``cursor.executemany``."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any, Final, cast

from assay import registry
from assay.contracts.dialects.protocol import Dialect, Table
from assay.dialects.cubrid import CUBRID
from assay.dialects.db2 import DB2
from assay.dialects.ingres import INGRES
from assay.dialects.mysql import MYSQL
from assay.dialects.only_standard import ONLY_STANDARD
from assay.dialects.oracle import ORACLE
from assay.dialects.postgresql import POSTGRESQL
from assay.dialects.sqlite import SQLITE
from assay.dialects.sqlserver import SQL_SERVER
from assay.dialects.standard import StandardSql

DIALECTS: Final[Mapping[str, StandardSql]] = {
    one.name: one
    for one in (
        CUBRID,
        DB2,
        INGRES,
        MYSQL,
        ONLY_STANDARD,
        ORACLE,
        POSTGRESQL,
        SQL_SERVER,
        SQLITE,
    )
}


def spoken() -> Mapping[str, StandardSql]:
    """Those above, and those of other packages, by name."""
    return {**registry.dialects_of_packages(), **DIALECTS}


class _ByRows:
    """There is no bulk load but INSERT. Arrays are JSON: modules bind lists in their own ways."""

    bulk_form = "multi-row"
    array_of = StandardSql.array_of

    def bulk_statement(self: Any, table: Table) -> str:
        return str(self.insert(table))

    def multi_row_statement(self: Any, table: Table) -> str | None:
        return str(self.insert(table))


@cache
def loaded_by_insert(name: str) -> StandardSql:
    """The dialect of that name, whose rows are loaded by INSERT."""
    inner = type(spoken()[name])
    made: Any = type(inner.__name__, (_ByRows, inner), {})()
    return cast(StandardSql, made)


def begin_statement(dialect: Dialect) -> str:
    """What begins a transaction; empty where the connection does, as PEP 249 has it."""
    if isinstance(dialect, StandardSql) and dialect.begins_implicitly:
        return ""
    return next(iter(dialect.begin()), "")
