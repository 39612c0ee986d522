"""The durability class of a system on a storage, with the figures from which it was found, and
what both write, flush and check beside the work that they are asked for."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from msgspec import Struct

MEANINGS: Mapping[str, str] = MappingProxyType(
    {
        "D3": "flushed before every answer",
        "D2": "flushed within a known time after the answer",
        "D1": "written, not flushed",
        "D0": "nothing left the process",
    }
)
"""Class → how far a commit had come, from the strongest to the weakest."""


NOT_MEASURED, CONTRADICTED = "not measured", "contradicted"
"""In place of a class."""


class SessionSettings(Struct, frozen=True):
    """Statements by which the sessions of a run set themselves up, as ``SET synchronous_commit =
    off``: a session may commit less durably than its server does by its own settings."""

    before_begin: tuple[str, ...] = ()
    after_begin: tuple[str, ...] = ()
    """Those that stand within transactions."""
    why_unknown: str = ""
    """Why they are not known before the run; empty: they are."""

    @property
    def statements(self) -> tuple[str, ...]:
        return (*self.before_begin, *self.after_begin)


NO_SETTINGS = SessionSettings()


class Durability(Struct, frozen=True):
    """How far the commits of one client had come by the time of their answers, on a storage whose
    device nothing else uses.

    A class is an upper bound: a flush that ended before the answer was seen to follow a write of
    the size of the commit, but not what it wrote.
    """

    durability_class: str | None
    """One of `MEANINGS`; None: not measured."""
    reason: str = ""
    """Why it was not measured."""
    commits: int = 0
    flushed_before_answer: int = 0
    """Of the commits: those with a write of their size and a flush after it, both ended before
    the answer."""
    longest_delay_ns: int | None = None
    """From an answer to the end of the flush, of the commits that were followed up; None: one of
    them was not flushed within `limit_s`, or all were flushed before the answer."""
    limit_s: float = 0.0
    """How long a flush was waited for."""
    payload_bytes: int = 0
    """Of all commits together: what had to be written at least."""
    written_bytes: int = 0
    """By the device, until the file system was synced at the end."""
    idle_s: float = 0.0
    """How long the device was watched without commits; 0: all were flushed before the answer."""
    idle_flushes: int = 0
    idle_written_bytes: int = 0
    file_system_flushes: str = ""
    """How the flushes of the file system itself were kept apart from those of the system."""
    session_statements: tuple[str, ...] = ()
    """What its sessions executed besides, as those of the run do: `SessionSettings`."""
    is_contradicted: bool = False
    """It was measured, and then a run flushed too seldom for it: there is no class."""
    begun_unix_ns: int = 0
    """When it was measured; 0: an earlier Assay did not say."""
    taken_unix_ns: int | None = None
    """When it was taken from the user's cache; None: it was measured for this experiment."""

    @property
    def meaning(self) -> str:
        """The class in words; the reason where there is none."""
        if self.durability_class is None:
            return self.reason
        if self.longest_delay_ns is not None:
            return f"flushed within {self.longest_delay_ns / 1e9:.2f} s of the answer"
        return MEANINGS[self.durability_class]

    @property
    def described(self) -> str:
        """``D1 (written, not flushed)``; ``not measured (…)``."""
        word = self.durability_class or (CONTRADICTED if self.is_contradicted else NOT_MEASURED)
        return f"{word} ({self.meaning})" if self.meaning else word


def not_measured(reason: str) -> Durability:
    return Durability(None, reason)


class Safeguard(Struct, frozen=True):
    kind: str
    """Below, or one that a system of another package has."""
    does: str
    """``writes and flushes a binary log``; where it does nothing, ``VERB no THING``."""
    settings: tuple[str, ...] = ()
    """The effective settings that say so: ``log_bin = ON``."""


