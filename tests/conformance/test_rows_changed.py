"""The rows that a server says were changed are those that were."""

from __future__ import annotations

import pytest

from able import with_ability
from assay import registry
from assay.contracts.storage_facts import StorageFacts
from assay.contracts.systems.abilities import Counters
from assay.provision.engine.session import session
from commands import need
from servers import provisioned
from waiting import wait_until


@pytest.mark.parametrize("name", with_ability(Counters, language="sql"))
def test_inserted_updated_and_deleted_rows_are_counted(name: str, storage: StorageFacts) -> None:
    need(name)
    system = registry.system(name)
    with provisioned(system, storage) as deployment:
        with session(deployment.address) as opened:
            opened.execute("CREATE TABLE t (a int)")
        before = system.counters(deployment)["rows_changed"]
        with session(deployment.address) as opened:
            for number in range(2000):
                opened.execute(f"INSERT INTO t VALUES ({number})")
            opened.execute("UPDATE t SET a = a + 1 WHERE a < 500")
            opened.execute("DELETE FROM t WHERE a < 100")
            assert opened.execute("SELECT count(*) FROM t").rows == [("1901",)]

        def grown() -> int:
            return int(system.counters(deployment)["rows_changed"] - before)

        wait_until(lambda: grown() >= 2599, "the server has counted all changes")
        # With some of the server's own tables.
        assert grown() < 2599 * 1.02
