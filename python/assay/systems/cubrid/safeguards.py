"""Takes the effective settings of a server; says what they make it write, flush and check."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from assay.contracts import safeguards as words
from assay.contracts.safeguards import Safeguard, by

_DOUBLEWRITE = "double_write_buffer_size"
_SUPPLEMENT = "supplemental_log"


def of_settings(settings: Mapping[str, str]) -> Iterator[Safeguard]:
    """Of a version that does not have a setting, nothing is said of it; nor of a server by URL,
    which reports none."""
    if not settings:
        return
    yield Safeguard(words.BINARY_LOG, words.NO_BINARY_LOG)
    if supplement := settings.get(_SUPPLEMENT):
        is_more = supplement != "0"
        yield Safeguard(
            words.LOG_FOR_REPLICAS,
            words.LOGS_FOR_LOGICAL_REPLICAS if is_more else words.NOTHING_FOR_REPLICAS,
            by(settings, _SUPPLEMENT),
        )
    if size := settings.get(_DOUBLEWRITE):
        is_once = not any(digit in size for digit in "123456789")
        yield Safeguard(
            words.TORN_PAGES,
            words.WRITES_ONCE if is_once else words.WRITES_TWICE,
            by(settings, _DOUBLEWRITE),
        )
