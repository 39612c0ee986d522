"""A private Cassandra: its settings and files, what a crash takes, and one by URL."""

from __future__ import annotations

import signal
import time
from collections.abc import Mapping
from dataclasses import replace

import pytest

from assay.contracts.deployment import Deployment, StorageFacts
from assay.contracts.dialects.protocol import Column, Table
from assay.contracts.experiment import ServerMachine, SystemChoice
from assay.errors import ArgumentError, SystemRefused
from assay.load.mark import mark, refuse_foreign_tables
from assay.provision.disk.directory import server_directory
from assay.provision.engine.session import session
from assay.provision.processes import process
from assay.systems.cassandra import CASSANDRA, system
from assay.systems.cassandra.settings import is_in_effect
from commands import need
from servers import ask, provisioned

pytestmark = pytest.mark.server

TABLE = Table("t", (Column("id", "int", not_null=True), Column("name", "text")), ("id",))


@pytest.fixture
def _there_is_one() -> None:
    need("cassandra")


def test_it_is_set_up_as_requested_and_keeps_its_rows(
    _there_is_one: None, storage: StorageFacts
) -> None:
    """One cluster for all of it: each start takes seconds."""
    asked = {"commitlog_sync": "batch", "key_cache_size": "10MiB", "write_request_timeout": "5s"}
    options = {"buffer": "32MB", "heap": "384MB", "consistency": "one"}
    choice = SystemChoice("cassandra", options=options, settings=asked)
    with server_directory(storage) as directory:
        with CASSANDRA.provision(choice, directory, connections=None) as deployment:
            _is_as_requested(deployment)
            _reads_and_sizes(deployment)
            _is_reached_by_url(deployment)
            killed = process.find(deployment.server_pid)
            assert killed is not None
            killed.send(signal.SIGKILL)
            deadline = time.monotonic() + 60
            while (why := CASSANDRA.why_it_died(deployment)) is None:
                assert time.monotonic() < deadline
                time.sleep(0.05)
            assert "SIGKILL" in why
        assert not process.has_stopped_cleanly(deployment.server_pid or 0)
        with CASSANDRA.provision(choice, directory, connections=None) as again:
            assert again.endpoints != ()
            assert len(ask(again, "SELECT * FROM t")) == 500, "commitlog_sync=batch keeps all"
        assert process.has_stopped_cleanly(again.server_pid or 0)


def _is_as_requested(deployment: Deployment) -> None:
    assert deployment.version.startswith("Cassandra 5.")
    assert deployment.settings["key_cache_size"] == "10MiB"
    assert deployment.settings_confirmed == tuple(deployment.settings_asked)
    assert deployment.durability_lowered_by == ()
    assert deployment.durable_instead == {}
    assert not {"storage_port", "seed_provider", "listen_address"} & set(deployment.settings)
    assert deployment.options["nodes"] == deployment.options["replication"] == "1"
    assert CASSANDRA.buffer_bytes(deployment) == 32 << 20
    sample = CASSANDRA.sample(deployment)
    assert sample is not None
    assert sample.processes == 1
    assert sample.open_files > 0


def _reads_and_sizes(deployment: Deployment) -> None:
    ask(deployment, *CASSANDRA.dialect.create_table(TABLE, {}))
    CASSANDRA.wait_for_schema(deployment)
    empty = CASSANDRA.data_bytes(deployment)
    with session(deployment.address) as opened:
        for number in range(500):
            # Of letters that are hardly compressed.
            name = "".join(chr(33 + (number * 7919 + place * place) % 90) for place in range(1000))
            quoted = name.replace("'", "''")
            opened.execute(f"INSERT INTO t (id, name) VALUES ({number}, '{quoted}')")
    assert CASSANDRA.data_bytes(deployment) - empty > 20_000, "it is in the tables' files"
    assert CASSANDRA.size_on_disk_bytes(deployment) > CASSANDRA.data_bytes(deployment)
    assert CASSANDRA.counters(deployment)["buffer_hits"] > 0


