"""The SQLite dialect's statements, tried with Python's own SQLite library."""

from __future__ import annotations

import sqlite3
from contextlib import closing

import pytest

from assay.contracts.dialects.protocol import Column, Index, Table
from assay.dialects.sqlite import SQLITE

TABLE = Table(
    name="strtab",
    columns=(
        Column("key", "text"),
        Column("order", "int"),
        Column("code", "char(6)"),
        Column("born", "date"),
        Column("price", "decimal(9,2)"),
        Column("entry", "text", not_null=True, wide=True),
    ),
    primary_key=("order",),
    unique=(("entry",),),
    indexes=(Index("strtab_key", ("key", "order")), Index("strtab_code", ("code",), unique=True)),
)


@pytest.fixture
def made() -> sqlite3.Connection:
    connection = sqlite3.connect(":memory:")
    for statement in SQLITE.drop_table(TABLE) + SQLITE.create_table(TABLE, {}):
        connection.execute(statement)
    for statement in SQLITE.create_indexes(TABLE) + SQLITE.after_load([TABLE]):
        connection.execute(statement)
    return connection


def test_a_table_is_made_with_its_names_keys_and_indexes(made: sqlite3.Connection) -> None:
    with closing(made):
        names = [row[1] for row in made.execute("PRAGMA table_info(strtab)")]
        assert names == [column.name for column in TABLE.columns]
        indexes = {row[1]: bool(row[2]) for row in made.execute("PRAGMA index_list(strtab)")}
        assert indexes.items() >= {"strtab_key": False, "strtab_code": True}.items()
        row = ("k", 7, "000042", "20261231", "1.50", "é'x")
        made.execute(SQLITE.bulk_statement(TABLE), row)
        # The key is the rowid: there is no further index.
        assert made.execute('SELECT rowid FROM strtab WHERE "order" = 7').fetchone() == (7,)
        stored = made.execute("SELECT * FROM strtab").fetchone()
        assert stored == ("k", 7, "000042", "20261231", 1.5, "é'x")
        for wrong in [("k", 8, "000043", None, None, "é'x"), ("k", 8, "000043", None, None, None)]:
            with pytest.raises(sqlite3.IntegrityError):
                made.execute(SQLITE.bulk_statement(TABLE), wrong)
        for statement in SQLITE.drop_table(TABLE):
            made.execute(statement)
        assert made.execute(
            "SELECT count(*) FROM sqlite_master WHERE tbl_name = 'strtab'"
        ).fetchone() == (0,)


def test_identifiers_are_quoted_where_the_parser_needs_it() -> None:
    with closing(sqlite3.connect(":memory:")) as connection:
        for word in ["entry", "key", "Group", "order", "a b", 'say "x"', "9th", "nothing", "größe"]:
            name = SQLITE.identifier(word)
            connection.execute(f"CREATE TABLE {name} ({name} TEXT)")
            connection.execute(f"INSERT INTO {name} ({name}) VALUES ('1')")
            assert connection.execute(f"SELECT {name} FROM {name}").fetchall() == [("1",)]
    assert SQLITE.identifier("bibtab") == "bibtab"
    assert SQLITE.identifier("key") == "key", "a keyword that may be a name stays as it is"


@pytest.mark.parametrize("text", [None, "", "it's", "''", "back\\slash", "line\nend", "é\t\x01"])
def test_a_literal_means_the_text(text: str | None) -> None:
    with closing(sqlite3.connect(":memory:")) as connection:
        assert connection.execute(f"SELECT {SQLITE.literal(text)}").fetchone() == (text,)
