"""Takes the settings asked for; returns each as the server's own program reads it, reads the
effective ones, refuses those that differ, and says what they make the server write, flush and
check."""

from __future__ import annotations

import functools
import re
from collections.abc import Iterable, Iterator, Mapping
from types import MappingProxyType
from typing import NamedTuple

from assay.contracts import durability
from assay.contracts.durability import Safeguard, safeguard
from assay.contracts.systems.abilities import Spelled
from assay.dialects.mysql import UNFLUSHED_ENGINES
from assay.errors import ArgumentError, SystemMissing, SystemRefused
from assay.provision.engine.engine_calls import Session
from assay.systems.mysql_protocol.product import (
    Described,
    Product,
    Programs,
    argument,
    is_altered,
    is_in_effect,
    is_less,
    plain_name,
    switch,
)
from assay.systems.mysql_protocol.server import CHOSEN_BY_ASSAY
from assay.systems.options import answer_of
from assay.systems.sessions import rows_of

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


_NO_DEFAULTS = frozenset({"max_connections", "open_files_limit", "table_open_cache", "tmpdir"})
"""Which Assay chooses by the run, or the server by the number of clients."""
_BY_OPEN_FILES = frozenset({"max_connections", "open_files_limit", "table_open_cache"})
"""Which the server lowers where it may open too few."""
_NOTHING = "(No default value)"
_TRUTH = {"TRUE": "ON", "FALSE": "OFF"}
_LARGE = (("G", 1 << 30), ("M", 1 << 20))
_LOGGED = re.compile(r"\[(?:ERROR|Warning)\] (?:\[[^\]]*\] )*(?:Buffered warning: )?(.*)")
_OF_A_VALUE = re.compile(
    r"Unknown suffix|Error while setting value|invalid value|adjusted to|(?:not|n't) recognized"
)
_LINE = re.compile(r"^([a-z][\w-]*) +(.*)$", re.MULTILINE)


class _Said(NamedTuple):
    """By the program, of what it was given."""

    table: Mapping[str, str]
    """What it would run with; empty where it refuses it, or does not answer."""
    complaints: tuple[str, ...] = ()
    """Of values that it refuses, or would not use as they are. It succeeds nevertheless where the
    option is one of a plugin."""

    def value(self, plain: str) -> str | None:
        found = self.table.get(plain, _NOTHING)
        return None if found == _NOTHING else found


def spelled(product: Product, programs: Programs, settings: Mapping[str, str]) -> Iterator[Spelled]:
    """Each setting, in their order; one of which the program says nothing, or that it would not use
    as it is, as it was given."""
    asked = {plain_name(name): value.strip() for name, value in settings.items()}
    for (plain, value), name in zip(asked.items(), settings, strict=True):
        said = _given(product, programs, plain, value)
        read = said.value(plain)
        switched = switch(plain, value)
        if switched == "OFF" and said.table:
            yield Spelled(plain, switched, is_default=False)
            continue
        if read is None or _why_not(plain, value, said):
            yield Spelled(name, settings[name], is_default=False)
            continue
        defaults = _said((*_base(product, programs), *_ours(product)))
        is_variable = plain in _NO_DEFAULTS or plain in product.settings_in_a_group
        is_default = read == defaults.table.get(plain) and not is_variable
        yield Spelled(plain, switched or _shown(read), is_default)


def refuse_altered(product: Product, programs: Programs, settings: Mapping[str, str]) -> None:
    """Raises `ArgumentError` for a setting that the server would run with another value of, in the
    program's own words where it has any. What depends on the files that it may open is left to the
    server that runs."""
    for name, value in settings.items():
        plain = plain_name(name)
        said = _given(product, programs, plain, value.strip())
        why = _why_not(plain, value.strip(), said)
        if why and not (plain in _BY_OPEN_FILES and is_less(said.value(plain) or "", value)):
            raise ArgumentError(
                f"{product.title} refuses a setting: {why}", hint=f"it was given {name}={value}"
            )


def _why_not(plain: str, asked: str, said: _Said) -> str | None:
    """Why the value would not be in effect as it was asked for; None: it would, or nothing is
    known."""
    read = said.value(plain)
    own = [durability for durability in said.complaints if plain in plain_name(durability)]
    if own:
        return "; ".join(dict.fromkeys(own))
    if read is not None and is_altered(asked, read):
        return f"{plain} was asked as {asked!r} and would be {_shown(read)!r}"
    return None


def _given(product: Product, programs: Programs, plain: str, value: str) -> _Said:
    return _said((*_base(product, programs), *_ours(product, plain), argument(plain, value)))


def _base(product: Product, programs: Programs) -> tuple[str, ...]:
    given = (programs.server, "--no-defaults", *programs.base_arguments)
    return (*map(str, given), *product.server_arguments())


def _ours(product: Product, asked: str = "") -> tuple[str, ...]:
    """What Assay chooses itself, but for the setting that was asked for."""
    ours = {**CHOSEN_BY_ASSAY, **product.settings_of_assay}
    return tuple(argument(name, value) for name, value in ours.items() if name != asked)


