"""Takes the settings asked for; returns each as the server's own program reads it, reads the
effective ones, refuses those that differ, and says what they make the server write, flush and
check."""

from __future__ import annotations

import functools
import re
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from msgspec import Struct

from assay.contracts import durability
from assay.contracts.durability import Safeguard, safeguard
from assay.contracts.experiment import SystemChoice
from assay.contracts.systems.abilities import Spelled
from assay.errors import SystemMissing, SystemRefused
from assay.provision.engine.engine_calls import Session
from assay.systems.options import answer_of, buffer_bytes, refuse_beyond_memory, rounded_up
from assay.systems.postgresql.installation import Installation
from assay.systems.sessions import rows_of
from assay.text.units import in_largest_unit

DECISIVE = (
    # what a commit waits for, and what a crash can take
    "fsync",
    "synchronous_commit",
    "full_page_writes",
    "wal_sync_method",
    "wal_level",
    "wal_compression",
    "wal_buffers",
    "wal_writer_delay",
    "commit_delay",
    "commit_siblings",
    "data_checksums",
    "data_sync_retry",
    # when pages are written
    "checkpoint_timeout",
    "checkpoint_completion_target",
    "max_wal_size",
    "min_wal_size",
    "bgwriter_delay",
    "autovacuum",
    # memory
    "shared_buffers",
    "huge_pages",
    "work_mem",
    "maintenance_work_mem",
    "effective_cache_size",
    # how work is planned and spread
    "max_connections",
    "max_worker_processes",
    "max_parallel_workers",
    "max_parallel_workers_per_gather",
    "effective_io_concurrency",
    "random_page_cost",
    "jit",
    "io_method",
    "default_transaction_isolation",
    # how it was built or initialised
    "block_size",
    "wal_segment_size",
    "server_encoding",
    "lc_collate",
)
"""Settings that decide speed or durability; recorded also where they are at their default. Names
that a version does not have are left out of its record."""

_OF_THIS_RUN_ONLY = {"File Locations", "Connections and Authentication / Connection Settings"}
"""Categories of pg_settings that hold sockets, ports and paths."""

_EVERYWHERE = "server_version"
"""A setting of every server; an answer without it is not from PostgreSQL."""

UNKNOWN = "it does not answer a query of pg_settings"

_QUERY = """
SELECT name, current_setting(name), source, category, setting IS DISTINCT FROM boot_val
FROM pg_settings
"""

_LOCALE_QUERY = """
SELECT to_jsonb(d) ->> 'datcollate', to_jsonb(d) ->> 'datctype', to_jsonb(d) ->> 'datlocprovider',
       coalesce(to_jsonb(d) ->> 'datlocale', to_jsonb(d) ->> 'daticulocale')
FROM pg_database d WHERE datname = current_database()
"""
_LOCALE = ("lc_collate", "lc_ctype", "locale_provider", "locale")
"""Of the database: it decides how texts are sorted, and how fast. Until version 15 the first two
were settings."""
_PROVIDERS = {"b": "builtin", "c": "libc", "i": "icu"}

_LOWERS_DURABILITY = {"fsync": {"off"}, "synchronous_commit": {"off"}, "full_page_writes": {"off"}}


class EffectiveSetting(Struct, frozen=True):
    name: str
    value: str
    source: str
    """Where the server has it from: ``default``, ``configuration file``, ``command line`` …"""
    category: str
    differs_from_default: bool


def read(session: Session) -> dict[str, EffectiveSetting] | None:
    """Every setting of the server as this session sees it; None where the server does not report
    them."""
    found = {}
    for name, value, source, category, differs in rows_of(session, _QUERY, columns=5) or ():
        text = str(name)
        found[text] = EffectiveSetting(
            text, value or "", str(source), str(category), differs == "t"
        )
    for row in rows_of(session, _LOCALE_QUERY, columns=len(_LOCALE)) or ():
        for name, value in zip(_LOCALE, row, strict=True):
            text = _PROVIDERS.get(str(value), str(value))
            if value is not None and name not in found:
                found[name] = EffectiveSetting(name, text, "database", "Preset Options", True)
    return found if _EVERYWHERE in found else None


def values(reported: Mapping[str, EffectiveSetting] | None) -> dict[str, str]:
    """By name; none where the server does not report them."""
    return {name: setting.value for name, setting in (reported or {}).items()}


