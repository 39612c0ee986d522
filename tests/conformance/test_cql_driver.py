"""The CQL driver on a real server."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import date, datetime
from decimal import Decimal
from typing import Any

import pytest

from assay import _engine
from assay.contracts.deployment import Deployment

pytestmark = pytest.mark.server

KEYSPACE = "assay_conformance"
COLUMNS = {
    "id": ("int", "int"),
    "small": ("smallint", "smallint"),
    "big": ("bigint", "bigint"),
    "price": ("decimal", "decimal(9,2)"),
    "ratio": ("double", "double"),
    "name": ("text", "text"),
    "born": ("date", "date"),
    "seen": ("timestamp", "timestamp"),
    "is_good": ("boolean", "bool"),
    "raw": ("blob", "bytes"),
}
"""Each column's type in CQL, and the neutral one."""
TYPES = [neutral for _, neutral in COLUMNS.values()]
ROWS = 5_000


@pytest.fixture
def deployment(cassandra: Deployment) -> Iterator[dict[str, Any]]:
    """A table in a keyspace of its own."""
    place = {**cassandra.for_engine().plain, "database": ""}
    session = _engine.Session(json.dumps(place))
    session.execute(
        f"CREATE KEYSPACE {KEYSPACE} "
        "WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}"
    )
    columns = ", ".join(f"{name} {of}" for name, (of, _) in COLUMNS.items())
    session.execute(f"CREATE TABLE {KEYSPACE}.t ({columns}, PRIMARY KEY (id))")
    yield {**place, "database": KEYSPACE}
    session.execute(f"DROP KEYSPACE {KEYSPACE}")
    session.close()


def rows() -> Iterator[tuple[object, ...]]:
    for number in range(ROWS):
        yield (
            number,
            number % 100 - 50,
            number * 2**40,
            Decimal(number) / 100,
            number / 7,
            f"Grüße {number}",
            date(1900 + number % 200, 2, 28),
            datetime(2011, 3, 4, 17, 53, number % 60, number % 1000 * 1000),
            number % 2 == 0,
            None if number % 3 == 0 else bytes([0, 255, number % 256]),
        )


@pytest.mark.parametrize("options", [{}, {"compression": "lz4"}, {"protocol": "4"}], ids=str)
def test_what_was_loaded_is_read_back(deployment: dict[str, Any], options: dict[str, str]) -> None:
    deployment = {**deployment, "options": {**deployment["options"], "page_size": "700", **options}}
    marks = ", ".join("?" for _ in COLUMNS)
    bulk = f"INSERT INTO t ({', '.join(COLUMNS)}) VALUES ({marks})"
    table = {"name": "t", "bulk": bulk, "form": "native", "types": TYPES}
    document = {"deployment": deployment, "tables": [table], "checksums": True}
    report = json.loads(_engine.load(json.dumps(document), {"t": rows()}))
    (loaded,) = report["tables"]
    assert (loaded["rows"], loaded["affected"]) == (ROWS, ROWS)
    session = _engine.Session(json.dumps(deployment))
    found = session.digest(f"SELECT {', '.join(COLUMNS)} FROM t", TYPES)
    session.close()
    assert found == (ROWS, loaded["checksum"])


def test_clients_of_a_run_share_nothing(deployment: dict[str, Any]) -> None:
    script = "\\set id random(1, 100)\nINSERT INTO t (id, name) VALUES (:id, 'x');\n"
    script += "SELECT name FROM t WHERE id = :id;\n"
    document = {
        "deployment": deployment,
        "scripts": [{"name": "both", "path": "both.cql", "text": script}],
        "order": "mix",
        "clients": 8,
        "threads": 2,
        "protocol": "prepared",
        "stop": {"transactions": 50},
        "seed": 1,
    }
    observation = json.loads(_engine.drive(json.dumps(document)))
    assert observation["outcomes"]["ok"] == 400, observation["errors"]
