"""CUBRID's statements, without a server."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from assay import registry
from assay.contracts.dialects.protocol import RecognisesReads
from assay.dialects.cubrid import CODES, CUBRID
from assay.errors import ArgumentError


@pytest.mark.parametrize(
    ("statement", "expected"),
    [
        ("select * from t where id = :id1 and (seq = 1 or col9 in (1, 2))", True),
        ("SELECT count(*), max(a) FROM t WHERE a = 'incr(' GROUP BY b", True),
        ("commit", True),
        ("select incr(read_count) from t", False),
        ("select orders_id.next_value", False),
        ("select own_function (1)", False),
        ('select "own" (1), [own](2)', False),
        ("select /* it's */ incr(a), 'x' from t", False),
        ("select \"it's\", incr(a), 'x' from t", False),
        ("select 1; delete from t", False),
        ("with s as (select 1) update t set a = 1", False),
        ("update t set a = 1", False),
        ("selected", False),
    ],
)
def test_a_statement_only_reads_where_nothing_in_it_can_write(
    statement: str, expected: bool
) -> None:
    assert isinstance(CUBRID, RecognisesReads)
    assert CUBRID.only_reads(statement) is expected


def test_levels_of_isolation() -> None:
    assert CUBRID.begin_at("repeatable read") == [
        "SET TRANSACTION ISOLATION LEVEL REPEATABLE READ",
        "START TRANSACTION",
    ]
    with pytest.raises(ArgumentError, match="serializable"):
        CUBRID.session_isolation("serializable")


def test_a_code_has_one_class() -> None:
    codes = [code for found in CODES.values() for code in found]
    assert len(codes) == len(set(codes)) == len(CUBRID.error_classes)
    assert CUBRID.error_classes["-670"] == "constraint"
    assert CUBRID.error_classes["-72"] == "deadlock"
    assert CUBRID.error_classes["-458"] == "data", "a sum of integers that is none"


def test_no_script_gives_a_column_a_bare_name_that_is_reserved() -> None:
    """Names after AS; those of types follow it in CAST."""
    folder = Path(registry.__file__).parent / "workloads"
    bare = re.compile(r"(?<!\w)as\s+([a-z_]\w*)", re.IGNORECASE)
    found = [
        f"{path.relative_to(folder)}: as {name}"
        for path in sorted(folder.rglob("*.sql"))
        if "overrides" not in path.parts and path.stem != "procedures"
        for line in path.read_text("utf-8").splitlines()
        if not line.startswith("--")
        for name in bare.findall(re.sub(r"cast\s*\(.*?\bas\b", "", line))
        if name in CUBRID.reserved_words - {"select"}
    ]
    assert found == []
