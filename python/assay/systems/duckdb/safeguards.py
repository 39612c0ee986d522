"""What the library writes, flushes and checks, whatever its settings."""

from __future__ import annotations

from typing import Final

from assay.contracts import safeguards as words
from assay.contracts.safeguards import Safeguard

SAFEGUARDS: Final = (
    Safeguard(words.BINARY_LOG, words.NO_BINARY_LOG),
    Safeguard(words.LOG_FOR_REPLICAS, words.NOTHING_FOR_REPLICAS),
    Safeguard(words.ARCHIVE, words.NO_ARCHIVE),
    Safeguard(words.REPLICAS, words.NO_REPLICAS),
    Safeguard(words.TORN_PAGES, words.MOVES_PAGES),
    Safeguard(words.CHECKSUMS, words.CHECKS_PAGES),
)
"""A checkpoint writes changed blocks beside the old ones, then a header that has them; each block
is read with its checksum."""
