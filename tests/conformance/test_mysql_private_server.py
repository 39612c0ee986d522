"""A private MySQL: how passwords are proved, its settings and files, and who is taken for it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager

import pymysql
import pytest
from msgspec import structs

from assay import registry
from assay.contracts.deployment import Address, Deployment
from assay.contracts.dialects import Column, Table
from assay.contracts.durability import BINARY_LOG, NO_BINARY_LOG, UNFLUSHED_BINARY_LOG
from assay.contracts.experiment import SystemChoice
from assay.contracts.storage_facts import StorageFacts
from assay.contracts.systems.abilities import ReachedByUrl
from assay.errors import SystemRefused
from assay.experiment import StorageChoice
from assay.experiment.choices.checked_choices import system_choice
from assay.load.load import fill
from assay.load.tables import table_digest
from assay.provision.engine.engine_calls import session
from assay.provision.running_system import provision
from assay.systems.mysql.system import MYSQL
from commands import need
from servers import ask, provisioned, shared


@pytest.fixture(autouse=True)
def _there_is_one() -> None:
    need("mysql")


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Deployment]:
    with shared("mysql", tmp_path_factory.mktemp("state")) as deployment:
        yield deployment


def test_it_is_set_up_as_requested(storage: StorageFacts) -> None:
    asked = {
        "innodb-flush-log-at-trx-commit": "2",
        "key_buffer_size": "64M",
        "Sync_Binlog": "0",
        "sql_mode": "traditional",
        "innodb_doublewrite": "DETECT_ONLY",
    }
    with provisioned(MYSQL, storage, asked, {"buffer": "200MB"}, connections=200) as deployment:
        assert deployment.version.startswith("MySQL ")
        assert deployment.system == "mysql"
        assert deployment.connection_limit == 210
        assert deployment.settings["key_buffer_size"] == str(64 << 20)
        assert deployment.settings["collation_server"] == "utf8mb4_bin"
        assert not {"port", "datadir", "socket", "lc_messages_dir"} & set(deployment.settings)
        assert deployment.durability_lowered_by == (
            "innodb_flush_log_at_trx_commit = 2",
            "innodb_doublewrite = DETECT_ONLY",
            "sync_binlog = 0",
        )
        assert MYSQL.buffer_bytes(deployment) == 200 << 20, "no whole chunks of 128 MiB"
        sample = MYSQL.sample(deployment)
        assert sample is not None
        assert sample.processes == 1


@pytest.mark.parametrize(("word", "found"), [("0", "OFF"), ("on", "ON")])
def test_its_binary_log_can_be_switched_off_and_on(
    storage: StorageFacts, word: str, found: str
) -> None:
    asked = {"log-bin": word, "sync_binlog": "0"}
    MYSQL.refuse_settings(SystemChoice("mysql", settings=asked))
    with provisioned(MYSQL, storage, asked) as deployment:
        assert deployment.settings["log_bin"] == found
        assert ask(deployment, "SELECT @@log_bin") == [("1" if found == "ON" else "0",)]
        lowered = ("sync_binlog = 0",) if found == "ON" else ()
        assert deployment.durability_lowered_by == lowered, "without a log nothing waits for it"
        does = {one.kind: one.does for one in deployment.safeguards}
        written = UNFLUSHED_BINARY_LOG if found == "ON" else NO_BINARY_LOG
        assert does[BINARY_LOG] == written
        assert deployment.data_directory is not None
        logs = [file.stem for file in deployment.data_directory.glob("*.000001")]
        assert (bool(logs), {*logs} & {word, "ON"}) == (found == "ON", set()), "a word is no name"


def test_a_password_is_proved_in_the_clear_by_key_and_over_tls(storage: StorageFacts) -> None:
    """``caching_sha2_password`` sends a password once until the server has forgotten it: encrypted
    by its key where others can listen, as it is over TLS and at the socket."""
    with provisioned(MYSQL, storage, options={"transport": "tcp"}) as deployment:
        tcp = deployment.address
        assert tcp.tls == "off"
        plugin = "SELECT plugin FROM mysql.user WHERE user = 'assay' AND host = '127.0.0.1'"
        assert ask(deployment, plugin) == [("caching_sha2_password",)]
        ask(deployment, f"ALTER USER assay@localhost IDENTIFIED BY '{tcp.password}'")
        socket = str(ask(deployment, "SELECT @@socket")[0][0])
        ways = [
            tcp,
            structs.replace(tcp, tls="require"),
            structs.replace(tcp, host=None, port=None, unix=socket),
        ]
        for way in ways:
            ask(deployment, "FLUSH PRIVILEGES")  # it forgets the passwords it has seen
            assert who(way) == who(way), "by the whole password, then from its memory"
            with pytest.raises(SystemRefused, match="Access denied"):
                who(structs.replace(way, password="wrong"))


def who(address: Address) -> str | None:
    with session(address) as opened:
        return opened.execute("SELECT CURRENT_USER()").rows[0][0]


def test_its_size_is_that_of_the_data_and_of_now(running: Deployment) -> None:
    rows = "SELECT REPEAT('x', 1000) FROM information_schema.columns LIMIT 2000"
    before, empty = MYSQL.size_on_disk_bytes(running), MYSQL.data_bytes(running)
    ask(running, f"CREATE TABLE t AS {rows}")
    ask(running, "ANALYZE TABLE t")
    assert MYSQL.size_on_disk_bytes(running) - before > 2_000_000
    assert MYSQL.data_bytes(running) - empty > 2_000_000
    with attached("mysql", running) as reached:
        assert MYSQL.size_on_disk_bytes(reached) > 2_000_000
    assert MYSQL.counters(running)["buffer_hits"] > 0


def test_the_url_of_another_product_is_refused_with_the_right_one(
    running: Deployment, storage: StorageFacts
) -> None:
    with pytest.raises(SystemRefused, match="expected MariaDB, found MySQL 9") as refusal:
        attached("mariadb", running).__enter__()
    assert refusal.value.hint == "the same URL with mysql://"
    rows_are_the_same_through_pymysql(running)
    need("mariadb")
    with provisioned(registry.system("mariadb"), storage) as deployment:
        with pytest.raises(SystemRefused, match="expected MySQL, found MariaDB 1") as refusal:
            attached("mysql", deployment).__enter__()
        assert refusal.value.hint == "the same URL with mariadb://"


def rows_are_the_same_through_pymysql(deployment: Deployment) -> None:
    columns = {"id": "int", "price": "decimal(9,2)", "seen": "timestamp", "raw": "bytes"}
    table = Table("through", tuple(Column(name, type_) for name, type_ in columns.items()))
    rows = [(number, f"{number}.25", "2026-11-22 01:02:03.5", b"\0\xff") for number in range(1500)]
    word = f"dbapi:pymysql[unix_socket={deployment.address.unix},user=assay,database=assay]"
    with provision(system_choice(word), StorageChoice(), connections=1) as through:
        assert through.version.startswith("9.")
        assert through.version.endswith(f"through pymysql {pymysql.__version__}")
        dialect = registry.system(through.system).dialect
        for statement in dialect.create_table(table, {}):
            ask(deployment, statement)
        fill(through, dialect, [table], lambda: {table.name: rows})
        found = [table_digest(reached, dialect, table) for reached in (deployment, through)]
    assert found[0] == found[1]
    assert found[0][0] == len(rows)


def attached(name: str, deployment: Deployment) -> AbstractContextManager[Deployment]:
    url = f"{name}://assay@/assay?socket={deployment.address.unix}"
    system = registry.system(name)
    assert isinstance(system, ReachedByUrl)
    return system.attach(SystemChoice(name, url=url))


def test_a_table_of_myisam_can_lose_what_was_acknowledged(storage: StorageFacts) -> None:
    with provisioned(MYSQL, storage, options={"engine": "MyISAM"}) as deployment:
        assert deployment.durability_lowered_by == ("engine = MyISAM",)
        assert MYSQL.buffer_bytes(deployment) == int(deployment.settings["key_buffer_size"])
