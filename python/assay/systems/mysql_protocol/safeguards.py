"""Takes the effective settings of a server and its storage engine; says what they make it write,
flush and check."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from assay.contracts import safeguards as words
from assay.contracts.safeguards import Safeguard, by

_WAITS_FOR_REPLICAS = (
    "rpl_semi_sync_source_enabled",
    "rpl_semi_sync_master_enabled",
    "wsrep_on",
)
"""Each of a version or product; left out where its plugin is not there."""
_DOUBLEWRITE = {
    "off": words.WRITES_ONCE,
    "0": words.WRITES_ONCE,
    "detect_only": words.WRITES_ONCE,
    "fast": words.WRITES_TWICE_UNFLUSHED,
}
"""Other values write each page twice."""
_NO_CHECKSUMS = ("none", "strict_none")


def of_settings(settings: Mapping[str, str], engine: str) -> Iterator[Safeguard]:
    """``settings``: all variables that the server reports; none of a server that does not have
    these, as other products that speak the protocol."""
    if "log_bin" not in settings:
        return
    has_log = settings["log_bin"].lower() in ("on", "1")
    yield Safeguard(
        words.BINARY_LOG,
        _binary_log(settings.get("sync_binlog", "")) if has_log else words.NO_BINARY_LOG,
        by(settings, "log_bin", *(["sync_binlog"] if has_log else [])),
    )
    if not has_log:
        yield Safeguard(words.LOG_FOR_REPLICAS, words.NOTHING_FOR_REPLICAS, by(settings, "log_bin"))
    yield Safeguard(words.ARCHIVE, words.NO_ARCHIVE)
    waiting = [name for name in _WAITS_FOR_REPLICAS if settings.get(name, "").lower() == "on"]
    yield Safeguard(
        words.REPLICAS,
        words.WAITS_FOR_REPLICAS if waiting else words.NO_REPLICAS,
        by(settings, *waiting),
    )
    if engine.lower() == "innodb":
        yield from _of_innodb(settings)
    elif engine.lower() == "myisam":
        yield Safeguard(words.TORN_PAGES, words.WRITES_ONCE, (f"engine = {engine}",))
        yield Safeguard(words.CHECKSUMS, words.CHECKS_NONE, (f"engine = {engine}",))


def _binary_log(sync: str) -> str:
    if sync == "1":
        return words.FLUSHES_BINARY_LOG
    if sync.isdecimal() and int(sync) > 1:
        return f"writes a binary log, which it flushes every {int(sync):,} commits"
    return words.UNFLUSHED_BINARY_LOG


def _of_innodb(settings: Mapping[str, str]) -> Iterator[Safeguard]:
    if doublewrite := settings.get("innodb_doublewrite", "").lower():
        yield Safeguard(
            words.TORN_PAGES,
            _DOUBLEWRITE.get(doublewrite, words.WRITES_TWICE),
            by(settings, "innodb_doublewrite"),
        )
    if algorithm := settings.get("innodb_checksum_algorithm", "").lower():
        yield Safeguard(
            words.CHECKSUMS,
            words.CHECKS_NONE if algorithm in _NO_CHECKSUMS else words.CHECKS_PAGES,
            by(settings, "innodb_checksum_algorithm"),
        )
