"""Rows made in Python are stored with the same values, for each type."""

from __future__ import annotations

from datetime import date, datetime
from decimal import Decimal

import pytest

from able import able
from assay import registry
from assay.contracts.dialects.protocol import Column, Table
from assay.contracts.storage_facts import StorageFacts
from assay.load.load import load
from assay.load.load_options import Loading
from assay.load.row_sources.request import DataRequest
from commands import need
from servers import ask, provisioned

TYPES = "int bigint decimal(30,2) double text varchar(9) date timestamp bool bytes"
TABLE = Table("t", tuple(Column(f"c{n}", one) for n, one in enumerate(TYPES.split())))
EMPTY = Table("empty", (Column("c0", "int"),))
PLAIN = Table("plain", (Column("a", "int"), Column("b", "bytes")))
"""Without a decimal: some protocols have a shorter form for such rows."""
BYTES = b"\x00\\\xff\n"
NOON = datetime(2026, 1, 31, 12, 0, 0, 250_000)
ROWS = [
    [-1, 2**62, Decimal("1.50"), 0.1, "it's\t\\N\n", "ä☃", date(2026, 1, 31), NOON, True, BYTES],
    [0, None, 3, 2, "", "9", None, None, False, b""],
    [None] * 10,
]


@pytest.mark.parametrize("name", able("typed columns", "bulk load", language="sql"))
def test_each_type_is_stored(name: str, storage: StorageFacts) -> None:
    need(name)
    system = registry.system(name)
    rows_of = {"t": iter(ROWS), "plain": [[1, BYTES], [2, None]]}
    request = DataRequest(lambda: rows_of, "files", "rows", "f", 3)
    with provisioned(system, storage) as deployment:
        verified = Loading(is_verified=True)
        dataset = load(deployment, system, (EMPTY, TABLE, PLAIN), request, loading=verified)
        assert dataset.rows == {"empty": 0, "t": 3, "plain": 2}
        hexadecimal = {"postgresql": "encode({}, 'hex')"}.get(name, "lower(hex({}))").format
        rows = ask(deployment, "SELECT c0, c1, c3, c4, c5 FROM t")
        assert set(rows) == {
            ("-1", str(2**62), "0.1", "it's\t\\N\n", "ä☃"),
            ("0", None, "2" if name != "sqlite" else "2.0", "", "9"),
            (None,) * 5,
        }
        for table, column, found in [("t", "c9", {"005cff0a", ""}), ("plain", "b", {"005cff0a"})]:
            question = f"SELECT {hexadecimal(column)} FROM {table} WHERE {column} IS NOT NULL"
            assert {text for (text,) in ask(deployment, question)} == found
