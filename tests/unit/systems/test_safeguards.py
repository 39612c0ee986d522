"""What effective settings make a system write, flush and check, in words that all systems share."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import pytest

from assay.contracts import safeguards as words
from assay.contracts.safeguards import Safeguard
from assay.systems.cassandra import safeguards as cassandra
from assay.systems.cubrid import safeguards as cubrid
from assay.systems.mysql_protocol import safeguards as mysql
from assay.systems.postgresql import safeguards as postgresql
from assay.systems.sqlite import safeguards as sqlite

POSTGRESQL_15 = {
    "wal_level": "replica",
    "archive_mode": "off",
    "synchronous_standby_names": "",
    "synchronous_commit": "on",
    "full_page_writes": "on",
    "data_checksums": "off",
}
"""As a new server of version 15 reports them."""
MYSQL_9 = {
    "log_bin": "ON",
    "sync_binlog": "1",
    "innodb_doublewrite": "ON",
    "innodb_checksum_algorithm": "crc32",
}
MARIADB = {**MYSQL_9, "log_bin": "OFF", "sync_binlog": "0", "innodb_checksum_algorithm": "none"}


def does(found: Iterable[Safeguard]) -> dict[str, str]:
    return {one.kind: one.does for one in found}


def test_systems_of_different_kinds_share_the_words() -> None:
    """A kind has one text for what is the same, and another one for what is not."""
    pg, my, maria = (
        does(postgresql.of_settings(POSTGRESQL_15)),
        does(mysql.of_settings(MYSQL_9, "InnoDB")),
        does(mysql.of_settings(MARIADB, "InnoDB")),
    )
    assert my[words.BINARY_LOG] == "writes and flushes a binary log"
    assert maria[words.BINARY_LOG] == pg[words.BINARY_LOG] == "writes no binary log"
    assert (pg[words.CHECKSUMS], my[words.CHECKSUMS]) == (words.CHECKS_NONE, words.CHECKS_PAGES)
    assert maria[words.CHECKSUMS] == pg[words.CHECKSUMS]
    assert pg[words.REPLICAS] == my[words.REPLICAS] == words.NO_REPLICAS


@pytest.mark.parametrize(
    ("kind", "changed", "found"),
    [
        (words.LOG_FOR_REPLICAS, {"wal_level": "minimal"}, words.NOTHING_FOR_REPLICAS),
        (words.LOG_FOR_REPLICAS, {"wal_level": "logical"}, words.LOGS_FOR_LOGICAL_REPLICAS),
        (words.ARCHIVE, {"archive_mode": "always"}, words.ARCHIVES),
        (words.TORN_PAGES, {"full_page_writes": "off"}, words.WRITES_ONCE),
        (words.CHECKSUMS, {"data_checksums": "on"}, words.CHECKS_PAGES),
        (words.REPLICAS, {"synchronous_standby_names": "*"}, words.WAITS_FOR_REPLICAS),
        (
            words.REPLICAS,
            {"synchronous_standby_names": "*", "synchronous_commit": "local"},
            words.NO_REPLICAS,
        ),
    ],
)
def test_settings_of_postgresql(kind: str, changed: Mapping[str, str], found: str) -> None:
    assert does(postgresql.of_settings({**POSTGRESQL_15, **changed}))[kind] == found


@pytest.mark.parametrize(
    ("kind", "changed", "engine", "found"),
    [
        (words.BINARY_LOG, {"sync_binlog": "0"}, "InnoDB", words.UNFLUSHED_BINARY_LOG),
        (
            words.BINARY_LOG,
            {"sync_binlog": "1000"},
            "InnoDB",
            "writes a binary log, which it flushes every 1,000 commits",
        ),
        (words.REPLICAS, {"rpl_semi_sync_source_enabled": "ON"}, "InnoDB", "waits for replicas"),
        (words.TORN_PAGES, {"innodb_doublewrite": "DETECT_ONLY"}, "InnoDB", words.WRITES_ONCE),
        (words.TORN_PAGES, {}, "InnoDB", words.WRITES_TWICE),
        (words.TORN_PAGES, {}, "MyISAM", words.WRITES_ONCE),
        (words.CHECKSUMS, {}, "MyISAM", words.CHECKS_NONE),
    ],
)
def test_settings_of_the_mysql_protocol(
    kind: str, changed: Mapping[str, str], engine: str, found: str
) -> None:
    assert does(mysql.of_settings({**MYSQL_9, **changed}, engine))[kind].startswith(found)


@pytest.mark.parametrize(
    ("mode", "found"),
    [
        ("wal", words.LOGS_PAGES),
        ("delete", words.COPIES_PAGES),
        ("off", words.WRITES_ONCE),
    ],
)
def test_a_journal_of_a_file(mode: str, found: str) -> None:
    assert does(sqlite.of_settings({"journal_mode": mode}))[words.TORN_PAGES] == found


def test_replicas_that_a_write_waits_for() -> None:
    reported = {"incremental_backups": "false"}
    for consistency, replicas, found in (
        ("one", 3, words.NO_REPLICAS),
        ("quorum", 1, words.NO_REPLICAS),
        ("quorum", 3, words.WAITS_FOR_REPLICAS),
    ):
        assert does(cassandra.of_settings(reported, consistency, replicas))[words.REPLICAS] == found
    assert words.REPLICAS not in does(cassandra.of_settings(reported, "quorum", None))


def test_what_is_not_reported_is_not_known() -> None:
    """A server that hides its settings, or a version that lacks one, claims nothing."""
    for nothing in (
        postgresql.of_settings({"server_version": "13.0.0"}),
        mysql.of_settings({"version": "8.0.11"}, "InnoDB"),
        cassandra.of_settings({}, "one", 1),
        cubrid.of_settings({}),
    ):
        assert list(nothing) == []
    assert words.TORN_PAGES not in does(cubrid.of_settings({"async_commit": "n"}))
    twice = does(cubrid.of_settings({"double_write_buffer_size": "2.0M"}))
    once = does(cubrid.of_settings({"double_write_buffer_size": "0.0B"}))
    assert (twice[words.TORN_PAGES], once[words.TORN_PAGES]) == (
        words.WRITES_TWICE, words.WRITES_ONCE,
    )  # fmt: skip


@pytest.mark.parametrize(
    ("file_system", "options", "journal", "barriers"),
    [
        ("ext4", "rw,relatime", words.JOURNALS_METADATA, words.WITH_BARRIERS),
        ("ext4", "rw,nobarrier,data=journal", words.JOURNALS_DATA, words.NO_BARRIERS),
        ("ext4", "rw,barrier=0,data=writeback", words.JOURNALS_UNORDERED, words.NO_BARRIERS),
        ("btrfs", "rw,ssd", words.COPIES_ON_WRITE, words.WITH_BARRIERS),
        ("ext2", "rw", words.NO_JOURNAL, None),
        ("raw", "", words.NO_JOURNAL, None),
        ("", "", None, None),
        ("fuse.sshfs", "rw", None, None),
    ],
)
def test_what_a_file_system_does(
    file_system: str, options: str, journal: str | None, barriers: str | None
) -> None:
    found = does(words.of_file_system(file_system, options))
    assert (found.get(words.JOURNAL), found.get(words.BARRIERS)) == (journal, barriers)
