"""Takes the effective settings of a node and the options of its cluster; says what they make it
write, flush and check."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from assay.contracts import safeguards as words
from assay.contracts.safeguards import Safeguard, by

_OF_ONE = ("any", "one", "local_one")
"""Levels of consistency at which one replica answers for all."""


def of_settings(
    settings: Mapping[str, str], consistency: str, replicas: int | None
) -> Iterator[Safeguard]:
    """``replicas``: of each row; None: not known, as of a server by URL. None of a node that does
    not tell its settings."""
    if not settings:
        return
    yield Safeguard(words.BINARY_LOG, words.NO_BINARY_LOG)
    has_copies = settings.get("incremental_backups", "").lower() == "true"
    yield Safeguard(
        words.ARCHIVE,
        "links every data file for backups" if has_copies else words.NO_ARCHIVE,
        by(settings, "incremental_backups"),
    )
    if replicas is not None:
        is_waiting = replicas > 1 and consistency not in _OF_ONE
        yield Safeguard(
            words.REPLICAS,
            words.WAITS_FOR_REPLICAS if is_waiting else words.NO_REPLICAS,
            (f"consistency = {consistency}", f"replication = {replicas}"),
        )
