"""Settings are compared by the meaning of their values, not by the text that a server returns."""

from __future__ import annotations

import pytest

from assay.errors import SystemRefused
from assay.systems.mariadb import MARIADB
from assay.systems.mysql import MYSQL
from assay.systems.mysql_protocol import settings as mysql_settings
from assay.systems.mysql_protocol.meaning import Described, is_in_effect
from assay.systems.postgresql import removed
from assay.systems.sqlite import settings as sqlite

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
        ("log_bin", "mysql-bin", True),
        ("log_bin", "mysql-bin.log", True),
        ("log_bin", "/data/d/mysql-bin", True),
        ("log_bin", "other-bin", False),
        ("log_bin", "ON", True),
        ("log_bin", "OFF", False),
        ("binlog_format", "mixed", True),
        ("binlog_format", "0", True),
        ("binlog_format", "2", False),
        ("sql_mode", "traditional", True),
        ("sql_mode", "STRICT_TRANS_TABLES", False),
        ("old_mode", "8", True),
        ("optimizer_switch", "mrr=on", True),
        ("optimizer_switch", "mrr_sort_keys=on", False),
        ("slow_query_log", "true", True),
        ("slow_query_log", "0", False),
        ("tmpdir", "/data//tmp/", True),
        ("tmpdir", "/other", False),
        ("general_log_file", "/data/d/here.log", True),
        ("innodb_buffer_pool_size", "128M", True),
        ("innodb_buffer_pool_size", "129M", False),
        ("long_query_time", "1.5", True),
        ("long_query_time", "15e-1", True),
    ],
)
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
    assert sqlite.statements({"mmap_size": "64MB"}) == ("PRAGMA mmap_size = 67108864",)
    sqlite.insist({"mmap_size": "67108864"}, {"mmap_size": "64MiB"})
    with pytest.raises(SystemRefused):
        sqlite.insist({"mmap_size": "0"}, {"mmap_size": "64MB"})
