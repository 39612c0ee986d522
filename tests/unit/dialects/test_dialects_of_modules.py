"""Statements of the dialects that only DB-API modules reach; none was tried on a server."""

from __future__ import annotations

import pytest

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