def insist(
    effective: Mapping[str, EffectiveSetting], asked: Mapping[str, str], *, source: str
) -> None:
    """Raises `SystemRefused` for the first setting that was asked and is not in effect.

    The server has parsed the value itself, so that units and spellings need no comparison: a
    setting is in effect where the server says that it comes from where we gave it (`source`).
    """
    by_lower_name = {name.lower(): setting for name, setting in effective.items()}
    for name, value in asked.items():
        setting = by_lower_name.get(name.lower())
        if setting is None:
            raise SystemRefused(
                f"the setting {name} was asked as {value!r}; the server took it, and has no such "
                "setting",
                hint="a name with a dot belongs to an extension: shared_preload_libraries loads it",
            )
        is_computed = value.strip() == "-1" and setting.source in {"override", "default"}
        if setting.source != source and not is_computed:
            raise SystemRefused(
                f"the setting {setting.name} was asked as {value!r} and is {setting.value!r}, "
                f"which the server takes from: {setting.source}",
                hint="leave it out, or set it where it is overridden",
            )


def effective(reported: Mapping[str, EffectiveSetting], asked: Mapping[str, str]) -> dict[str, str]:
    """What the record keeps: what decides speed and durability, what was asked, and whatever is
    not at its default, but for paths, ports and what our own session sets."""
    asked_names = {name.lower() for name in asked}
    return {
        name: setting.value
        for name, setting in sorted(reported.items())
        if name in DECISIVE
        or name.lower() in asked_names
        or (
            setting.differs_from_default
            and setting.source not in {"client", "session"}
            and setting.category not in _OF_THIS_RUN_ONLY
        )
    }


def durability_lowered_by(settings: Mapping[str, str]) -> tuple[str, ...]:
    """The effective settings with which an acknowledged commit, or more, can be lost in a crash."""
    return tuple(
        f"{name} = {settings[name]}"
        for name, values in _LOWERS_DURABILITY.items()
        if settings.get(name) in values
    )


_NO_DEFAULTS = frozenset({
    "max_connections", "datestyle", "default_text_search_config", "timezone", "log_timezone",
    "lc_messages", "lc_monetary", "lc_numeric", "lc_time", "dynamic_shared_memory_type",
})  # fmt: skip
"""Assay chooses the first by the number of clients; initdb writes the others into its file."""
_MEMORY = (("B", 1), ("kB", 1 << 10), ("MB", 1 << 20), ("GB", 1 << 30), ("TB", 1 << 40))
_TIME = (
    ("us", 1),
    ("ms", 1000),
    ("s", 1_000_000),
    ("min", 60_000_000),
    ("h", 3_600_000_000),
    ("d", 86_400_000_000),
)
_KEPT_IN_MEMORY = ("kB", "MB", "B", "8kB", "4kB", "16kB", "32kB", "2kB")
_KEPT_IN_TIME = ("ms", "s", "min", "us")
_WHOLE = re.compile(r"[1-9][0-9]*")
_SIZE_OF_A_UNIT = re.compile(r"([0-9]*)(\w+)")


def spelled(installation: Installation, settings: Mapping[str, str]) -> Iterator[Spelled]:
    """Each setting, in their order; one that the program does not take as it was given."""
    program = installation.program("postgres")
    for name, value in settings.items():
        plain = name.strip().lower()
        kept = _read(program, plain, value.strip())
        if kept is None:
            yield Spelled(name, value, is_default=False)
            continue
        is_default = plain not in _NO_DEFAULTS and kept == _read(program, plain, None)
        yield Spelled(plain, _with_unit(program, plain, kept), is_default)


@functools.cache
def _read(program: Path, name: str, value: str | None) -> str | None:
    """The value as the program keeps it, of the default where none is given; None where it refuses
    it, or does not answer. Its files of settings are those of no server."""
    tried = _tried(program, name, value)
    return tried.stdout.removesuffix("\n") if tried.returncode == 0 else None


def _tried(program: Path, name: str, value: str | None) -> subprocess.CompletedProcess[str]:
    given: Sequence[str] = () if value is None else ("-c", f"{name}={value}")
    # As the first argument, -C is allowed to root as well.
    command = [str(program), "-C", name, "-c", "config_file=/dev/null", "-D", "/", *given]
    try:
        return answer_of(command)
    except SystemMissing:
        return subprocess.CompletedProcess(command, returncode=1, stdout="", stderr="")


