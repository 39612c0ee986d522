"""A private Cassandra: its settings and files, its CQL, and the same one by URL."""

from __future__ import annotations

import json
import signal
import threading
from collections.abc import Iterator
from datetime import date, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from assay import _engine
from assay.contracts.deployment import Deployment
from assay.contracts.dialects import Column, Table
from assay.contracts.experiment import SystemChoice
from assay.contracts.storage_facts import StorageFacts
from assay.errors import ArgumentError, SystemRefused
from assay.load.tables import mark_of_process, refuse_foreign_tables
from assay.provision import processes
from assay.provision.engine.engine_calls import session
from assay.systems.cassandra.system import CASSANDRA
from commands import Assay, need
from servers import ask, directory_for_servers, provisioned
from shown_passwords import runs_by_url_keep_it_to_themselves
from waiting import wait_until

TABLE = Table("t", (Column("id", "int", not_null=True), Column("name", "text")), ("id",))
KEYSPACE = "assay_conformance"
COLUMNS = {
    "id": ("int", "int"), "small": ("smallint", "smallint"), "big": ("bigint", "bigint"),
    "price": ("decimal", "decimal(9,2)"), "ratio": ("double", "double"), "name": ("text", "text"),
    "born": ("date", "date"), "seen": ("timestamp", "timestamp"), "is_good": ("boolean", "bool"),
    "raw": ("blob", "bytes"),
}  # fmt: skip
"""Each column's type in CQL, and the neutral one."""
TYPES = [neutral for _, neutral in COLUMNS.values()]
ROWS = 2_000


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Deployment]:
    """One for all of it: each start takes seconds."""
    need("cassandra")
    asked = {"commitlog_sync": "batch", "key_cache_size": "10MiB", "write_request_timeout": "5s"}
    options = {"buffer": "32MB", "heap": "384MB", "consistency": "one"}
    with pytest.MonkeyPatch.context() as environment, directory_for_servers() as storage:
        environment.setenv("ASSAY_STATE_DIRECTORY", str(tmp_path_factory.mktemp("state")))
        with provisioned(CASSANDRA, storage, asked, options) as deployment:
            yield deployment
    assert processes.has_stopped_cleanly(deployment.server_pid or 0)


def test_it_is_set_up_as_requested(cluster: Deployment) -> None:
    assert cluster.version.startswith("Cassandra 5.")
    assert cluster.settings["key_cache_size"] == "10MiB"
    assert cluster.settings_confirmed == tuple(cluster.settings_asked)
    assert cluster.durability_lowered_by == ()
    assert cluster.durable_instead == {}
    assert not {"storage_port", "seed_provider", "listen_address"} & set(cluster.settings)
    assert cluster.options["nodes"] == cluster.options["replication"] == "1"
    assert CASSANDRA.buffer_bytes(cluster) == 32 << 20
    sample = CASSANDRA.sample(cluster)
    assert sample is not None
    assert sample.processes == 1
    assert sample.open_files > 0


def test_it_is_sized_and_reached_by_url(cluster: Deployment) -> None:
    ask(cluster, *CASSANDRA.dialect.create_table(TABLE, {}))
    CASSANDRA.wait_for_schema(cluster)
    empty = CASSANDRA.data_bytes(cluster)
    with session(cluster.address) as opened:
        for number in range(500):
            # Of letters that are hardly compressed.
            name = "".join(chr(33 + (number * 7919 + place * place) % 90) for place in range(1000))
            quoted = name.replace("'", "''")
            opened.execute(f"INSERT INTO t (id, name) VALUES ({number}, '{quoted}')")
    assert CASSANDRA.data_bytes(cluster) - empty > 20_000, "it is in the tables' files"
    assert CASSANDRA.size_on_disk_bytes(cluster) > CASSANDRA.data_bytes(cluster)
    assert CASSANDRA.counters(cluster)["buffer_hits"] > 0
    to = cluster.address
    url = f"cassandra://{to.host}:{to.port}/{to.database}?consistency=one&compression=lz4"
    with CASSANDRA.attach(SystemChoice("cassandra", url=url)) as reached:
        assert ask(reached, "SELECT count(*) FROM t") == [("500",)]
        assert not reached.is_private
        assert reached.settings["commitlog_sync"] == "batch"
        with pytest.raises(ArgumentError, match="holds a table t already"):
            refuse_foreign_tables(reached, CASSANDRA.dialect, [TABLE])
        ask(
            reached,
            *CASSANDRA.dialect.create_marked_table(replace(TABLE, name="u"), {}, mark_of_process()),
        )
        rows = ask(reached, str(CASSANDRA.dialect.marks_query(to.database)))
        assert dict(rows)["u"] == mark_of_process()
    elsewhere = url.replace(f"/{to.database}?", "/nowhere?")
    refused = pytest.raises(SystemRefused, match=r"nowhere.*expected a Cassandra server at")
    with refused as refusal, CASSANDRA.attach(SystemChoice("cassandra", url=elsewhere)):
        pass
    assert "CREATE KEYSPACE nowhere" in (refusal.value.hint or "")


