"""Settings are in effect as they were asked for, or refused; what they mean, and which of them
lower the safety of data."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path

import pytest

from assay.contracts import durability as words
from assay.contracts.durability import Safeguard
from assay.errors import ArgumentError, SystemRefused
from assay.systems.cassandra import settings as cassandra
from assay.systems.cubrid import system as cubrid
from assay.systems.mariadb.system import MARIADB
from assay.systems.mysql.system import MYSQL
from assay.systems.mysql_protocol import server, settings
from assay.systems.mysql_protocol import settings as mysql
from assay.systems.mysql_protocol import settings as mysql_settings
from assay.systems.mysql_protocol.product import Described, Programs, is_altered, is_in_effect
from assay.systems.options import version_of
from assay.systems.postgresql import server as removed
from assay.systems.postgresql import settings as postgresql
from assay.systems.sqlite import settings as sqlite
from assay.systems.sqlite import settings as sqlite_settings

SUFFIX = (
    "2026-11-28  2:46:55 0 [ERROR] Unknown suffix 'o' used for variable "
    "'innodb-flush-log-at-trx-commit' (value 'on'). Legal suffix characters are: K, M, G, T, P, E"
)
SUFFIX_WITH_NUMBERS = (
    "2026-11-28T02:46:56.214021Z 0 [ERROR] [MY-000058] [Server] Unknown suffix 'o' used for "
    "variable 'innodb-flush-log-at-trx-commit' (value 'on')."
)
ADJUSTED = (
    "2026-11-28  2:46:55 0 [Warning] Buffered warning: option 'max_connections': unsigned value 1 "
    "adjusted to 10"
)
IGNORED = (
    "2026-11-28  2:48:17 0 [Warning] mariadbd: ignoring option '--innodb-change-buffering' due to "
    "invalid value 'maybe'"
)
FILES = "2026-11-28  2:46:55 0 [Warning] Could not increase number of max_open_files to more"


def program(folder: Path, log: str, table: str) -> Programs:
    """A program that prints this for all arguments."""
    server = folder / "server"
    server.write_text(
        f"#!/bin/sh\ncat >&2 <<'END'\n{log}\nEND\ncat <<'END'\nVariables\n---- ----\n{table}\nEND\n"
    )
    server.chmod(0o755)
    return Programs(server)


@pytest.mark.parametrize(
    ("name", "asked", "log", "read", "why"),
    [
        ("innodb_flush_log_at_trx_commit", "on", SUFFIX, "0", "Unknown suffix 'o'"),
        ("innodb_flush_log_at_trx_commit", "on", SUFFIX_WITH_NUMBERS, "0", "^[^[]*Unknown suffix"),
        ("max-connections", "1", ADJUSTED, "10", "unsigned value 1 adjusted to 10"),
        ("max_connections", "1", FILES, "10", "asked as '1' and would be '10'"),
        ("innodb_change_buffering", "maybe", IGNORED, "none", "due to invalid value 'maybe'"),
        ("autocommit", "maybe", FILES, "FALSE", "asked as 'maybe' and would be 'OFF'"),
    ],
)
def test_refused_in_its_words(
    tmp_path: Path, name: str, asked: str, log: str, read: str, why: str
) -> None:
    programs = program(tmp_path, log, f"{name.replace('_', '-')}   {read}")
    (spelled,) = settings.spelled(MARIADB.product, programs, {name: asked})
    assert (spelled.name, spelled.value, spelled.is_default) == (name, asked, False)
    with pytest.raises(ArgumentError, match=why) as refused:
        settings.refuse_altered(MARIADB.product, programs, {name: asked})
    assert refused.value.hint == f"it was given {name}={asked}"


@pytest.mark.parametrize(
    ("name", "asked", "read", "shown"),
    [
        ("sort_buffer_size", "1024K", "1048576", "1M"),
        ("autocommit", "true", "TRUE", "ON"),
        ("binlog_format", "1", "STATEMENT", "STATEMENT"),
        ("long_query_time", "0.50", "0.5", "0.5"),
    ],
)
def test_another_spelling_is_none(
    tmp_path: Path, name: str, asked: str, read: str, shown: str
) -> None:
    programs = program(tmp_path, FILES, f"{name.replace('_', '-')}   {read}")
    assert [one.value for one in settings.spelled(MARIADB.product, programs, {name: asked})] == [
        shown
    ]
    settings.refuse_altered(MARIADB.product, programs, {name: asked})


@pytest.mark.parametrize(
    ("asked", "read", "shown"),
    [("ON", "vm-bin", "ON"), ("true", "vm-bin", "ON"), ("0", "(No default value)", "OFF")],
)
def test_a_switch_has_no_name_that_the_server_makes_of_the_machines(
    tmp_path: Path, asked: str, read: str, shown: str
) -> None:
    programs = program(tmp_path, FILES, f"log-bin   {read}")
    (found,) = settings.spelled(MARIADB.product, programs, {"log-bin": asked})
    assert (found.name, found.value) == ("log_bin", shown)


def test_what_open_files_lower_is_left_to_the_server_that_runs(tmp_path: Path) -> None:
    programs = program(tmp_path, FILES, "table-open-cache   9909")
    asked = {"table_open_cache": "30000"}
    assert [one.value for one in settings.spelled(MARIADB.product, programs, asked)] == ["30000"]
    settings.refuse_altered(MARIADB.product, programs, asked)


def test_a_word_for_a_number_is_not_taken_for_another() -> None:
    assert not is_altered("1", "row")
    assert is_altered("8388609", "8388608")


POSTGRESQL_15 = {
    "wal_level": "replica", "archive_mode": "off", "synchronous_standby_names": "",
    "synchronous_commit": "on", "full_page_writes": "on", "data_checksums": "off",
}  # fmt: skip
"""As a new server of version 15 reports them."""
MYSQL_9 = {
    "log_bin": "ON",
    "sync_binlog": "1",
    "innodb_doublewrite": "ON",
    "innodb_checksum_algorithm": "crc32",
}
MARIADB_SETTINGS = {
    **MYSQL_9,
    "log_bin": "OFF",
    "sync_binlog": "0",
    "innodb_checksum_algorithm": "none",
}


def does(found: Iterable[Safeguard]) -> dict[str, str]:
    return {one.kind: one.does for one in found}


def test_systems_of_different_kinds_share_the_words() -> None:
    """A kind has one text for what is the same, and another one for what is not."""
    pg, my, maria = (
        does(postgresql.safeguards_of_settings(POSTGRESQL_15)),
        does(mysql.safeguards_of_settings(MYSQL_9, "InnoDB")),
        does(mysql.safeguards_of_settings(MARIADB_SETTINGS, "InnoDB")),
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
    assert does(postgresql.safeguards_of_settings({**POSTGRESQL_15, **changed}))[kind] == found


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
    assert does(mysql.safeguards_of_settings({**MYSQL_9, **changed}, engine))[kind].startswith(
        found
    )


@pytest.mark.parametrize(
    ("mode", "found"),
    [("wal", words.LOGS_PAGES), ("delete", words.COPIES_PAGES), ("off", words.WRITES_ONCE)],
)
def test_a_journal_of_a_file(mode: str, found: str) -> None:
    assert does(sqlite.safeguards_of_settings({"journal_mode": mode}))[words.TORN_PAGES] == found


def test_replicas_that_a_write_waits_for() -> None:
    reported = {"incremental_backups": "false"}
    for consistency, replicas, found in (
        ("one", 3, words.NO_REPLICAS),
        ("quorum", 1, words.NO_REPLICAS),
        ("quorum", 3, words.WAITS_FOR_REPLICAS),
    ):
        assert (
            does(cassandra.safeguards_of_settings(reported, consistency, replicas))[words.REPLICAS]
            == found
        )
    assert words.REPLICAS not in does(cassandra.safeguards_of_settings(reported, "quorum", None))


def test_what_is_not_reported_is_not_known() -> None:
    """A server that hides its settings, or a version that lacks one, claims nothing."""
    for nothing in (
        postgresql.safeguards_of_settings({"server_version": "13.0.0"}),
        mysql.safeguards_of_settings({"version": "8.0.11"}, "InnoDB"),
        cassandra.safeguards_of_settings({}, "one", 1),
        cubrid.safeguards_of_settings({}),
    ):
        assert list(nothing) == []
    assert words.TORN_PAGES not in does(cubrid.safeguards_of_settings({"async_commit": "n"}))
    twice = does(cubrid.safeguards_of_settings({"double_write_buffer_size": "2.0M"}))
    once = does(cubrid.safeguards_of_settings({"double_write_buffer_size": "0.0B"}))
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
    found = does(words.safeguards_of_file_system(file_system, options))
    assert (found.get(words.JOURNAL), found.get(words.BARRIERS)) == (journal, barriers)


FOUND = {
    "datadir": "/data/d/",
    "version": "10.11.6-MariaDB",
    "log_bin": "ON",
    "log_bin_basename": "/data/d/mysql-bin",
    "binlog_format": "MIXED",
    "sql_mode": "STRICT_TRANS_TABLES,NO_ZERO_DATE,TRADITIONAL",
    "optimizer_switch": "index_merge=on,mrr=on,mrr_sort_keys=off",
    "slow_query_log": "ON",
    "innodb_data_home_dir": "",
    "tmpdir": "/data/tmp",
    "general_log_file": "here.log",
    "innodb_buffer_pool_size": "134217728",
    "long_query_time": "1.500000",
    "old_mode": "UTF8_IS_UTF8MB3",
}
DESCRIBED = {
    "binlog_format": Described("enum", ("mixed", "statement", "row")),
    "sql_mode": Described("set", ("real_as_float", "pipes_as_concat")),
    "optimizer_switch": Described("flagset", ("index_merge", "mrr", "mrr_sort_keys")),
    "old_mode": Described("set", ("no_dup", "zero_date", "x", "utf8_is_utf8mb3")),
}


@pytest.mark.parametrize(
    ("name", "asked", "is_so"),
    [
        ("log_bin", "mysql-bin", True), ("log_bin", "mysql-bin.log", True),
        ("log_bin", "/data/d/mysql-bin", True), ("log_bin", "other-bin", False),
        ("log_bin", "ON", True), ("log_bin", "OFF", False), ("binlog_format", "mixed", True),
        ("binlog_format", "0", True), ("binlog_format", "2", False),
        ("sql_mode", "traditional", True), ("sql_mode", "STRICT_TRANS_TABLES", False),
        ("old_mode", "8", True), ("optimizer_switch", "mrr=on", True),
        ("optimizer_switch", "mrr_sort_keys=on", False), ("slow_query_log", "true", True),
        ("slow_query_log", "0", False), ("tmpdir", "/data//tmp/", True),
        ("tmpdir", "/other", False), ("general_log_file", "/data/d/here.log", True),
        ("innodb_buffer_pool_size", "128M", True), ("innodb_buffer_pool_size", "129M", False),
        ("long_query_time", "1.5", True), ("long_query_time", "15e-1", True),
    ],
)  # fmt: skip
def test_values_of_mariadb_are_compared_by_meaning(name: str, asked: str, is_so: bool) -> None:
    assert is_in_effect(name, asked, FOUND, DESCRIBED) is is_so


def test_a_removed_setting_is_named_with_the_version() -> None:
    with pytest.raises(SystemRefused) as refused:
        mysql_settings.insist(MARIADB.product, FOUND, {"innodb-log-files-in-group": "2"}, DESCRIBED)
    assert "innodb_log_files_in_group was removed in MariaDB 10.6" in refused.value.message
    assert "10.11.6" in refused.value.message and "innodb_log_file_size" in refused.value.message
    gone = removed.why_it_is_gone("wal_keep_segments", 15)
    assert gone is not None and "13" in gone and "wal_keep_size" in gone
    assert removed.why_it_is_gone("old_snapshot_threshold", 15) is None
    with pytest.raises(SystemRefused, match="MySQL no longer has query_cache_size: leave it out"):
        mysql_settings.insist(MYSQL.product, FOUND, {"query-cache-size": "1M"}, {})


def test_sizes_of_sqlite_may_have_units() -> None:
    assert sqlite_settings.statements({"mmap_size": "64MB"}) == ("PRAGMA mmap_size = 67108864",)
    sqlite_settings.insist({"mmap_size": "67108864"}, {"mmap_size": "64MiB"})
    with pytest.raises(SystemRefused):
        sqlite_settings.insist({"mmap_size": "0"}, {"mmap_size": "64MB"})


SAID = """\
/usr/bin/mariadb-install-db: 603: cannot create /dev/null: Permission denied

Installation of system tables failed!  Examine the logs in
/data for more information.

Please check all of the above before submitting a bug report
at https://mariadb.org/jira
"""


def test_the_reason_stands_before_the_advice(tmp_path: Path) -> None:
    log = tmp_path / "install.log"
    log.write_text(SAID, encoding="utf-8")
    assert server._last_words(log) == SAID.partition("\n")[0]
    log.write_text("2026 0 [ERROR] unknown option '--x'\n" + SAID, encoding="utf-8")
    assert server._last_words(log) == "unknown option '--x'"


def test_a_number_in_the_path_of_the_program_is_no_version(tmp_path: Path) -> None:
    program = tmp_path / "11.8" / "server"
    program.parent.mkdir()
    program.write_text('#!/bin/sh\necho "$0  Ver 11.8.9-MariaDB for Linux"\n', encoding="utf-8")
    program.chmod(0o755)
    assert version_of(program) == "11.8.9-MariaDB"
