"""A consistency check only reads: one that writes is refused, and the data are unchanged."""

from __future__ import annotations

from pathlib import Path

import pytest

from able import able
from assay import registry
from assay.contracts.storage_facts import StorageFacts
from assay.errors import ExperimentError
from assay.judge.check.consistency import check_consistency
from assay.provision.engine.session import session
from assay.workload.values import Script
from commands import need
from servers import provisioned

WRITING = [
    "DELETE FROM t WHERE a = :a;",
    "INSERT INTO t SELECT 1 + a FROM t;",
    "SELECT 1;\nUPDATE t SET a = 2;",
    "DROP TABLE t;",
]


@pytest.mark.parametrize("name", able("read only sessions"))
def test_a_check_that_writes_is_refused_with_its_file(name: str, storage: StorageFacts) -> None:
    need(name)
    system = registry.system(name)
    with provisioned(system, storage) as deployment, session(deployment.address) as opened:
        opened.execute("CREATE TABLE t (a int)")
        opened.execute("INSERT INTO t VALUES (1)")

        def ask(text: str) -> list[object]:
            script = Script("bad", "checks/bad.sql", text)
            variables = {"a": 1}
            found = check_consistency(
                deployment, [script], variables, {}, system.dialect, Path("w")
            )
            return [(one["found"], one["ok"]) for one in found]

        for text in WRITING:
            with pytest.raises(ExperimentError, match=r"w/checks/bad\.sql: a check must only read"):
                ask(text)
        assert ask("SELECT * FROM t WHERE a <> :a;") == [(0, True)]
        assert ask("SELECT * FROM t;") == [(1, False)]
        # The rows of every statement count.
        assert ask("SELECT * FROM t; SELECT * FROM t WHERE a <> :a;") == [(1, False)]
        assert ask("SELECT * FROM t; SELECT * FROM t;") == [(2, False)]
        assert ask("\\set b 1") == [(None, False)]
        # Any other error is the check's own result.
        assert ask("SELECT nothing FROM t;") == [(None, False)]
        assert opened.execute("SELECT a FROM t").rows == [("1",)]