def test_a_run_by_url_keeps_the_password_to_itself(
    cluster: Deployment, assay: Assay, working_folder: Path
) -> None:
    runs_by_url_keep_it_to_themselves(cluster, assay, working_folder)


def test_a_setting_that_there_is_not_is_named(storage: StorageFacts) -> None:
    refused = pytest.raises(SystemRefused, match="comitlog_sync")
    with refused as refusal, provisioned(CASSANDRA, storage, {"comitlog_sync": "batch"}):
        pass
    assert "commitlog_sync" in (refusal.value.hint or "")


@pytest.fixture
def keyspace(cluster: Deployment) -> Iterator[dict[str, Any]]:
    """A table in a keyspace of its own."""
    place = {**cluster.for_engine().plain, "database": ""}
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
def test_what_was_loaded_is_read_back(keyspace: dict[str, Any], options: dict[str, str]) -> None:
    deployment = {**keyspace, "options": {**keyspace["options"], "page_size": "700", **options}}
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


def test_clients_of_a_run_share_nothing(keyspace: dict[str, Any]) -> None:
    script = "\\set id random(1, 100)\nINSERT INTO t (id, name) VALUES (:id, 'x');\n"
    script += "SELECT name FROM t WHERE id = :id;\n"
    document = {
        "deployment": keyspace,
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


CLIENTS = 6
SCRIPT = """\
\\set id :client_id * 1000000 + :transaction_number
INSERT INTO t (id, client) VALUES (:id, :client_id);
\\think 10 ms
"""
"""As many writes as the nodes can take would show nothing more."""


@pytest.mark.same_line  # of one node; both start for half a minute beside other tests
def test_a_write_that_timed_out_is_unknown_until_it_is_read(storage: StorageFacts) -> None:
    need("cassandra")
    options = {"nodes": "2", "consistency": "all"}
    # Shorter than the time after which the nodes hold the still one for dead, and refuse.
    settings = {"write_request_timeout": "1000ms"}
    with provisioned(CASSANDRA, storage, settings, options) as deployment:
        assert [one.name for one in deployment.nodes] == ["node-1", "node-2"]
        assert len({one.host for one in deployment.endpoints}) == 2
        with session(deployment.address) as opened:
            opened.execute("CREATE TABLE t (id int PRIMARY KEY, client int)")
        CASSANDRA.wait_for_schema(deployment)
        outcomes = _outcomes_with_a_node_that_stands_still(deployment)
        with session(deployment.address) as opened:
            rows = int(opened.execute("SELECT count(*) FROM t").rows[0][0] or 0)
        _one_that_is_killed_is_named(deployment)
    ok, unknown = outcomes["ok"], outcomes["unknown"]
    assert unknown >= CLIENTS, f"each client was in a write when the node stopped: {outcomes}"
    assert ok <= rows <= ok + unknown, f"{rows} rows of {outcomes}"
    assert rows > ok, "the other node has taken writes that timed out"
    assert ok + unknown + outcomes["failed"] == outcomes["scheduled"]
    print(f"{rows - ok} of {unknown} writes with an unknown outcome had happened; {outcomes}")


def _one_that_is_killed_is_named(deployment: Deployment) -> None:
    killed = processes.running_server(deployment.nodes[1].pid)
    assert killed is not None
    killed.send(signal.SIGKILL)
    why = wait_until(lambda: CASSANDRA.why_it_died(deployment), "its end is known")
    assert why is not None and "node-2" in why and "SIGKILL" in why


def _outcomes_with_a_node_that_stands_still(deployment: Deployment) -> dict[str, int]:
    """For some seconds in the middle; then it goes on, so that all nodes can be read again."""
    document = {
        # The clients are those of the node that goes on.
        "deployment": {
            **deployment.for_engine().plain,
            "endpoints": deployment.for_engine().plain["endpoints"][:1],
        },
        "scripts": [{"name": "insert", "path": "insert.cql", "text": SCRIPT}],
        "lexer": "cql",
        "order": "mix",
        "clients": CLIENTS,
        "threads": 1,
        "protocol": "prepared",
        "stop": {"duration_s": 5},
        "seed": 1,
    }
    still = processes.running_server(deployment.nodes[1].pid)
    assert still is not None
    timers = [
        threading.Timer(seconds, still.send, [number])
        for seconds, number in ((1, signal.SIGSTOP), (4, signal.SIGCONT))
    ]
    for timer in timers:
        timer.start()
    try:
        observation = json.loads(_engine.drive(json.dumps(document)))
    finally:
        for timer in timers:
            timer.cancel()
        still.send(signal.SIGCONT)
    outcomes: dict[str, int] = observation["outcomes"]
    return outcomes
