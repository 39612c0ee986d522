"""Reads back what a server is really set to, and insists on what was asked."""

from __future__ import annotations

import re
from collections.abc import Mapping

from assay._engine import Session
from assay.errors import SystemRefused
from assay.systems.mariadb.names import plain_name

DECISIVE = (
    # what a commit waits for, and what a crash can take
    "innodb_flush_log_at_trx_commit",
    "innodb_flush_log_at_timeout",
    "innodb_flush_method",
    "innodb_doublewrite",
    "innodb_checksum_algorithm",
    "innodb_use_native_aio",
    "log_bin",
    "sync_binlog",
    "binlog_format",
    "aria_group_commit",
    "aria_group_commit_interval",
    "flush",
    "delay_key_write",
    # when pages are written
    "innodb_log_file_size",
    "innodb_log_files_in_group",
    "innodb_redo_log_capacity",
    "innodb_io_capacity",
    "innodb_io_capacity_max",
    "innodb_max_dirty_pages_pct",
    "innodb_flush_neighbors",
    "innodb_change_buffering",
    "aria_checkpoint_interval",
    # memory
    "innodb_buffer_pool_size",
    "innodb_log_buffer_size",
    "innodb_adaptive_hash_index",
    "key_buffer_size",
    "aria_pagecache_buffer_size",
    "query_cache_type",
    "query_cache_size",
    "sort_buffer_size",
    "join_buffer_size",
    "read_buffer_size",
    "tmp_table_size",
    "max_heap_table_size",
    # sessions and open tables
    "max_connections",
    "thread_handling",
    "thread_cache_size",
    "table_open_cache",
    "open_files_limit",
    "max_allowed_packet",
    # what statements mean
    "default_storage_engine",
    "character_set_server",
    "collation_server",
    "sql_mode",
    "tx_isolation",
    "transaction_isolation",
    "autocommit",
    "local_infile",
    # how the data directory was made
    "innodb_page_size",
    "innodb_file_per_table",
    "innodb_data_file_path",
)
"""Settings that decide speed or durability; recorded also where they are at their default. Names
that a version does not have are left out of its record."""

_PLACES = """
    basedir bind_address character_sets_dir datadir init_file log_error pid_file plugin_dir port
    report_port skip_networking slave_load_tmpdir socket tmpdir
"""
_OF_THIS_RUN_ONLY = frozenset(_PLACES.split())

_CHANGED_QUERY = """
SELECT variable_name FROM information_schema.system_variables
WHERE global_value_origin NOT IN ('COMPILE-TIME', 'AUTO', 'ENVIRONMENT')
"""

_LOWERS_DURABILITY = {
    "innodb_flush_log_at_trx_commit": {"0", "2"},
    "innodb_flush_method": {"nosync", "littlesync"},
    "innodb_doublewrite": {"off"},
    "aria_group_commit": {"soft"},
}

_FACTOR = {"": 1, "k": 1 << 10, "m": 1 << 20, "g": 1 << 30, "t": 1 << 40, "p": 1 << 50}
_TRUTH = {"on": "1", "true": "1", "yes": "1", "off": "0", "false": "0", "no": "0"}


def read(session: Session) -> dict[str, str]:
    """Every variable as this session sees it: its own value where it has one, else the server's."""
    rows = session.execute("SHOW SESSION VARIABLES").rows
    return {str(name).lower(): value or "" for name, value in rows}


def changed(session: Session) -> set[str]:
    """Names of the variables that somebody has set; none where a server (MySQL) does not tell."""
    has_origins = session.execute(
        "SELECT 1 FROM information_schema.tables WHERE table_schema = 'information_schema' "
        "AND table_name = 'SYSTEM_VARIABLES'"
    )
    if not has_origins.rows:
        return set()
    return {str(row[0]).lower() for row in session.execute(_CHANGED_QUERY).rows}


def insist(found: Mapping[str, str], asked: Mapping[str, str]) -> None:
    """Raises `SystemRefused` for the first setting that was asked and is not in effect: the server
    has no such variable (it takes the beginning of a name for the whole), or rounded the value."""
    for name, value in asked.items():
        effective = found.get(plain_name(name))
        if effective is None:
            raise SystemRefused(
                f"the setting {name} was asked as {value!r}; the server took it, and has no "
                "variable of that name",
                hint="give the name that SHOW GLOBAL VARIABLES has",
            )
        if not _means_the_same(value, effective):
            raise SystemRefused(
                f"the setting {plain_name(name)} was asked as {value!r} and is {effective!r}",
                hint="ask for a value that the server can take as it is",
            )


def effective(
    found: Mapping[str, str], asked: Mapping[str, str], changed: set[str]
) -> dict[str, str]:
    """What the record keeps: what decides speed and durability, what was asked, and whatever
    somebody has set, but for paths and ports."""
    wanted = {*DECISIVE, *map(plain_name, asked), *(changed - _OF_THIS_RUN_ONLY)}
    return {name: value for name, value in sorted(found.items()) if name in wanted}


def durability_lowered_by(settings: Mapping[str, str], engine: str) -> tuple[str, ...]:
    """The effective settings with which an acknowledged commit, or more, can be lost in a crash.

    With a binary log that is not flushed, InnoDB takes back at the next start what it holds and the
    log does not. MyISAM hands rows to the operating system and never asks for them to be flushed.
    """
    lowered = [
        f"{name} = {settings[name]}"
        for name, values in _LOWERS_DURABILITY.items()
        if settings.get(name, "").lower() in values
    ]
    if settings.get("log_bin", "").lower() == "on" and settings.get("sync_binlog") != "1":
        lowered.append(f"sync_binlog = {settings.get('sync_binlog')}")
    if engine.lower() == "myisam":
        lowered.append(f"engine = {engine}")
    return tuple(lowered)


def _means_the_same(asked: str, effective: str) -> bool:
    """Whether two spellings are one value: numbers with or without a factor, switches, lists whose
    order means nothing, words in any letter case."""
    left, right = asked.strip().lower(), effective.strip().lower()
    if left == right or sorted(left.split(",")) == sorted(right.split(",")):
        return True
    if _TRUTH.get(left, left) == _TRUTH.get(right, right):
        return True
    first, second = _number(left), _number(right)
    return first is not None and first == second


def _number(text: str) -> float | None:
    found = re.fullmatch(r"(-?\d+(?:\.\d+)?)([kmgtp]?)", text)
    return None if found is None else float(found.group(1)) * _FACTOR[found.group(2)]
