"""Takes settings as asked for; returns the pragmas that set them, and reads back what is in effect.

A pragma that SQLite does not know, or whose value it dislikes, is silently ignored. So
only the pragmas listed here can be asked for, and each is read back and compared.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from assay.contracts import durability
from assay.contracts.durability import Safeguard, safeguard
from assay.contracts.systems.abilities import Spelled
from assay.errors import ArgumentError, SystemRefused
from assay.provision.engine.engine_calls import Session
from assay.text import pattern
from assay.text.phrases import did_you_mean
from assay.text.quantities import shown

OF_THE_FILE = ("page_size", "auto_vacuum", "journal_mode")
"""They belong to the database and must be set before the first table, in this order."""

OF_THE_SESSION = (
    "synchronous",
    "cache_size",
    "mmap_size",
    "temp_store",
    "locking_mode",
    "wal_autocheckpoint",
    "journal_size_limit",
    "fullfsync",
    "checkpoint_fullfsync",
    "foreign_keys",
    "automatic_index",
    "threads",
)

KNOWN = OF_THE_FILE + OF_THE_SESSION

_WORDS = {
    "synchronous": ("off", "normal", "full", "extra"),
    "auto_vacuum": ("none", "full", "incremental"),
    "temp_store": ("default", "file", "memory"),
    "foreign_keys": ("off", "on"),
    "fullfsync": ("off", "on"),
    "checkpoint_fullfsync": ("off", "on"),
    "automatic_index": ("off", "on"),
}
"""What a pragma's number means; people ask in words and SQLite answers in numbers."""

_WORDS_ALONE = {
    "journal_mode": ("delete", "truncate", "persist", "memory", "wal", "off"),
    "locking_mode": ("normal", "exclusive"),
}
"""Words that no number stands for."""

_OF_BYTES = ("mmap_size", "journal_size_limit", "page_size")
_SIZE = pattern(r"(?i)(\d+)(k|m|g|t)(?:i?b)?")
_UNITS = {"k": 1 << 10, "m": 1 << 20, "g": 1 << 30, "t": 1 << 40}

_CACHE_DEFAULTS = {"cache_size": "-2000", "page_size": "4096"}
"""Of the library as it is compiled into the engine."""

_NUMBER = pattern(r"-?[0-9]{1,18}")
_PAGE_BYTES = {str(1 << bits) for bits in range(9, 17)}


def statements(asked: Mapping[str, str]) -> tuple[str, ...]:
    """What each session runs first, in an order that works.

    Raises `ArgumentError` for a pragma that is not among `KNOWN`, and for a value that it cannot
    have.
    """
    given = {name.lower(): value.strip() for name, value in asked.items()}
    for name in asked:
        if name.lower() not in KNOWN:
            raise ArgumentError(
                f"the setting {name} is not one that can be asked of SQLite",
                hint=did_you_mean(name, [*KNOWN, "profile"]),
            )
    for name, value in given.items():
        if not _is_one(name, value):
            raise ArgumentError(
                f"the setting {name}: expected {_expected(name)}, found {shown(value)}"
            )
    return tuple(
        f"PRAGMA {name} = {_in_bytes(name, given[name])}" for name in KNOWN if name in given
    )


def _is_one(name: str, value: str) -> bool:
    """Whether the pragma can have this value."""
    if durability := _WORDS.get(name) or _WORDS_ALONE.get(name):
        return in_words(name, value) in durability
    in_bytes = _in_bytes(name, value)
    return in_bytes in _PAGE_BYTES if name == "page_size" else bool(_NUMBER.fullmatch(in_bytes))


def _expected(name: str) -> str:
    if durability := _WORDS.get(name) or _WORDS_ALONE.get(name):
        return f"one of {', '.join(durability)}"
    if name == "page_size":
        return "512, 1024, … or 65536 bytes"
    return "a number of bytes, or one with a unit (64MB)" if name in _OF_BYTES else "a whole number"


def refuse_those_of_the_file(asked: Mapping[str, str]) -> None:
    """Raises `ArgumentError` for a setting that would permanently change a user's file."""
    for name in asked:
        if name.lower() in OF_THE_FILE:
            raise ArgumentError(
                f"the setting {name} is kept in the database file: Assay does not change your file",
                hint=f'change it yourself with: sqlite3 FILE "PRAGMA {name} = …; VACUUM"',
            )


