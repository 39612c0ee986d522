"""Which tables statements name: what others keep in them is looked at before and after a run."""

from __future__ import annotations

import pytest

from assay import registry
from assay.contracts.dialects.protocol import NamesTables
from assay.dialects.named_tables import tables_named

OWN = ("pg_", "information_schema.")


@pytest.mark.parametrize(
    ("statement", "read", "added_to"),
    [
        ("SELECT count(*) FROM goods", "goods", ""),
        ("SELECT 1 FROM s.a x, b y JOIN c USING (k) WHERE z < (SELECT 1 FROM d)", "s.a b c d", ""),
        ("WITH r(x) AS (SELECT 1 FROM q), s AS MATERIALIZED (SELECT 1) SELECT 2 FROM t", "q t", ""),
        ("SELECT extract(year FROM ts), a IS DISTINCT FROM b FROM t FOR UPDATE", "t", ""),
        ("SELECT * FROM generate_series(1, 9), LATERAL (SELECT * FROM a) i", "a", ""),
        ("SELECT * FROM (a JOIN b ON a.x = b.x) -- FROM c", "a b", ""),
        ("SELECT 'FROM x', $$ FROM y $$ /* FROM z */ FROM \"My T\"", '"My T"', ""),
        ("INSERT INTO log (t) VALUES (:t) ON CONFLICT (t) DO UPDATE SET d = 1", "", "log"),
        ("INSERT INTO a SELECT * FROM b", "b", "a"),
        ("UPDATE ONLY accounts SET n = n + :d WHERE id = :id", "accounts", ""),
        ("DELETE FROM a USING b WHERE a.x = b.x", "a b", ""),
        ("MERGE INTO a USING b ON (a.x = b.x) WHEN MATCHED THEN UPDATE SET y = 1", "b", "a"),
        ("CREATE TEMP TABLE mine AS SELECT * FROM theirs", "theirs", ""),
        ("SELECT * FROM pg_stat_activity, information_schema.tables", "", ""),
        ("TRUNCATE TABLE a", "a", ""),
        ("START TRANSACTION", "", ""),
    ],
)  # fmt: skip
def test_a_statement_names_its_tables(statement: str, read: str, added_to: str) -> None:
    named = tables_named(statement, OWN)
    shown = set(read.split()) if '"' not in read else {read}
    assert named.read == shown
    assert named.added_to == set(added_to.split())
    assert not named.hidden


@pytest.mark.parametrize(
    ("statement", "why"),
    [
        ("CALL pay(:x)", "CALL does not say which tables it reads"),
        ("SELECT * FROM :table", "the table is a variable, :table"),
    ],
)
def test_what_a_statement_does_not_name_is_said(statement: str, why: str) -> None:
    assert tables_named(statement).hidden == why


def test_commands_of_documents_name_their_collections() -> None:
    dialect = registry.system("mongodb").dialect
    assert isinstance(dialect, NamesTables)
    assert dialect.tables_named('{"find": "goods", "filter": {"_id": :id}}').read == {"goods"}
    assert dialect.tables_named('{"insert": "log", "documents": []}').added_to == {"log"}


@pytest.mark.parametrize(
    ("statement", "changed"),
    [
        ("UPDATE a SET x = (SELECT 1 FROM b)", "a"),
        ("DELETE FROM a USING b WHERE a.x = b.x", "a"),
        ("INSERT INTO a SELECT * FROM b ON CONFLICT DO UPDATE SET x = 1", "a"),
        ("WITH gone AS (DELETE FROM a RETURNING x) INSERT INTO s.b SELECT x FROM gone", "a s.b"),
        ("SELECT * FROM a FOR UPDATE", ""),
    ],
)
def test_a_statement_names_the_tables_that_it_changes(statement: str, changed: str) -> None:
    assert tables_named(statement).changed == frozenset(changed.split())
