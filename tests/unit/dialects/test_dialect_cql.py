"""CQL for tables with a key of two parts, with a declared partition, and without any key."""

from __future__ import annotations

from assay.contracts.dialects.protocol import Column, Index, Partitioning, Table
from assay.dialects.cql import CQL

COLUMNS = (
    Column("user", "int", not_null=True),
    Column("day", "date", not_null=True),
    Column("order", "varchar(9)"),
    Column("price", "decimal(9,2)"),
)


def test_the_first_column_of_the_primary_key_is_the_partition() -> None:
    table = Table(
        "sales",
        COLUMNS,
        primary_key=("user", "day"),
        indexes=(
            Index("sales_user_price", ("user", "price")),
            Index("sales_day_user", ("day", "user")),
            Index("sales_price_day", ("price", "day")),
            Index("sales_price", ("price",)),
        ),
    )
    assert CQL.create_table(table, {}) == [
        'CREATE TABLE sales (\n  user int,\n  day date,\n  "order" text,\n  price decimal,\n'
        "  PRIMARY KEY (user, day)\n)"
    ]
    assert CQL.create_indexes(table) == [
        "CREATE INDEX sales_price_day ON sales (price) USING 'sai'"
    ], "no index over what the key finds, and none twice"
    assert CQL.bulk_statement(table) == (
        'INSERT INTO sales (user, day, "order", price) VALUES (?, ?, ?, ?)'
    )


def test_a_declared_partition_has_its_order() -> None:
    partitioning = Partitioning(("user", "order"), ("price", "day"), frozenset({"day"}))
    table = Table("sales", COLUMNS, partitioning=partitioning)
    [made] = CQL.create_marked_table(table, {}, "it's ours")
    assert made.endswith(
        '  PRIMARY KEY ((user, "order"), price, day)\n'
        ") WITH CLUSTERING ORDER BY (price ASC, day DESC) AND comment = 'it''s ours'"
    )


def test_a_table_without_a_key_keeps_rows_that_are_equal() -> None:
    table = Table("log", COLUMNS[1:2])
    assert CQL.create_table(table, {}) == [
        "CREATE TABLE log (\n  day date,\n  row_id uuid,\n  PRIMARY KEY (row_id)\n)"
    ]
    assert CQL.bulk_statement(table) == "INSERT INTO log (day, row_id) VALUES (?, uuid())"


def test_a_statement_that_can_write_is_recognised() -> None:
    assert CQL.only_reads(" select a\nFROM b WHERE c = :c")
    writing = ["INSERT INTO selected (a) VALUES (1)", "SELECTED", "/* */ SELECT a FROM b", ""]
    assert not any(map(CQL.only_reads, writing))
