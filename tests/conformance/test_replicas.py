"""A primary and its replicas in one URL: each is an endpoint, groups of clients read at the
replicas in turn, and what Assay says of a server is what the server says of itself."""

from __future__ import annotations

import os
import signal
import subprocess
import time
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from operator import ge
from pathlib import Path
from threading import Thread
from typing import NamedTuple

import pytest
from msgspec import structs

import servers
from assay import env_vars, registry
from assay.contracts.deployment import Deployment
from assay.contracts.observation import EndpointReport, StalenessReport
from assay.contracts.storage_facts import StorageFacts
from assay.errors import SystemRefused
from assay.judge.run import Run
from commands import Assay, Ended, need
from forked_programs import BIN
from standbys import standby_of, wait_until_it_receives
from waiting import wait_until

POSTGRESQL = registry.system("postgresql")
TCP = {"transport": "tcp"}
WORKLOAD = """
title = "One writer, readers elsewhere"
source = "none"
default_test = "both"
[data]
source = "generated"
[[tables]]
name = "stock"
rows = "1000"
primary_key = ["id"]
[tables.columns]
id = "int not null"
value = "int not null"
[tables.values]
id = ":row + 1"
value = "0"
[tests.both]
title = "Both"
help = "A group writes, another one reads elsewhere"
duration_s = 2
[[tests.both.steps]]
do = "load"
[[tests.both.steps]]
do = "drive"
[[tests.both.steps.groups]]
name = "writers"
scripts = ["add"]
clients = 1
[[tests.both.steps.groups]]
name = "readers"
scripts = ["read"]
clients = 4
read = "replica"
"""


class Cluster(NamedTuple):
    storage: StorageFacts
    primary: Deployment
    replicas: tuple[Deployment, Deployment]

    @property
    def servers(self) -> tuple[Deployment, ...]:
        return (self.primary, *self.replicas)


@pytest.fixture(scope="module")
def cluster() -> Iterator[Cluster]:
    """A primary and two streaming replicas."""
    need("postgresql")
    with (
        servers.directory_for_servers() as storage,
        servers.provisioned(POSTGRESQL, storage, options=TCP) as primary,
    ):
        servers.ask(primary, "CREATE TABLE goods AS SELECT generate_series(1, 10) AS id")
        with standby_of(primary, storage) as first, standby_of(primary, storage) as second:
            yield Cluster(storage, primary, (first, second))


@pytest.fixture(autouse=True)
def scripts(working_folder: Path) -> None:
    (working_folder / "read.sql").write_text("SELECT count(*) FROM goods;\n")
    (working_folder / "add.sql").write_text("INSERT INTO goods VALUES (1);\n")
    folder = working_folder / "w"
    folder.mkdir()
    (folder / "workload.toml").write_text(WORKLOAD)
    (folder / "read.sql").write_text("SELECT count(*) FROM stock;\n")
    (folder / "add.sql").write_text("UPDATE stock SET value = value + 1 WHERE id = 7;\n")


def place(deployment: Deployment) -> str:
    return f"{deployment.address.host}:{deployment.address.port}"


def url(*deployments: Deployment) -> str:
    """One of all of them."""
    one = servers.url_of(POSTGRESQL, deployments[0])
    return one.replace(place(deployments[0]), ",".join(map(place, deployments)))


def by_place(run: Run, group: str = "") -> dict[str, EndpointReport]:
    assert run.driven is not None
    (found,) = (one for one in run.driven.groups if one.name == group)
    return {one.name: one for one in found.endpoints}


def committed(cluster: Cluster, least: Sequence[int] = (0, 0, 0)) -> list[int]:
    """Transactions, as each server has counted them, once so many are: its own counting is a second
    late, and later on a busy machine."""
    question = "SELECT xact_commit FROM pg_stat_database WHERE datname = current_database()"

    def counted() -> list[int]:
        time.sleep(1.2)
        found = [int(servers.ask(one, question)[0][0] or 0) for one in cluster.servers]
        return found if all(map(ge, found, least)) else []

    return wait_until(counted, "each server has counted them")


def reading(deployment: Deployment) -> int:
    """Sessions whose last statement was that of the script."""
    asks = "SELECT count(*) FROM pg_stat_activity WHERE query LIKE 'SELECT count(*) FROM goods%'"
    return int(servers.ask(deployment, asks)[0][0] or 0)