@functools.cache
def _said(command: tuple[str, ...]) -> _Said:
    """What stands in the table at the end of the help, and in the log."""
    try:
        printed = answer_of([*command, "--verbose", "--help"], cwd="/")
    except SystemMissing:
        return _Said(MappingProxyType({}))
    complaints = (one for one in _LOGGED.findall(printed.stderr) if _OF_A_VALUE.search(one))
    if printed.returncode != 0:
        return _Said(MappingProxyType({}), tuple(complaints))
    _, _, table = printed.stdout.partition("\n----")
    values = {plain_name(name): value for name, value in _LINE.findall(table)}
    return _Said(MappingProxyType(values), tuple(complaints))


def _shown(value: str) -> str:
    """A large number as people ask for it, with the letter that the server takes."""
    if value.isdecimal():
        for letter, factor in _LARGE:
            if int(value) and int(value) % factor == 0:
                return f"{int(value) // factor}{letter}"
    return _TRUTH.get(value, value)


_WAITS_FOR_REPLICAS = ("rpl_semi_sync_source_enabled", "rpl_semi_sync_master_enabled", "wsrep_on")
"""Each of a version or product; left out where its plugin is not there."""
_DOUBLEWRITE = {
    "off": durability.WRITES_ONCE,
    "0": durability.WRITES_ONCE,
    "detect_only": durability.WRITES_ONCE,
    "fast": durability.WRITES_TWICE_UNFLUSHED,
}
"""Other values write each page twice."""
_NO_CHECKSUMS = ("none", "strict_none")


def safeguards_of_settings(settings: Mapping[str, str], engine: str) -> Iterator[Safeguard]:
    """``settings``: all variables that the server reports; none of a server that does not have
    these, as other products that speak the protocol."""
    if "log_bin" not in settings:
        return
    has_log = settings["log_bin"].lower() in ("on", "1")
    yield Safeguard(
        durability.BINARY_LOG,
        _binary_log(settings.get("sync_binlog", "")) if has_log else durability.NO_BINARY_LOG,
        safeguard(settings, "log_bin", *(["sync_binlog"] if has_log else [])),
    )
    if not has_log:
        yield Safeguard(
            durability.LOG_FOR_REPLICAS,
            durability.NOTHING_FOR_REPLICAS,
            safeguard(settings, "log_bin"),
        )
    yield Safeguard(durability.ARCHIVE, durability.NO_ARCHIVE)
    waiting = [name for name in _WAITS_FOR_REPLICAS if settings.get(name, "").lower() == "on"]
    yield Safeguard(
        durability.REPLICAS,
        durability.WAITS_FOR_REPLICAS if waiting else durability.NO_REPLICAS,
        safeguard(settings, *waiting),
    )
    if engine.lower() == "innodb":
        yield from _of_innodb(settings)
    elif engine.lower() == "myisam":
        yield Safeguard(durability.TORN_PAGES, durability.WRITES_ONCE, (f"engine = {engine}",))
        yield Safeguard(durability.CHECKSUMS, durability.CHECKS_NONE, (f"engine = {engine}",))


def _binary_log(sync: str) -> str:
    if sync == "1":
        return durability.FLUSHES_BINARY_LOG
    if sync.isdecimal() and int(sync) > 1:
        return f"writes a binary log, which it flushes every {int(sync):,} commits"
    return durability.UNFLUSHED_BINARY_LOG


def _of_innodb(settings: Mapping[str, str]) -> Iterator[Safeguard]:
    if doublewrite := settings.get("innodb_doublewrite", "").lower():
        yield Safeguard(
            durability.TORN_PAGES,
            _DOUBLEWRITE.get(doublewrite, durability.WRITES_TWICE),
            safeguard(settings, "innodb_doublewrite"),
        )
    if algorithm := settings.get("innodb_checksum_algorithm", "").lower():
        yield Safeguard(
            durability.CHECKSUMS,
            durability.CHECKS_NONE if algorithm in _NO_CHECKSUMS else durability.CHECKS_PAGES,
            safeguard(settings, "innodb_checksum_algorithm"),
        )


_REACHING = re.compile(
    r"plugin|(early_)?plugin_load|init_(connect|file|slave|replica)|feedback_|wsrep_|secure_|chroot"
    r"|user$|master_|replica(te)?_|slave_load|report_|ssl_|tls_|innodb_data_home|.*_(dir|directory|"
    r"path)$|tmpdir|innodb_directories|proxy_protocol|require_secure|version_ssl|authentication_"
)
"""By the beginning of a name: programs, libraries, statements that the server runs by itself, other
servers, and directories."""


_POWERS_QUERY = """
SELECT privilege_type FROM information_schema.user_privileges
WHERE privilege_type IN ('FILE', 'SUPER')
  AND grantee = CONCAT('''', REPLACE(CURRENT_USER(), '@', '''@'''), '''')
ORDER BY 1
"""


def powers_of_session(opened: Session) -> tuple[str, ...]:
    """The rights of the session's user that reach beyond databases."""
    return tuple(str(power) for (power,) in rows_of(opened, _POWERS_QUERY, columns=1) or ())


def refuse_reaching_settings(title: str, settings: Mapping[str, str]) -> None:
    """Raises `ArgumentError` for a setting that is a program, a library or a path. A file without a
    directory is in that of the data."""
    for name, value in settings.items():
        plain = plain_name(name).removeprefix("loose_")
        if _REACHING.match(plain) or "/" in value:
            raise ArgumentError(
                f"a capsule sets {name} = {value!r} of {title}, which can be a program, a library "
                "or a path"
            )
