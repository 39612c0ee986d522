"""A dialect's statements are accepted by its private server and by that server's own client."""

from __future__ import annotations

import random
from dataclasses import replace

import pytest

from assay.contracts.dialects.protocol import Column, Index, Table
from assay.contracts.storage_facts import StorageFacts
from assay.errors import SystemRefused
from assay.systems import System
from servers import ask, provisioned, with_client


def awkward() -> Table:
    """Reserved names, every type, and a column whose values are too long for an index entry."""
    simple = ["int", "bigint", "float", "double", "text", "date", "timestamp", "bool", "bytes"]
    types = [*simple, "decimal(9,2)", "char(3)", "varchar(9)"]
    columns = [Column(f"c_{number}", word) for number, word in enumerate(types)]
    return Table(
        name="order",
        columns=(
            Column("user", "int", not_null=True),
            Column("key", "int", not_null=True),
            Column("CODEN", "varchar(9)"),
            Column('two `"words"`', "text"),
            Column("entry", "text", wide=True),
            *columns,
        ),
        primary_key=("user", "key"),
        unique=(("entry",), ("CODEN",)),
        indexes=(
            Index("order_entry", ("entry", "CODEN"), unique=True),
            Index("order_words", ('two `"words"`',)),
        ),
    )


def test_the_server_accepts_the_dialects_statements(server: System, storage: StorageFacts) -> None:
    dialect, table, dice = server.dialect, awkward(), random.Random(1)
    user, key, order = map(dialect.identifier, ("user", "key", "order"))
    # Equal for longer than an index entry, and too random to be compressed into one.
    entries = ["ä☃" * 100 + "".join(dice.choices("äß☃☂", k=31_800)) for _ in range(2)]
    rows = ", ".join(f"({n}, {n}, '{n}', {dialect.literal(e)})" for n, e in enumerate(entries))
    engines = [spec.levels for spec in server.option_specs if spec.name == "engine"]
    with provisioned(server, storage) as deployment:
        for options in [{"engine": engine} for engine in engines[0]] if engines else [{}]:
            for statement in [
                *dialect.drop_table(table),
                *dialect.create_table(table, options),
                *dialect.create_indexes(table),
                f"INSERT INTO {order} ({user}, {key}, coden, entry) VALUES {rows}",
                *dialect.after_load([table]),
            ]:
                ask(deployment, statement)
            kept = ask(deployment, f"SELECT {key}, entry FROM {order} ORDER BY 1")
            assert kept == [("0", entries[0]), ("1", entries[1])]
            assert ask(deployment, dialect.exists("order")) == []
            assert ask(deployment, dialect.read_by_key("order", ["key"], "user", "1")) == [("1",)]
            awkward_name = 'two `"words"`'
            deletions = {
                1: dialect.delete_where("order", "entry", [entries[0], "it's \\ nowhere"]),
                0: dialect.delete_all("order"),
            }
            for left, statements in deletions.items():
                for statement in statements:
                    ask(deployment, statement)
                assert ask(deployment, dialect.count("order")) == [(str(left),)]
                expected = [("1", None)][:left]
                assert ask(deployment, dialect.read_all("order", ["key", awkward_name])) == expected
        for statement in dialect.drop_table(table):
            ask(deployment, statement)
        with pytest.raises(SystemRefused) as refused:
            ask(deployment, dialect.exists("order"))
        assert refused.value.error_class == "unknown object"


def test_a_script_makes_its_database_keeps_its_literals_and_stops_at_an_error(
    server: System, storage: StorageFacts
) -> None:
    text = "it's a \\ back\\nslash\r\nand \\' more"
    dialect, table = server.dialect, Table("t", (Column("a", "text"), Column("b", "text")))
    script = [
        *dialect.script_prologue("select", create=True),
        *(f"{statement};" for statement in dialect.create_table(table, {})),
        f"INSERT INTO t VALUES ({dialect.literal(text)}, {dialect.literal(None)});",
    ]
    failing = [
        *dialect.script_prologue("select", create=False),
        "SELECT nothing;",
        "INSERT INTO t VALUES ('not', 'reached');",
    ]
    with provisioned(server, storage) as deployment:
        for _ in range(2):
            done = with_client(server, deployment, "\n".join([*script, ""]))
            assert done.returncode == 0, done.stderr
        assert with_client(server, deployment, "\n".join([*failing, ""])).returncode != 0
        made = replace(deployment, endpoints=(replace(deployment.address, database="select"),))
        assert ask(made, "SELECT a, b FROM t") == [(text, None)]