PAUSES = ("--think-time", "constant:5ms")
"""The clients need not be fast."""


def only_run(ended: Ended) -> Run:
    assert ended.status == 0, ended.out + ended.err
    (run,) = ended.runs
    return run


def test_clients_read_at_the_replicas_in_turn_and_servers_count_the_same(
    cluster: Cluster, assay: Assay
) -> None:
    before = committed(cluster)
    words = ("--read", "replica", "--clients", "3", "--transactions", "500")
    run = only_run(assay("run", "read.sql", "--on", url(*cluster.servers), *words))
    least = [before[0], before[1] + 1000, before[2] + 500]
    counted = [now - then for now, then in zip(committed(cluster, least), before, strict=True)]
    assert run.driven is not None
    found = by_place(run)
    first, second = (found[place(one)] for one in cluster.replicas)
    assert list(found) == [place(one) for one in cluster.replicas]
    assert (first.clients, first.ok, second.clients, second.ok) == (2, 1000, 1, 500)
    assert first.ok + second.ok == run.driven.outcomes.ok == 1500
    assert first.all_ok.latency.count + second.all_ok.latency.count == 1500
    for report, seen in zip((first, second), counted[1:], strict=True):
        # Beside them its own sessions ask what it is, and what its tables hold.
        assert report.ok <= seen <= report.ok + 60
    assert counted[0] <= 60
    sessions = {one.address: (one.role, one.sessions) for one in run.driven.servers}
    assert sessions == {place(cluster.replicas[0]): ("standby", 2),
                        place(cluster.replicas[1]): ("standby", 1)}  # fmt: skip


def test_a_group_writes_at_the_primary_while_another_reads_at_the_replicas(
    cluster: Cluster, assay: Assay
) -> None:
    ended = assay("run", "./w", "--on", url(*cluster.servers[::-1]))
    run = only_run(ended)
    assert run.driven is not None
    writers, readers = by_place(run, "writers"), by_place(run, "readers")
    assert list(writers) == [place(cluster.primary)]
    assert sorted(readers) == sorted(place(one) for one in cluster.replicas)
    assert [one.clients for one in readers.values()] == [2, 2]
    groups = {one.name: one.outcomes.ok for one in run.driven.groups}
    assert groups["writers"] == writers[place(cluster.primary)].ok > 0
    assert groups["readers"] == sum(one.ok for one in readers.values())
    shown = assay("report").out
    assert "Each server that clients used" in shown
    assert all(place(one) in shown for one in cluster.servers)
    rows = assay("report", "--format", "json").document["tables"]
    assert {(row["group"], row["server"], row["role"], row["ok"]) for row in rows["servers"]} == {
        (group, name, "primary" if group == "writers" else "standby", reported.ok)
        for group, there in (("writers", writers), ("readers", readers))
        for name, reported in there.items()
    }
    assert {row["server"] for row in rows["staleness"]} == set(readers)
    password = cluster.primary.address.password
    assert password is not None
    assert password.encode() not in Path(ended.experiment.path).read_bytes()
    assert password not in ended.out + ended.err
    assert "several-servers" not in ended.out


def staleness(run: Run) -> dict[str, StalenessReport]:
    assert run.driven is not None
    return {one.name: one for one in run.driven.staleness}


def tables(deployment: Deployment) -> set[str | None]:
    return {row[0] for row in servers.ask(deployment, "SELECT relname FROM pg_class")}


