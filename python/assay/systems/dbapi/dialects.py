"""The dialects that a DB-API module can speak, with the one bulk load that DB-API has: INSERT by
``cursor.executemany``. A dialect is a class, or a file (`dialect_file`)."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any, Final, cast

from assay import dialects as shelf
from assay import registry
from assay.contracts.dialects.protocol import Dialect, Table
from assay.dialects.cubrid import CUBRID
from assay.dialects.db2 import DB2
from assay.dialects.mysql import MYSQL
from assay.dialects.only_standard import ONLY_STANDARD
from assay.dialects.oracle import ORACLE
from assay.dialects.postgresql import POSTGRESQL
from assay.dialects.sqlite import SQLITE
from assay.dialects.sqlserver import SQL_SERVER
from assay.dialects.standard import StandardSql
from assay.errors import ArgumentError, ExperimentError
from assay.systems.dbapi import dialect_file
from assay.text.files import text_file

INGRES = dialect_file.read(Path(shelf.__file__).with_name("ingres.toml"))

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


_of_files: dict[str, StandardSql] = {}
"""Those of files that were named in this process, by their own names."""


def known() -> Mapping[str, StandardSql]:
    """Those above, and those of files, by name."""
    return {**_of_files, **DIALECTS}


def version_of(word: str) -> str:
    """What a dialect that is a file is now; empty for one that has a name, and for no file."""
    file = Path(word).absolute()
    if not word.endswith(dialect_file.SUFFIX) or not file.is_file():
        return ""
    return f"{file} {file.stat().st_mtime_ns}"


def content_of(word: str) -> str:
    """Digest of the text of a dialect that is a file; empty for one that has a name. Raises
    `ExperimentError` where it cannot be read."""
    if not word.endswith(dialect_file.SUFFIX):
        return ""
    return text_file.digest(text_file.read(Path(word), ExperimentError))


def of_word(word: str) -> StandardSql:
    """The dialect that stands behind a plus sign: a name, or the path of a file. Raises
    `ExperimentError` for what is wrong in a file, `ArgumentError` and `PluginFailed` as
    `registry.dialect_of_package`."""
    if not word.endswith(dialect_file.SUFFIX):
        return DIALECTS.get(word) or registry.dialect_of_package(word, DIALECTS)
    found = dialect_file.read(Path(word))
    if found.name in {**DIALECTS, **registry.dialects_of_packages()}:
        raise ArgumentError(
            f"{word}: the name {found.name!r} is that of another dialect",
            hint="give it a name of its own",
        )
    _of_files[found.name] = found
    return found


class _ByRows:
    """There is no bulk load but INSERT. Arrays are JSON: modules bind lists in their own ways."""

    bulk_form = "multi-row"
    array_of = StandardSql.array_of

    def bulk_statement(self: Any, table: Table) -> str:
        return str(self.insert(table))

    def multi_row_statement(self: Any, table: Table) -> str | None:
        return str(self.insert(table))


def loaded_by_insert(dialect: StandardSql) -> StandardSql:
    """The dialect, whose rows are loaded by INSERT."""
    return _loaded_by_insert(type(dialect))


@cache
def _loaded_by_insert(inner: type[StandardSql]) -> StandardSql:
    made: Any = type(inner.__name__, (_ByRows, inner), {})()
    return cast(StandardSql, made)


def begin_statement(dialect: Dialect) -> str:
    """What begins a transaction; empty where the connection does, as PEP 249 has it."""
    if isinstance(dialect, StandardSql) and dialect.begins_implicitly:
        return ""
    return next(iter(dialect.begin()), "")
