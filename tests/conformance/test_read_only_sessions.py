"""The server enforces a read-only session, even where a write is hidden: after another statement,
in a function, in a query."""

from __future__ import annotations

from dataclasses import replace

import pytest

from able import able
from assay import _engine, registry
from assay.contracts.storage_facts import StorageFacts
from assay.provision.engine.session import session
from commands import need
from servers import provisioned

FUNCTIONS = {
    "postgresql": [
        "CREATE SEQUENCE s",
        "CREATE FUNCTION f() RETURNS int LANGUAGE sql AS 'INSERT INTO t VALUES (2); SELECT 1'",
        "CREATE PROCEDURE p() LANGUAGE sql AS 'DELETE FROM t'",
    ],
    "mariadb": [
        "CREATE SEQUENCE s",
        "CREATE TABLE m (a int) ENGINE = MyISAM",
        "CREATE FUNCTION f() RETURNS int BEGIN INSERT INTO t VALUES (2); RETURN 1; END",
        "CREATE PROCEDURE p() DELETE FROM t",
    ],
    "mysql": [
        "CREATE TABLE m (a int) ENGINE = MyISAM",
        "CREATE FUNCTION f() RETURNS int DETERMINISTIC "
        "BEGIN INSERT INTO t VALUES (2); RETURN 1; END",
        "CREATE PROCEDURE p() DELETE FROM t",
    ],
    "sqlite": [],
}
EVERYWHERE = [
    "INSERT INTO t SELECT a + 1 FROM t",
    "UPDATE t SET a = 3",
    "DELETE FROM t",
    "DROP TABLE t",
    "CREATE TABLE u (a int)",
    "ALTER TABLE t ADD COLUMN b int",
]
OWN = {
    "postgresql": [
        "SELECT f()",
        "SELECT nextval('s')",
        "CALL p()",
        "DO $$ BEGIN DELETE FROM t; END $$",
        "WITH gone AS (DELETE FROM t RETURNING a) SELECT * FROM gone",
        "SELECT a INTO u FROM t",
        "EXPLAIN ANALYZE DELETE FROM t",
        "TRUNCATE t",
        "SELECT 1; DELETE FROM t",
        "BEGIN; DELETE FROM t; COMMIT",
    ],
    "mariadb": [
        "SELECT f()",
        "SELECT nextval(s)",
        "CALL p()",
        "INSERT INTO m VALUES (1)",
        "REPLACE INTO t VALUES (1)",
        "TRUNCATE TABLE t",
    ],
    "mysql": [
        "SELECT f()",
        "CALL p()",
        "INSERT INTO m VALUES (1)",
        "REPLACE INTO t VALUES (1)",
        "TRUNCATE TABLE t",
    ],
    "sqlite": [
        "WITH one AS (SELECT 1) INSERT INTO t SELECT * FROM one",
        "REPLACE INTO t VALUES (1)",
        "PRAGMA user_version = 7",
        "VACUUM",
    ],
}


@pytest.mark.parametrize("name", able("read only sessions"))
def test_nothing_that_writes_gets_past_a_read_only_session(
    name: str, storage: StorageFacts
) -> None:
    need(name)
    system = registry.system(name)
    dialect = system.dialect
    with provisioned(system, storage) as deployment, session(deployment.address) as opened:
        for statement in ["CREATE TABLE t (a int)", "INSERT INTO t VALUES (1)", *FUNCTIONS[name]]:
            opened.execute(statement)
        own = deployment.address.session_statements
        reading = replace(
            deployment.address, session_statements=(*own, *dialect.session_read_only())
        )
        for statement in EVERYWHERE + OWN[name]:
            with session(reading) as only:
                try:
                    only.execute(statement)
                except _engine.EngineError as error:
                    code = error.code
                else:
                    code = "none"
                assert code in dialect.read_only_codes, statement
        with session(reading) as only:
            assert only.execute("SELECT a FROM t").rows == [("1",)]
        assert opened.execute("SELECT a FROM t").rows == [("1",)]