BINARY_LOG: Final = "binary log"
NO_BINARY_LOG: Final = "writes no binary log"
FLUSHES_BINARY_LOG: Final = "writes and flushes a binary log"
UNFLUSHED_BINARY_LOG: Final = "writes a binary log, which it does not flush"

LOG_FOR_REPLICAS: Final = "log for replicas"
LOGS_FOR_REPLICAS: Final = "logs what replicas need"
LOGS_FOR_LOGICAL_REPLICAS: Final = "logs what logical replicas need"
NOTHING_FOR_REPLICAS: Final = "logs nothing for replicas"

ARCHIVE: Final = "archive of the log"
ARCHIVES: Final = "archives its log"
NO_ARCHIVE: Final = "archives no log"

REPLICAS: Final = "replicas at a commit"
WAITS_FOR_REPLICAS: Final = "waits for replicas at a commit"
NO_REPLICAS: Final = "waits for no replicas"

TORN_PAGES: Final = "copies of pages"
WRITES_TWICE: Final = "writes pages twice"
WRITES_TWICE_UNFLUSHED: Final = "writes pages twice, the copy not flushed"
LOGS_PAGES: Final = "logs whole pages"
COPIES_PAGES: Final = "copies pages before it changes them"
MOVES_PAGES: Final = "writes changed pages to new places"
WRITES_ONCE: Final = "writes pages once"

CHECKSUMS: Final = "checksums of pages"
CHECKS_PAGES: Final = "checks pages by checksums"
CHECKS_NONE: Final = "checks no pages"

JOURNAL: Final = "journal of the file system"
JOURNALS_DATA: Final = "keeps a journal of data and metadata"
JOURNALS_METADATA: Final = "keeps a journal of metadata"
JOURNALS_UNORDERED: Final = "keeps a journal of metadata, in any order with data"
COPIES_ON_WRITE: Final = "copies on write"
NO_JOURNAL: Final = "keeps no journal"

BARRIERS: Final = "barriers of the file system"
WITH_BARRIERS: Final = "flushes the device cache"
NO_BARRIERS: Final = "flushes no device cache"

KINDS: Final = (
    BINARY_LOG, LOG_FOR_REPLICAS, ARCHIVE, REPLICAS, TORN_PAGES, CHECKSUMS, JOURNAL, BARRIERS,
)  # fmt: skip
"""In the order in which they are said."""


def safeguard(settings: Mapping[str, str], *names: str) -> tuple[str, ...]:
    """Those of the settings that a system reports."""
    return tuple(f"{name} = {settings[name]}" for name in names if name in settings)


_JOURNALING = ("ext3", "ext4", "xfs", "jfs", "reiserfs", "f2fs")
_WITHOUT_JOURNAL = ("ext2", "vfat", "exfat", "raw")
_COPYING = ("btrfs", "zfs", "bcachefs")
_NO_BARRIER_OPTIONS = {"nobarrier", "barrier=0"}
_OF_DATA = {"journal": JOURNALS_DATA, "writeback": JOURNALS_UNORDERED}


def safeguards_of_file_system(file_system: str, mount_options: str) -> tuple[Safeguard, ...]:
    """Of its type and options, as the kernel lists them; none where its type is not known."""
    options = dict(one.partition("=")[::2] for one in mount_options.split(","))
    shown = f"{file_system}, {mount_options}" if mount_options else file_system
    if file_system in _JOURNALING:
        journal = _OF_DATA.get(options.get("data", ""), JOURNALS_METADATA)
    elif file_system in _COPYING:
        journal = COPIES_ON_WRITE
    elif file_system in _WITHOUT_JOURNAL:
        return (Safeguard(JOURNAL, NO_JOURNAL, (shown,)),)
    else:
        return ()
    has_none = not _NO_BARRIER_OPTIONS.isdisjoint(mount_options.split(","))
    return (
        Safeguard(JOURNAL, journal, (shown,)),
        Safeguard(BARRIERS, NO_BARRIERS if has_none else WITH_BARRIERS, (shown,)),
    )
