"""A private MariaDB: its storage engines, file handles, messages and users."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import AbstractContextManager, ExitStack
from pathlib import Path

import pytest
from msgspec import structs

from assay import registry
from assay.contracts.deployment import Deployment
from assay.contracts.dialects import Column, Table
from assay.contracts.experiment import SystemChoice
from assay.contracts.storage_facts import StorageFacts
from assay.dialects.mysql import MYSQL as DIALECT
from assay.errors import SystemRefused
from assay.provision.engine.engine_calls import session
from assay.provision.machine.users import server_user
from assay.systems.mariadb.system import MARIADB
from commands import need
from servers import ask, provisioned, shared


@pytest.fixture(autouse=True)
def _there_is_one() -> None:
    need("mariadb")


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Deployment]:
    with shared("mariadb", tmp_path_factory.mktemp("state")) as deployment:
        yield deployment


def test_it_is_set_up_as_requested(storage: StorageFacts) -> None:
    asked = {"innodb-flush-log-at-trx-commit": "2", "key_buffer_size": "64M", "Log_Bin": "1"}
    with provisioned(MARIADB, storage, asked, connections=200) as deployment:
        assert deployment.version.startswith("MariaDB ")
        assert deployment.connection_limit == 210
        assert deployment.settings["key_buffer_size"] == str(64 << 20)
        assert deployment.settings["innodb_flush_log_at_trx_commit"] == "2"
        assert deployment.settings["collation_server"] == "utf8mb4_bin"
        assert not {"port", "datadir", "socket"} & set(deployment.settings)
        assert deployment.durability_lowered_by == (
            "innodb_flush_log_at_trx_commit = 2",
            "sync_binlog = 0",
        )
        assert deployment.durable_instead == {"sync_binlog = 0": "sync_binlog = 1"}
        sample = MARIADB.sample(deployment)
        assert sample is not None
        assert sample.processes == 1


@pytest.mark.parametrize(("word", "found"), [("OFF", "OFF"), ("on", "ON")])
def test_its_binary_log_can_be_switched_on_and_off(
    storage: StorageFacts, word: str, found: str
) -> None:
    with provisioned(MARIADB, storage, {"log_bin": word}) as deployment:
        assert deployment.settings["log_bin"] == found
        assert deployment.data_directory is not None
        names = {file.name.partition(".")[0] for file in deployment.data_directory.iterdir()}
        assert not names & {"ON", "on", "OFF"}


def test_it_leaves_the_temporary_tables_of_other_servers_alone(storage: StorageFacts) -> None:
    """At its start a server removes what looks like temporary tables from its folder for them."""
    others = Path("/tmp/#sql-temptable-of-another-server.MAI")
    others.touch(mode=0o666)
    user = server_user()
    os.chown(others, user.uid, user.gid)
    try:
        with provisioned(MARIADB, storage) as deployment:
            assert deployment.data_directory is not None
            tmpdir = ask(deployment, "SELECT @@tmpdir")
            # By another path: this one may have colons, which separate the values of the setting.
            assert Path(str(tmpdir[0][0])).resolve() == deployment.data_directory.parent / "tmp"
        assert others.exists()
    finally:
        others.unlink(missing_ok=True)


def attached(deployment: Deployment, **settings: str) -> AbstractContextManager[Deployment]:
    url = f"mariadb://assay@/assay?socket={deployment.address.unix}"
    return MARIADB.attach(SystemChoice("mariadb", url=url, settings=settings))


def test_a_server_is_reached_by_its_url_with_settings_for_each_session(running: Deployment) -> None:
    with attached(running, sort_buffer_size="65536") as reached:
        assert reached.settings["sort_buffer_size"] == "65536"
        assert ask(reached, "SELECT @@sort_buffer_size") == [("65536",)]
        assert ask(running, "SELECT @@sort_buffer_size") != [("65536",)]
        ask(running, "CREATE TABLE sized AS SELECT REPEAT('x', 1000) FROM seq_1_to_2000")
        assert MARIADB.size_on_disk_bytes(reached) > 2_000_000
    with pytest.raises(SystemRefused, match="key_buffer_size"):
        attached(running, key_buffer_size="1000").__enter__()


def test_a_table_lives_in_the_engine_and_compares_byte_by_byte(running: Deployment) -> None:
    table = Table("t", (Column("words", "text"),))
    lives_in = "SELECT engine, table_collation FROM information_schema.tables"
    for engine in ("InnoDB", "MyISAM", "Aria"):
        made = DIALECT.create_table(table, {"engine": engine})
        for statement in (*DIALECT.drop_table(table), *made):
            ask(running, statement)
        assert ask(running, f"{lives_in} WHERE table_name = 't'") == [(engine, "utf8mb4_bin")]


def test_each_session_holds_a_handle_of_a_myisam_table(storage: StorageFacts) -> None:
    """As in the bibsql paper with bibtab.MYD and 256 clients."""
    with provisioned(MARIADB, storage, options={"engine": "MyISAM"}, connections=40) as deployment:
        ask(deployment, "CREATE TABLE t (a INT) ENGINE = MyISAM")
        before = MARIADB.sample(deployment)
        # Each session locks the table, so that each has it open.
        with ExitStack() as held:
            for _ in range(40):
                opened = held.enter_context(session(deployment.address))
                opened.execute("LOCK TABLES t READ")
            during = MARIADB.sample(deployment)
        assert before is not None
        assert during is not None
        assert during.open_files - before.open_files >= 39
        assert during.threads - before.threads >= 38, "some threads wait for the next session"
        assert deployment.durability_lowered_by == ("engine = MyISAM",)


PLUGINS = Path(os.environ.get("ASSAY_TEST_MARIADB_PLUGINS", "/usr/lib/mysql/plugin"))


@pytest.mark.parametrize("method", ["ed25519", "parsec"])
def test_a_user_whose_password_signs_logs_in(method: str, storage: StorageFacts) -> None:
    need("mariadb")
    if not (PLUGINS / f"auth_{method}.so").is_file():
        pytest.skip(f"the plugin auth_{method} is not in {PLUGINS}: apt-get install mariadb-server")
    system, settings = registry.system("mariadb"), {"plugin_dir": str(PLUGINS)}
    with provisioned(system, storage, options={"transport": "tcp"}, settings=settings) as server:
        ask(server, f"INSTALL SONAME 'auth_{method}'")
        ask(server, f"CREATE USER signer IDENTIFIED VIA {method} USING PASSWORD('secret')")
        address = structs.replace(server.address, user="signer", database="information_schema")
        with session(structs.replace(address, password="secret")) as opened:
            assert opened.execute("SELECT 1").rows == [("1",)]
        wrong = structs.replace(address, password="wrong")
        with pytest.raises(SystemRefused, match="Access denied"), session(wrong):
            pass
