"""Whether statements leave other data behind is seen from their words."""

from __future__ import annotations

import pytest

from assay.drive.changes import changes_data


@pytest.mark.parametrize(
    "text",
    [
        "SELECT a FROM t WHERE b = 'delete; update'",
        "  /* insert */ select 1 -- update\n",
        "(SELECT 1) UNION (SELECT 2)",
        "SELECT a FROM t FOR UPDATE",
        "SELECT a FROM t FOR NO KEY UPDATE; SELECT replace(a, 'x', 'y') FROM t",
        "WITH w AS (SELECT 1) SELECT * FROM w",
        "BEGIN",
        "START TRANSACTION ISOLATION LEVEL SERIALIZABLE",
        "",
    ],
)
def test_what_only_reads_changes_nothing(text: str) -> None:
    assert not changes_data(["SELECT 1", text])


@pytest.mark.parametrize(
    "text",
    [
        "update t set a = 1",
        "BEGIN; DELETE FROM t; COMMIT",
        "-- a word before\nINSERT INTO t VALUES (1)",
        "WITH w AS (DELETE FROM t RETURNING a) SELECT * FROM w",
        "SELECT a INTO u FROM t",
        "EXPLAIN ANALYZE UPDATE t SET a = 1",
        "CALL something(1)",
        "TRUNCATE t",
        "SELECT * FROM t FOR UPDATE; REPLACE INTO t VALUES (1)",
    ],
)
def test_what_writes_or_is_unknown_changes_data(text: str) -> None:
    assert changes_data(["SELECT 1", text])