def cache_bytes(settings: Mapping[str, str]) -> int:
    """The size of each session's cache, of settings in effect, or as asked for."""
    known = {**_CACHE_DEFAULTS, **{name.lower(): value for name, value in settings.items()}}
    pages = int(known["cache_size"])
    return -pages << 10 if pages < 0 else pages * int(_in_bytes("page_size", known["page_size"]))


def read(session: Session) -> dict[str, str]:
    """Every known setting as this session has it; those that this version lacks are left out."""
    found = {}
    for name in KNOWN:
        rows = session.execute(f"PRAGMA {name}").rows
        if rows and rows[0][0] is not None:
            found[name] = in_words(name, rows[0][0])
    return found


def in_words(name: str, value: str) -> str:
    """The value in lower case, its number as the word it stands for, a size in bytes."""
    value = _in_bytes(name, value)
    durability = _WORDS.get(name, ())
    if value.isdigit() and int(value) < len(durability):
        return durability[int(value)]
    lower = value.lower()
    if set(durability) == {"off", "on"}:
        return {"true": "on", "yes": "on", "false": "off", "no": "off"}.get(lower, lower)
    return lower


def _in_bytes(name: str, value: str) -> str:
    """A size with a unit (``64MB``) as a number of bytes, which is all that SQLite reads."""
    found = _SIZE.fullmatch(value.strip()) if name in _OF_BYTES else None
    return value if found is None else str(int(found[1]) * _UNITS[found[2].lower()])


def insist(effective: Mapping[str, str], asked: Mapping[str, str]) -> None:
    """Raises `SystemRefused` for the first setting that was asked and is not in effect."""
    for asked_name, value in asked.items():
        name = asked_name.lower()
        if effective.get(name) != in_words(name, value.strip()):
            raise SystemRefused(
                f"the setting {name} was asked as {value!r} and is {effective.get(name)!r}",
                hint=_fix(name),
            )


def spelled(asked: Mapping[str, str], of_memory: Mapping[str, str]) -> Iterator[Spelled]:
    """Each setting as it is read back, and whether every new file has it. ``of_memory``: what a
    database in memory has, whose journal alone is another."""
    defaults = {**of_memory, "journal_mode": "delete"}
    for asked_name, value in asked.items():
        name = asked_name.strip().lower()
        read_back = in_words(name, value.strip())
        yield Spelled(name, read_back, is_default=read_back == defaults.get(name))


def durability_lowered_by(effective: Mapping[str, str]) -> tuple[str, ...]:
    """The effective settings with which an acknowledged commit, or more, can be lost when the power
    fails (https://sqlite.org/pragma.html#pragma_synchronous).

    Not reported, since it is the default and only a power cut shows it: with ``full`` and a
    rollback journal the directory is not synced after its removal, so that the very last commit
    may be undone when the power comes back. ``extra`` closes that gap.
    """
    lowering = {"journal_mode": {"off", "memory"}, "synchronous": {"off", "normal"}}
    return tuple(
        f"{name} = {effective[name]}"
        for name, values in lowering.items()
        if effective.get(name) in values
    )


def _fix(name: str) -> str | None:
    if name == "page_size":
        return "a page has 512, 1024, … or 65536 bytes"
    if name == "mmap_size":
        return "the library was compiled with a lower limit"
    return None


_COPIES = {
    "wal": durability.LOGS_PAGES,
    "off": durability.WRITES_ONCE,
    "memory": durability.WRITES_ONCE,
    "delete": durability.COPIES_PAGES,
    "truncate": durability.COPIES_PAGES,
    "persist": durability.COPIES_PAGES,
}
"""By ``journal_mode``."""


def safeguards_of_settings(settings: Mapping[str, str]) -> Iterator[Safeguard]:
    yield Safeguard(durability.BINARY_LOG, durability.NO_BINARY_LOG)
    yield Safeguard(durability.LOG_FOR_REPLICAS, durability.NOTHING_FOR_REPLICAS)
    yield Safeguard(durability.ARCHIVE, durability.NO_ARCHIVE)
    yield Safeguard(durability.REPLICAS, durability.NO_REPLICAS)
    if copies := _COPIES.get(settings.get("journal_mode", "")):
        yield Safeguard(durability.TORN_PAGES, copies, safeguard(settings, "journal_mode"))
    yield Safeguard(durability.CHECKSUMS, durability.CHECKS_NONE)
