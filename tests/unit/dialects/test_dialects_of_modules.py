"""Statements of the dialects that only DB-API modules reach; none was tried on a server."""

from __future__ import annotations

import pytest

from assay.contracts.dialects.protocol import Column, ForeignKey, Index, Table
from assay.dialects.bounded_indexes import BoundedIndexes
from assay.dialects.db2 import DB2
from assay.dialects.oracle import ORACLE
from assay.dialects.sqlserver import SQL_SERVER
from assay.errors import ArgumentError
from assay.systems.dbapi.dialects import INGRES

ERROR_CLASSES = {
    "too many connections", "authentication", "lost connection", "timeout", "deadlock",
    "serialization", "constraint", "syntax", "unknown object", "permission", "data", "resources",
}  # fmt: skip
DIALECTS = (DB2, INGRES, ORACLE, SQL_SERVER)
TABLE = Table(
    "order",
    (
        Column("id", "int", not_null=True, default="7"),
        Column("is_good", "bool", default="true"),
        Column("born", "date", default="2000-01-31"),
        Column("name", "varchar(9)"),
        Column("place", "text"),
        Column("story", "text", wide=True),
    ),
    primary_key=("id",),
    unique=(("name",), ("story",)),
    indexes=(
        Index("by_name", ("name",)),
        Index("by_story", ("story",)),
        Index("b", ("born",)),
        Index("by_place", ("place",)),
    ),
    foreign_keys=(
        ForeignKey("f1", ("id",), "t", ("id",)),
        ForeignKey("f2", ("name",), "u", ("n",)),
    ),
)


def test_types_defaults_and_reserved_names() -> None:
    assert ORACLE.create_table(TABLE, {}) == [
        'CREATE TABLE "order" (\n  id NUMBER(10) DEFAULT 7 NOT NULL,\n'
        "  is_good NUMBER(1) DEFAULT 1,\n  born DATE DEFAULT DATE '2000-01-31',\n"
        "  name VARCHAR2(9 CHAR),\n  place VARCHAR2(400 CHAR),\n"
        "  story CLOB,\n  PRIMARY KEY (id),\n  UNIQUE (name)\n)"
    ]
    assert DB2.create_table(TABLE, {}) == [
        "CREATE TABLE order (\n  id INTEGER DEFAULT 7 NOT NULL,\n"
        "  is_good BOOLEAN DEFAULT TRUE,\n  born DATE DEFAULT '2000-01-31',\n"
        "  name VARCHAR(9 CODEUNITS32),\n  place VARCHAR(400 CODEUNITS32),\n"
        "  story CLOB(16M CODEUNITS32),\n  PRIMARY KEY (id)\n)"
    ]
    assert SQL_SERVER.create_table(TABLE, {}) == [
        'CREATE TABLE "order" (\n  id INT DEFAULT 7 NOT NULL,\n  is_good BIT DEFAULT 1,\n'
        "  born DATE DEFAULT N'2000-01-31',\n  name NVARCHAR(9),\n  place NVARCHAR(400),\n"
        "  story NVARCHAR(MAX),\n"
        "  PRIMARY KEY (id),\n  UNIQUE (name)\n)"
    ]


@pytest.mark.parametrize("dialect", DIALECTS, ids=lambda one: one.name)
def test_indexes_stand_only_where_the_system_can_have_them(dialect: BoundedIndexes) -> None:
    made = " ".join(dialect.create_indexes(TABLE))
    assert "by_story" not in made, "a large object"
    assert "by_place" in made, "a text that an index holds whole"
    assert "INDEX b ON" in made
    assert ("by_name" in made) == dialect.needs_not_null_in_keys, "UNIQUE is an index already"
    assert len(dialect.add_foreign_keys(TABLE, {})) == 2


@pytest.mark.parametrize("dialect", DIALECTS, ids=lambda one: one.name)
def test_each_code_has_one_class_that_the_engine_knows(dialect: BoundedIndexes) -> None:
    assert set(dialect.error_classes.values()) <= ERROR_CLASSES
    assert all(code.strip() == code for code in dialect.error_classes)


def test_a_level_that_a_system_lacks_is_refused() -> None:
    with pytest.raises(ArgumentError, match="read uncommitted"):
        ORACLE.session_isolation("read uncommitted")
    assert DB2.session_isolation("serializable") == ["SET CURRENT ISOLATION = RR"]
    assert ORACLE.begin_at("serializable") == [
        "START TRANSACTION", "SET TRANSACTION ISOLATION LEVEL SERIALIZABLE",
    ]  # fmt: skip
