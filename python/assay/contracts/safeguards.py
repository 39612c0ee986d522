"""What a system or a storage writes, flushes and checks so that data are kept, beside the work that
it is asked for: kinds, and the neutral words of each.

Equal words mean equal work, on systems of any kind. A system says of its effective settings what it
knows; where one of two says nothing of a kind, nothing is compared.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from msgspec import Struct


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


def by(settings: Mapping[str, str], *names: str) -> tuple[str, ...]:
    """Those of the settings that a system reports."""
    return tuple(f"{name} = {settings[name]}" for name in names if name in settings)


_JOURNALING = ("ext3", "ext4", "xfs", "jfs", "reiserfs", "f2fs")
_WITHOUT_JOURNAL = ("ext2", "vfat", "exfat", "raw")
_COPYING = ("btrfs", "zfs", "bcachefs")
_NO_BARRIER_OPTIONS = {"nobarrier", "barrier=0"}
_OF_DATA = {"journal": JOURNALS_DATA, "writeback": JOURNALS_UNORDERED}


def of_file_system(file_system: str, mount_options: str) -> tuple[Safeguard, ...]:
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
