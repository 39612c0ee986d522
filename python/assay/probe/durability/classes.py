"""Takes what the device did for each commit; returns the durability class."""

from __future__ import annotations

from collections.abc import Sequence

from assay.contracts.durability import Durability
from assay.probe.durability.watching import FOLLOWED, LIMIT_S, Idle, Watched, are_flushed_later
from assay.text import units

_LEAST_SHARE = 0.5
"""Of the payload that must be written: a system may compress it, if not by half."""


def least_bytes(payload_bytes: int) -> int:
    """What the device must write of so many bytes before they count as written."""
    return round(payload_bytes * _LEAST_SHARE)


def classified(
    watched: Sequence[Watched],
    idle: Idle,
    *,
    followed_bytes: int,
    payload_bytes: int,
    written_bytes: int,
    elapsed_s: float,
    file_system_flushes: str,
    is_flushed_unasked: bool = False,
) -> Durability:
    """``written_bytes``: by the device in ``elapsed_s``, from before the first commit until the
    file system was synced; ``payload_bytes``: of all commits; ``followed_bytes``: of one that was
    followed; ``is_flushed_unasked``: other programs flush the file system."""
    written_anyway = idle.written_bytes / idle.seconds * elapsed_s if idle.seconds else 0.0
    followed = watched[-FOLLOWED:]
    delays_ns = [one.delay_ns for one in followed if one.delay_ns is not None]
    is_flushed_in_time = are_flushed_later(watched)
    reason = ""
    found: str | None
    if all(one.is_flushed_before_answer for one in watched):
        found = "D3"
    elif is_flushed_in_time and is_flushed_unasked:
        found = None
        reason = "other programs called sync, which flushes every file system of the machine"
    elif is_flushed_in_time and idle.looks_like_commits(least_bytes(followed_bytes)):
        found = None
        reason = (
            f"{idle.flushes} flushes and {units.size(idle.written_bytes)} written in "
            f"{idle.seconds:g} s without a commit"
        )
    elif is_flushed_in_time:
        found = "D2"
    elif written_bytes - written_anyway < least_bytes(payload_bytes):
        found = "D0"
    else:
        found = "D1"
    return Durability(
        durability_class=found,
        reason=reason,
        commits=len(watched),
        flushed_before_answer=sum(one.is_flushed_before_answer for one in watched),
        longest_delay_ns=max(delays_ns) if found == "D2" else None,
        limit_s=LIMIT_S,
        payload_bytes=payload_bytes,
        written_bytes=written_bytes,
        idle_s=idle.seconds,
        idle_flushes=idle.flushes,
        idle_written_bytes=idle.written_bytes,
        file_system_flushes=file_system_flushes,
    )
