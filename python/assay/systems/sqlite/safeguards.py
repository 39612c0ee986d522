"""Takes the settings in effect; says what they make the library write, flush and check."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from assay.contracts import safeguards as words
from assay.contracts.safeguards import Safeguard, by

_COPIES = {
    "wal": words.LOGS_PAGES,
    "off": words.WRITES_ONCE,
    "memory": words.WRITES_ONCE,
    "delete": words.COPIES_PAGES,
    "truncate": words.COPIES_PAGES,
    "persist": words.COPIES_PAGES,
}
"""By ``journal_mode``."""


def of_settings(settings: Mapping[str, str]) -> Iterator[Safeguard]:
    yield Safeguard(words.BINARY_LOG, words.NO_BINARY_LOG)
    yield Safeguard(words.LOG_FOR_REPLICAS, words.NOTHING_FOR_REPLICAS)
    yield Safeguard(words.ARCHIVE, words.NO_ARCHIVE)
    yield Safeguard(words.REPLICAS, words.NO_REPLICAS)
    if copies := _COPIES.get(settings.get("journal_mode", "")):
        yield Safeguard(words.TORN_PAGES, copies, by(settings, "journal_mode"))
    yield Safeguard(words.CHECKSUMS, words.CHECKS_NONE)
