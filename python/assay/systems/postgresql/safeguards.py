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
_WHOLE_PAGES = {"on": words.LOGS_PAGES, "off": words.WRITES_ONCE}
_CHECKED = {"on": words.CHECKS_PAGES, "off": words.CHECKS_NONE}
_WAITING = ("on", "remote_write", "remote_apply")
"""Values of ``synchronous_commit`` with which a commit waits for the named standbys."""


def of_settings(settings: Mapping[str, str]) -> Iterator[Safeguard]:
    """``settings``: all that the server reports. Nothing follows from one that it does not report,
    as servers of other products that speak the protocol."""
    if logged := _LOGGED.get(settings.get("wal_level", "")):
        yield Safeguard(words.BINARY_LOG, words.NO_BINARY_LOG)
        yield Safeguard(words.LOG_FOR_REPLICAS, logged, by(settings, "wal_level"))
    if mode := settings.get("archive_mode"):
        archive = words.ARCHIVES if mode in ("on", "always") else words.NO_ARCHIVE
        yield Safeguard(words.ARCHIVE, archive, by(settings, "archive_mode"))
    if "synchronous_standby_names" in settings:
        is_waiting = (
            bool(settings["synchronous_standby_names"])
            and settings.get("synchronous_commit") in _WAITING
        )
        yield Safeguard(
            words.REPLICAS,
            words.WAITS_FOR_REPLICAS if is_waiting else words.NO_REPLICAS,
            by(settings, "synchronous_standby_names", "synchronous_commit"),
        )
    for name, kind, words_of in (
        ("full_page_writes", words.TORN_PAGES, _WHOLE_PAGES),
        ("data_checksums", words.CHECKSUMS, _CHECKED),
    ):
        if does := words_of.get(settings.get(name, "")):
            yield Safeguard(kind, does, by(settings, name))
