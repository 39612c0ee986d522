"""What dialects that were tried on no server here make of each construct that tables of workloads
have; ``constructs.sql`` beside this file has what was checked by hand."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from assay import registry
from assay.contracts.dialects import Column, Dialect, ForeignKey, Index, Table
from assay.dialects.cubrid import CUBRID
from assay.dialects.db2 import DB2
from assay.dialects.oracle import ORACLE
from assay.dialects.sqlserver import SQL_SERVER
from assay.systems.dbapi.dialects import INGRES
from assay.workload.reader import read

EXPECTED = Path(__file__).with_name("constructs.sql")
PLAIN = Table("t", (Column("c", "int"),))
WHOLE = Table(
    "order",
    (
        Column("data", "int", not_null=True, default="7"),
        Column("is_good", "bool", default="true"), Column("born", "date", default="2000-01-31"),
        Column("name", "varchar(9)"), Column("place", "text"), Column("story", "text", wide=True),
        Column("at", "timestamp"), Column("raw", "bytes"),
    ),
    primary_key=("data",),
    unique=(("name",), ("story",)),
    indexes=(
        Index("by_name", ("name",)),
        Index("by_story", ("story",)),
        Index("by_place", ("place",)),
        Index("b", ("born", "at"), descending=frozenset({"at"})),
    ),
    foreign_keys=(
        ForeignKey("f1", ("data",), "t", ("id",)),
        ForeignKey("f2", ("name",), "u", ("n",)),
    ),
)  # fmt: skip
DIALECTS = (CUBRID, DB2, INGRES, ORACLE, SQL_SERVER)


def _constructs() -> Iterator[tuple[str, Table]]:
    """A table for each kind of column, of the shortest and the longest type, in each role."""
    found: dict[tuple[object, ...], dict[tuple[int, ...], Table]] = {}
    for name in registry.workloads():
        for table in read(name).tables_for({}, "sql"):
            for column in table.columns:
                for role in _roles(table, column.name):
                    lengths = tuple(map(int, re.findall(r"\d+", column.type)))
                    kind = (column.family, column.not_null, column.wide, column.default, role)
                    lengthwise = found.setdefault(kind, {})
                    lengthwise.setdefault(lengths, _table(column, role))
    for kind in sorted(found, key=str):
        lengthwise = found[kind]
        for lengths in sorted({min(lengthwise), max(lengthwise)}):
            made = lengthwise[lengths]
            (column,) = made.columns
            words = [
                column.type,
                "not null" * column.not_null,
                "wide" * column.wide,
                f"default {column.default!r}" if column.default is not None else "",
                str(kind[-1]),
            ]
            yield " ".join(filter(None, words)), made


def _roles(table: Table, column: str) -> Iterator[str]:
    if column in table.primary_key:
        yield "in the primary key"
    if any(column in unique for unique in table.unique):
        yield "unique"
    for index in table.indexes:
        if column in index.columns:
            order = ", descending" if column in index.descending else ""
            yield f"in a unique index{order}" if index.unique else f"in an index{order}"
    if any(column in key.columns for key in table.foreign_keys):
        yield "in a foreign key"
    yield ""


def _table(column: Column, role: str) -> Table:
    renamed = Column("c", column.type, column.not_null, column.wide, column.default)
    is_descending = role.endswith("descending")
    index = Index("i", ("c",), "unique index" in role, frozenset({"c"} if is_descending else ()))
    return Table(
        "t",
        (renamed,),
        primary_key=("c",) if role == "in the primary key" else (),
        unique=(("c",),) if role == "unique" else (),
        indexes=(index,) if "index" in role else (),
        foreign_keys=(ForeignKey("f", ("c",), "u", ("d",)),) if "foreign" in role else (),
    )


def _statements(dialect: Dialect, table: Table) -> list[str]:
    made = dialect.create_table(table, {})
    made += [*dialect.create_indexes(table), *dialect.add_foreign_keys(table, {})]
    return [" ".join(one.split()) for one in made]


def test_each_construct_is_spelled_as_expected(request: pytest.FixtureRequest) -> None:
    lines = [
        "-- a table is dropped, and looked at after its load",
        *(
            f"{one.name}: {'; '.join([*one.drop_table(PLAIN), *one.after_load([PLAIN])])}"
            for one in DIALECTS
        ),
    ]
    for words, table in [("all of them in one table", WHOLE), *_constructs()]:
        lines.append(f"-- {words}")
        by_text: dict[str, list[str]] = {}
        for dialect in DIALECTS:
            by_text.setdefault("; ".join(_statements(dialect, table)), []).append(dialect.name)
        lines += [f"{', '.join(names)}: {text}" for text, names in by_text.items()]
    text = "\n".join([*lines, ""])
    if request.config.getoption("--keep-outputs"):
        EXPECTED.write_text(text, encoding="utf-8")
    assert text == EXPECTED.read_text(encoding="utf-8")
