"""Reads the effective settings of a server, and refuses those that differ from the given ones."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from assay.dialects.mysql import UNFLUSHED_ENGINES
from assay.errors import SystemRefused
from assay.provision.engine.engine_calls import Session
from assay.systems.answers import rows_of
from assay.systems.mysql_protocol.meaning import Described, is_in_effect
from assay.systems.mysql_protocol.names import plain_name
from assay.systems.mysql_protocol.product import Product

DECISIVE = (
    # what a commit waits for, and what a crash can take
    "innodb_flush_log_at_trx_commit",
    "innodb_flush_log_at_timeout",
    "innodb_flush_method",
    "innodb_doublewrite",
    "innodb_checksum_algorithm",
    "innodb_use_native_aio",
    "innodb_use_fdatasync",
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
    "innodb_buffer_pool_instances",
    "innodb_dedicated_server",
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
    basedir bind_address character_sets_dir datadir init_file lc_messages_dir log_error pid_file
    plugin_dir port report_port replica_load_tmpdir secure_file_priv skip_networking
    slave_load_tmpdir socket tmpdir
"""
_OF_THIS_RUN_ONLY = frozenset(_PLACES.split())

UNKNOWN = "it does not answer SHOW SESSION VARIABLES"

_LOWERS_DURABILITY = {
    "innodb_flush_log_at_trx_commit": {"0", "2"},
    "innodb_flush_method": {"nosync", "littlesync"},
    "innodb_doublewrite": {"off", "detect_only"},
    "aria_group_commit": {"soft"},
}


def read(session: Session) -> dict[str, str] | None:
    """Every variable as this session sees it: its own value where it has one, else the server's;
    None where the server does not report them."""
    rows = rows_of(session, "SHOW SESSION VARIABLES", columns=2) or ()
    found = {str(name).lower(): value or "" for name, value in rows}
    return found if "version" in found else None


def changed(session: Session, product: Product) -> set[str]:
    """Names of the variables that are not at their default; empty where the server does not report
    them."""
    rows = rows_of(session, product.changed_query, columns=1) or ()
    return {str(name).lower() for (name,) in rows}


def insist(
    product: Product,
    reported: Mapping[str, str],
    asked: Mapping[str, str],
    described: Mapping[str, Described],
) -> None:
    """Raises `SystemRefused` for the first setting that was asked and is not in effect: the server
    has no such variable (it takes the beginning of a name for the whole), or rounded the value."""
    for name, value in asked.items():
        effective = reported.get(plain_name(name))
        if effective is None:
            if gone := product.why_it_is_gone(name):
                raise SystemRefused(
                    f"{gone}; this is {reported.get('version', 'an unknown version')}"
                )
            raise SystemRefused(
                f"the setting {name} was asked as {value!r}; the server took it, and has no "
                "variable of that name",
                hint="give the name that SHOW GLOBAL VARIABLES has",
            )
        if not is_in_effect(plain_name(name), value, reported, described):
            raise SystemRefused(
                f"the setting {plain_name(name)} was asked as {value!r} and is {effective!r}",
                hint="ask for a value that the server can take as it is",
            )


def effective(
    reported: Mapping[str, str], asked: Mapping[str, str], changed: set[str]
) -> dict[str, str]:
    """What the record keeps: what decides speed and durability, what was asked, and whatever
    is not at its default, but for paths and ports."""
    recorded = {*DECISIVE, *map(plain_name, asked), *(changed - _OF_THIS_RUN_ONLY)}
    return {name: value for name, value in sorted(reported.items()) if name in recorded}


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
    if engine.lower() in UNFLUSHED_ENGINES:
        lowered.append(f"engine = {engine}")
    return tuple(lowered)


def durable_instead(lowered: Iterable[str]) -> dict[str, str]:
    """What to set where it is not the default everywhere: MariaDB flushes no binary log by itself,
    and the default storage engine may be any."""
    known = {"sync_binlog": "sync_binlog = 1", "engine": "engine = InnoDB"}
    named = {one: one.partition(" = ")[0] for one in lowered}
    return {one: known[name] for one, name in named.items() if name in known}