@pytest.mark.alone
def test_a_replica_whose_replay_is_paused_is_as_stale_as_the_pause_is_long(
    cluster: Cluster, assay: Assay
) -> None:
    """It is paused from the time when the table of the numbers is there, and some writes on."""
    paused, other = cluster.replicas
    pause_s: list[float] = []

    def pause() -> None:
        wait_until(lambda: "assay_staleness" in tables(paused), "its table is there")
        time.sleep(0.8)
        servers.ask(paused, "SELECT pg_wal_replay_pause()")
        asked = "SELECT 1 WHERE pg_get_wal_replay_pause_state() = 'paused'"
        wait_until(lambda: servers.ask(paused, asked), "it is paused")
        began_s = time.monotonic()
        time.sleep(1.5)
        servers.ask(paused, "SELECT pg_wal_replay_resume()")
        pause_s.append(time.monotonic() - began_s)

    thread = Thread(target=pause)
    thread.start()
    ended = assay("run", "./w", "--on", url(*cluster.servers), "--duration", "3")
    run = only_run(ended)
    thread.join()
    found = staleness(run)
    stale, fresh = found[place(paused)], found[place(other)]
    assert run.driven is not None
    assert 20 <= stale.numbers <= run.driven.elapsed_ns / 1e8 + 1
    assert stale.not_read == 0
    assert stale.max_ns is not None and fresh.max_ns is not None
    # It grows with the pause: the first number of the pause is as old, but for the 100 ms between
    # two, and for what a busy machine takes to write the next.
    assert pause_s[0] - 0.5 <= stale.max_ns / 1e9 <= pause_s[0] + 0.5
    assert fresh.max_ns < stale.max_ns / 2
    assert fresh.resolution_ns is not None and fresh.resolution_ns <= fresh.max_ns
    assert "assay_staleness" not in tables(cluster.primary)
    shown = assay("report").out
    assert "How stale each replica was" in shown
    (warning,) = (one for one in run.warnings if one.name == "stale-replica")
    assert f"{place(paused)}: median " in warning.detail
    assert "stale-replica" in ended.out


@pytest.mark.alone
def test_a_replica_that_stays_behind_is_at_least_so_stale(cluster: Cluster, assay: Assay) -> None:
    paused, other = cluster.replicas

    def pause() -> None:
        wait_until(lambda: "assay_staleness" in tables(paused), "its table is there")
        time.sleep(0.8)
        servers.ask(paused, "SELECT pg_wal_replay_pause()")

    thread = Thread(target=pause)
    thread.start()
    try:
        ended = assay("run", "./w", "--on", url(*cluster.servers))
    finally:
        thread.join()
        servers.ask(paused, "SELECT pg_wal_replay_resume()")
    found = staleness(only_run(ended))
    assert found[place(paused)].not_read >= 8
    assert found[place(other)].not_read <= 1
    assert (found[place(paused)].max_ns or 0) > 1e9


def test_data_of_others_are_not_written_to(cluster: Cluster, assay: Assay) -> None:
    words = ("--read", "replica", "--transactions", "10")
    run = only_run(assay("run", "read.sql", "--on", url(*cluster.servers), *words))
    assert run.driven is not None
    assert run.driven.staleness == ()
    assert "data that are not Assay's" in run.driven.why_no_staleness


def test_the_table_of_the_numbers_goes_also_where_assay_is_killed(
    cluster: Cluster, working_folder: Path
) -> None:
    words = ("run", "./w", "--on", url(*cluster.servers), "--duration", "60")
    with subprocess.Popen([BIN / "assay", *words], cwd=working_folder) as process:
        wait_until(
            lambda: "assay_staleness" in tables(cluster.primary), "its table is there",
            goes_on=lambda: process.poll() is None,
        )  # fmt: skip
        time.sleep(0.5)
        process.kill()
    wait_until(
        lambda: "assay_staleness" not in tables(cluster.primary),
        "the table of staleness is dropped",
    )


def test_any_server_is_used_by_clients_that_say_so(cluster: Cluster, assay: Assay) -> None:
    words = ("--read", "any", "--clients", "3", "--transactions", "10")
    found = by_place(only_run(assay("run", "read.sql", "--on", url(*cluster.servers), *words)))
    assert {name: one.ok for name, one in found.items()} == dict.fromkeys(
        map(place, cluster.servers), 10
    )


def test_without_a_word_all_clients_are_at_the_primary(cluster: Cluster, assay: Assay) -> None:
    words = ("--clients", "3", "--transactions", "10")
    run = only_run(assay("run", "add.sql", "--on", url(*cluster.servers[::-1]), *words))
    found = by_place(run)
    assert {name: one.ok for name, one in found.items()} == {place(cluster.primary): 30}


def test_each_script_is_sent_where_it_says(cluster: Cluster, assay: Assay) -> None:
    """A client has a session at the primary and one at a replica."""
    before = committed(cluster)
    words = ("--read", "read.sql=replica", "--clients", "3", "--transactions", "300")
    words += ("-M", "prepared")
    run = only_run(
        assay(
            "run", *("-f", "add.sql@1", "-f", "read.sql@4"), "--on", url(*cluster.servers), *words
        )
    )
    assert run.driven is not None
    found = by_place(run)
    assert [found[place(one)].clients for one in cluster.servers] == [3, 2, 1]
    added, read = (one.ok for one in run.driven.outcomes_by_transaction)
    ok = [found[place(one)].ok for one in cluster.servers]
    assert ok[0] == added > 0
    assert ok[1] + ok[2] == read == 900 - added
    # Beside them its own sessions ask what it is, how stale, and what its tables hold.
    committed(cluster, [then + more for then, more in zip(before, ok, strict=True)])
    assert "read.sql=replica" in assay("report", "--detail").out


