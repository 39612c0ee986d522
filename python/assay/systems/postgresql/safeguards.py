"""Takes the effective settings of a server; says what they make it write, flush and check."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from assay.contracts import safeguards as words
from assay.contracts.safeguards import Safeguard, by

_LOGGED = {
    "minimal": words.NOTHING_FOR_REPLICAS,
    "replica": words.LOGS_FOR_REPLICAS,
    "logical": words.LOGS_FOR_LOGICAL_REPLICAS,
}
_WAITING = ("on", "remote_write", "remote_apply")
"""Values of ``synchronous_commit`` with which a commit waits for the named standbys."""


def of_settings(settings: Mapping[str, str]) -> Iterator[Safeguard]:
    """``settings``: all that the server reports; none where it reports none."""
    if not settings:
        return
    yield Safeguard(words.BINARY_LOG, words.NO_BINARY_LOG)
    if logged := _LOGGED.get(settings.get("wal_level", "")):
        yield Safeguard(words.LOG_FOR_REPLICAS, logged, by(settings, "wal_level"))
    is_archived = settings.get("archive_mode") in ("on", "always")
    yield Safeguard(
        words.ARCHIVE,
        words.ARCHIVES if is_archived else words.NO_ARCHIVE,
        by(settings, "archive_mode"),
    )
    is_waiting = (
        bool(settings.get("synchronous_standby_names"))
        and settings.get("synchronous_commit") in _WAITING
    )
    yield Safeguard(
        words.REPLICAS,
        words.WAITS_FOR_REPLICAS if is_waiting else words.NO_REPLICAS,
        by(settings, "synchronous_standby_names", "synchronous_commit"),
    )
    has_whole_pages = settings.get("full_page_writes") == "on"
    yield Safeguard(
        words.TORN_PAGES,
        words.LOGS_PAGES if has_whole_pages else words.WRITES_ONCE,
        by(settings, "full_page_writes"),
    )
    has_checksums = settings.get("data_checksums") == "on"
    yield Safeguard(
        words.CHECKSUMS,
        words.CHECKS_PAGES if has_checksums else words.CHECKS_NONE,
        by(settings, "data_checksums"),
    )