def _with_unit(program: Path, name: str, kept: str) -> str:
    """``4096`` of a setting that is kept in kB as ``4MB``; the text itself where it has no unit."""
    if not _WHOLE.fullmatch(kept):
        return kept
    units = _tried(program, name, f"{kept}x").stderr.partition("Valid units")[2]
    for chain, names in ((_MEMORY, _KEPT_IN_MEMORY), (_TIME, _KEPT_IN_TIME)):
        if f'"{names[0]}"' not in units:
            continue
        for unit in names:
            times, word = _parts(unit)
            if _read(program, name, f"{int(kept) * times}{word}") == kept:
                return in_largest_unit(int(kept) * times * dict(chain)[word], chain)
    return kept


def _parts(unit: str) -> tuple[int, str]:
    """``8kB`` as 8 and ``kB``."""
    found = _SIZE_OF_A_UNIT.fullmatch(unit)
    assert found is not None, unit
    return int(found[1] or 1), found[2]


_LOGGED = {
    "minimal": durability.NOTHING_FOR_REPLICAS,
    "replica": durability.LOGS_FOR_REPLICAS,
    "logical": durability.LOGS_FOR_LOGICAL_REPLICAS,
}
_WHOLE_PAGES = {"on": durability.LOGS_PAGES, "off": durability.WRITES_ONCE}
_CHECKED = {"on": durability.CHECKS_PAGES, "off": durability.CHECKS_NONE}
_WAITING = ("on", "remote_write", "remote_apply")
"""Values of ``synchronous_commit`` with which a commit waits for the named standbys."""


def safeguards_of_settings(settings: Mapping[str, str]) -> Iterator[Safeguard]:
    """``settings``: all that the server reports. Nothing follows from one that it does not report,
    as servers of other products that speak the protocol."""
    if logged := _LOGGED.get(settings.get("wal_level", "")):
        yield Safeguard(durability.BINARY_LOG, durability.NO_BINARY_LOG)
        yield Safeguard(durability.LOG_FOR_REPLICAS, logged, safeguard(settings, "wal_level"))
    if mode := settings.get("archive_mode"):
        archive = durability.ARCHIVES if mode in ("on", "always") else durability.NO_ARCHIVE
        yield Safeguard(durability.ARCHIVE, archive, safeguard(settings, "archive_mode"))
    if "synchronous_standby_names" in settings:
        is_waiting = (
            bool(settings["synchronous_standby_names"])
            and settings.get("synchronous_commit") in _WAITING
        )
        yield Safeguard(
            durability.REPLICAS,
            durability.WAITS_FOR_REPLICAS if is_waiting else durability.NO_REPLICAS,
            safeguard(settings, "synchronous_standby_names", "synchronous_commit"),
        )
    for name, kind, words_of in (
        ("full_page_writes", durability.TORN_PAGES, _WHOLE_PAGES),
        ("data_checksums", durability.CHECKSUMS, _CHECKED),
    ):
        if does := words_of.get(settings.get(name, "")):
            yield Safeguard(kind, does, safeguard(settings, name))


_SETTING = "shared_buffers"
_LEAST_BYTES = 128 << 10
_DEFAULT_BYTES = 128 << 20
"""As initdb sets it where the machine has the shared memory."""
_SIZE = re.compile(r"(\d+) ?(B|kB|MB|GB|TB)?")
_UNITS = {None: 8 << 10, "B": 1, "kB": 1 << 10, "MB": 1 << 20, "GB": 1 << 30, "TB": 1 << 40}
"""A number alone counts pages."""


def buffer_settings(options: Mapping[str, str], asked: Mapping[str, str]) -> dict[str, str]:
    """Of the option ``buffer``; none where it is not asked for. Raises `ArgumentError`."""
    names = [name.lower() for name in asked]
    size = buffer_bytes(options, names, _SETTING)
    if size is None:
        return {}
    return {_SETTING: f"{rounded_up(size, 8 << 10, _LEAST_BYTES) >> 10}kB"}


def check_buffer(choice: SystemChoice) -> None:
    """Raises `ArgumentError` for a buffer that is no size, that is asked for twice, or that does
    not fit into the memory of the server."""
    by_lower_name = {name.lower(): value for name, value in choice.settings.items()}
    asked = {**buffer_settings(choice.options, choice.settings), **by_lower_name}
    found = _SIZE.fullmatch(asked.get(_SETTING, "").strip())
    size = int(found[1]) * _UNITS[found[2]] if found else None
    refuse_beyond_memory(choice, size, None if _SETTING in asked else _DEFAULT_BYTES)