def test_a_session_at_a_replica_that_is_ended_is_opened_again(
    cluster: Cluster, assay: Assay, working_folder: Path
) -> None:
    """Also one that its client does not use at that moment: it is at the primary most of the
    time."""
    (working_folder / "add.sql").write_text(
        "SELECT pg_sleep(0.05);\nINSERT INTO goods VALUES (1);\n"
    )
    replica = cluster.replicas[0]

    def end_sessions() -> None:
        wait_until(lambda: reading(replica) >= 4, "all have read there")
        servers.ask(
            replica,
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
            "WHERE datname IS NOT NULL AND pid <> pg_backend_pid()",
        )

    ending = Thread(target=end_sessions)
    ending.start()
    words = ("--read", "read=replica", "--clients", "4", "--duration", "3", "--reconnect")
    ended = assay(
        *("run", "-f", "add.sql", "-f", "read.sql", "--on", url(cluster.primary, replica)), *words
    )
    ending.join()
    (run,) = ended.runs
    assert run.driven is not None
    found = by_place(run)
    primary, read = found[place(cluster.primary)], found[place(replica)]
    assert not primary.errors and primary.failed == primary.unknown == 0
    assert 1 <= read.failed + read.unknown <= 4
    assert run.driven.reconnects == 4, "all clients went on"


def test_what_would_write_at_a_replica_is_refused(cluster: Cluster, assay: Assay) -> None:
    words = ("--read", "replica", "--transactions", "10")
    ended = assay("run", "add.sql", "--on", url(*cluster.servers), *words)
    (run,) = ended.runs
    assert (ended.status, run.state) == (2, "refused")
    assert "would write at replicas, which take no writes: add" in run.reason
    both = assay(
        *("run", "-f", "add.sql", "-f", "read.sql", "--on", url(*cluster.servers)),
        *("--transactions", "10", "--read", "add=any,read=replica"),
    )
    (run,) = both.runs
    assert both.status == 2 and "the clients with add (any) would write at replicas" in run.reason
    unknown = assay("run", "add.sql", "--on", url(*cluster.servers), "--read", "sell=replica")
    assert unknown.status == 2 and "no script is called sell" in unknown.err
    alone = assay("run", "read.sql", "--on", url(cluster.primary), *words)
    (run,) = alone.runs
    assert (alone.status, run.state) == (2, "refused")
    assert "has no replica, at which the clients" in run.reason
    assert "HOST,HOST,HOST" in run.reason


def test_a_replica_that_dies_takes_its_clients_with_it_and_no_others(
    cluster: Cluster, assay: Assay, working_folder: Path
) -> None:
    # Its clients are in a transaction when it dies, not between two.
    (working_folder / "slow.sql").write_text("SELECT count(*) FROM goods, pg_sleep(0.005);\n")
    with standby_of(cluster.primary, cluster.storage) as third:
        pid = third.nodes[0].pid
        assert pid is not None

        def die() -> None:
            wait_until(lambda: reading(third) >= 2, "its two clients have read there")
            # The first process: it would start the others again.
            os.kill(pid, signal.SIGQUIT)

        killer = Thread(target=die)
        killer.start()
        words = ("--read", "replica", "--clients", "4", "--duration", "4")
        on = url(cluster.primary, cluster.replicas[0], third)
        ended = assay("run", "slow.sql", "--on", on, *words)
        killer.join()
    (run,) = ended.runs
    found = by_place(run)
    lives, died = found[place(cluster.replicas[0])], found[place(third)]
    assert not lives.errors and lives.failed == lives.unknown == 0
    assert died.errors
    assert died.unknown + died.failed >= 1
    assert 0 < died.ok < lives.ok
    assert run.driven is not None
    assert lives.ok + died.ok == run.driven.outcomes.ok


