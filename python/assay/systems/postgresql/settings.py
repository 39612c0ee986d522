"""Reads the effective settings of a server, and refuses those that differ from the given ones."""

from __future__ import annotations

from collections.abc import Mapping

from msgspec import Struct

from assay.errors import SystemRefused
from assay.provision.engine.engine_calls import Session
from assay.systems.answers import rows_of

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

_LOWERS_DURABILITY = {
    "fsync": {"off"},
    "synchronous_commit": {"off"},
    "full_page_writes": {"off"},
}


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