def _is_reached_by_url(deployment: Deployment) -> None:
    to = deployment.address
    url = f"cassandra://{to.host}:{to.port}/{to.database}?consistency=one&compression=lz4"
    with CASSANDRA.attach(SystemChoice("cassandra", url=url)) as reached:
        assert ask(reached, "SELECT count(*) FROM t") == [("500",)]
        assert not reached.is_private
        assert reached.settings["commitlog_sync"] == "batch"
        with pytest.raises(ArgumentError, match="holds a table t already"):
            refuse_foreign_tables(reached, CASSANDRA.dialect, [TABLE])
        ask(reached, *CASSANDRA.dialect.create_marked_table(replace(TABLE, name="u"), {}, mark()))
        rows = ask(reached, str(CASSANDRA.dialect.marks_query(to.database)))
        assert dict(rows)["u"] == mark()
    elsewhere = url.replace(f"/{to.database}?", "/nowhere?")
    refused = pytest.raises(SystemRefused, match=r"nowhere.*expected a Cassandra server at")
    with refused as refusal, CASSANDRA.attach(SystemChoice("cassandra", url=elsewhere)):
        pass
    assert "CREATE KEYSPACE nowhere" in (refusal.value.hint or "")


def test_a_setting_that_there_is_not_is_named(_there_is_one: None, storage: StorageFacts) -> None:
    refused = pytest.raises(SystemRefused, match="comitlog_sync")
    with refused as refusal, provisioned(CASSANDRA, storage, {"comitlog_sync": "batch"}):
        pass
    assert "commitlog_sync" in (refusal.value.hint or "")


@pytest.mark.parametrize(
    ("options", "limit_mb", "expected"),
    [
        ({}, None, 512),
        ({}, 768, 512),
        ({}, 640, 384),
        ({}, 512, 256),
        ({"nodes": "3"}, 2048, 426),
        ({"buffer": "64MB"}, 640, 288),
        ({"heap": "300MB"}, 600, 300),
        ({}, 511, "limit of 511MB is too little: a node needs 512MB, of which 256MB are its heap"),
        ({"heap": "512MB"}, 640, "a node needs 768MB, of which 512MB are its heap"),
        ({"nodes": "2"}, 1000, "each of 2 nodes needs 512MB"),
    ],
)
def test_the_heap_fits_into_the_memory_limit(
    options: Mapping[str, str], limit_mb: int | None, expected: int | str
) -> None:
    machine = ServerMachine(memory_bytes=None if limit_mb is None else limit_mb << 20)
    choice = SystemChoice("cassandra", options=options, machine=machine)
    if isinstance(expected, str):
        with pytest.raises(ArgumentError, match=expected):
            CASSANDRA.check(choice)
    else:
        cache_bytes = system._cache_bytes(choice)
        assert system._heap_bytes(choice, cache_bytes) == expected << 20


@pytest.mark.parametrize(
    ("options", "settings", "expected"),
    [
        ({"replication": "3"}, {}, "replication=3 needs as many nodes, found nodes=1"),
        ({"heap": "16MB"}, {}, "heap=16MB: expected at least 256MB"),
        ({}, {"num_tokens": "16"}, "the setting num_tokens of a private server"),
        ({"buffer": "64MB"}, {"file_cache_size": "1MiB"}, "are one and the same"),
        ({}, {"Memtable": "x"}, "expected the name of a setting of cassandra.yaml"),
    ],
)
def test_what_cannot_be_is_refused_before_anything_starts(
    options: Mapping[str, str], settings: Mapping[str, str], expected: str
) -> None:
    with pytest.raises(ArgumentError, match=expected):
        CASSANDRA.check(SystemChoice("cassandra", options=options, settings=settings))


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        ("cassandra://u:secret@h/", "names no keyspace"),
        ("cassandra://u:secret@h:0/k", "port=0 in the URL"),
        ("cassandra://u:secret@h/k?tls=on", "tls=on in the URL: expected one of off, require"),
    ],
)
def test_a_url_that_cannot_be_right_is_refused(url: str, expected: str) -> None:
    with pytest.raises(ArgumentError, match=expected) as refusal:
        CASSANDRA.check_url(url)
    assert "secret" not in f"{refusal.value.message} {refusal.value.hint}"


@pytest.mark.parametrize(
    ("asked", "found", "is_same"),
    [
        ("10s", "10000ms", True),
        ("1024KiB", "1MiB", True),
        ("64MiB/s", "64MiB/s", True),
        ("Batch", "batch", True),
        ("yes", "true", True),
        ("null", "None", True),
        ("8", "32", False),
        ("10s", "10ms", False),
        ("1MiB", "1s", False),
    ],
)
def test_a_setting_is_compared_by_what_it_means(asked: str, found: str, is_same: bool) -> None:
    assert is_in_effect(asked, found) is is_same