def test_a_replica_that_stands_still_before_the_run_is_named_as_the_cause(
    cluster: Cluster, assay: Assay
) -> None:
    paused, other = cluster.replicas
    wait_until_it_receives(paused)  # a connection that was lost comes back after 5 s
    servers.ask(paused, "SELECT pg_wal_replay_pause()")
    try:
        ended = assay("run", "./w", "--on", url(*cluster.servers), "--duration", "1")
    finally:
        # What it replays then, as the end of tables, may end the question itself.
        with suppress(SystemRefused):
            servers.ask(paused, "SELECT pg_wal_replay_resume()")
    (run,) = ended.runs
    assert ended.status == 3
    assert f"the clients wait until {place(paused)} has applied what was written" in ended.err
    assert place(other) not in ended.err.partition("wait until")[2].partition("has applied")[0]
    assert f"the standby at {place(paused)} has not applied within 30 s" in run.reason
    assert "pg_is_wal_replay_paused()" in run.reason and "--protocol" not in run.reason


def test_servers_of_two_clusters_and_hosts_that_are_down_are_refused(
    cluster: Cluster, assay: Assay, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv(env_vars.NEW_DATA.name, raising=False)  # copies are of one cluster

    def reason(on: str) -> str:
        ended = assay("run", "read.sql", "--on", on, "--transactions", "5")
        (run,) = ended.runs
        assert ended.status == 3, ended.out + ended.err
        return run.reason

    replica = cluster.replicas[0]
    with servers.provisioned(POSTGRESQL, cluster.storage, options=TCP) as other:
        # One URL has one password.
        word = replica.address.password
        servers.ask(other, f"ALTER ROLE {other.address.user} PASSWORD '{word}'")
        other = replace(other, endpoints=(structs.replace(other.address, password=word),))
        both = reason(url(cluster.primary, other))
        assert "expected one primary and its replicas, found 2 primaries" in both
        with standby_of(other, cluster.storage) as foreign:
            strange = reason(url(cluster.primary, foreign))
            assert "expected the servers of one cluster, found those of 2" in strange
            assert f"{place(foreign)}: cluster " in strange
    wait_until_it_receives(replica)
    dead = url(cluster.primary, replica).replace(place(cluster.primary), "127.0.0.1:1")
    said = reason(dead)
    assert "expected every server that it names; 127.0.0.1:1: " in said
    assert f"{place(replica)}: standby of {place(cluster.primary)}" in said
    twice = reason(url(cluster.primary, replica, cluster.primary))
    assert f"expected each server once, found {place(cluster.primary)} twice" in twice
    none = reason(url(*cluster.replicas))
    assert "expected one primary and its replicas, found no primary" in none


def test_a_replica_of_mysqls_protocol_is_read_by_the_same_words(
    storage: StorageFacts, assay: Assay
) -> None:
    need("mariadb")
    system = registry.system("mariadb")

    def settings(number: int) -> dict[str, str]:
        return {"server_id": str(number), "log_bin": "changes", "max_connections": "50"}

    with (
        servers.provisioned(system, storage, settings(1), TCP) as source,
        servers.provisioned(system, storage, settings(2), TCP) as replica,
    ):
        address = source.address
        # One URL has one password.
        servers.ask(replica, f"SET PASSWORD = PASSWORD('{address.password}')")
        replica = replace(replica, endpoints=(structs.replace(address, port=replica.address.port),))
        position = servers.ask(source, "SHOW MASTER STATUS")[0]
        servers.ask(
            replica,
            f"CHANGE MASTER TO master_host = '{address.host}', master_port = {address.port}, "
            f"master_user = '{address.user}', master_password = '{address.password}', "
            f"master_log_file = '{position[0]}', master_log_pos = {position[1]}",
        )
        servers.ask(replica, "START SLAVE")
        on = servers.url_of(system, source).replace(
            place(source), f"{place(replica)},{place(source)}"
        )
        run = only_run(assay("run", "./w", "--on", on))
        assert list(by_place(run, "writers")) == [place(source)]
        assert list(by_place(run, "readers")) == [place(replica)]
        assert by_place(run, "readers")[place(replica)].ok > 0
        assert staleness(run)[place(replica)].numbers >= 15
        servers.ask(replica, "STOP SLAVE")
        servers.ask(replica, "RESET SLAVE ALL")
        apart = assay("run", "./w", "--on", on)
        assert "found 2 primaries" in apart.runs[0].reason
