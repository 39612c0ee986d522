"""Takes times in which the system, or the client, stood still; says in words how long that was."""

from __future__ import annotations

from collections.abc import Sequence

from assay.contracts.observation import Standstill


def summary(found: Sequence[Standstill], elapsed_ns: int) -> str:
    """``2 times, 5.1 s of 6.0 s, the longest 4.0 s from 1.2 s on``; empty where there are none."""
    if not found:
        return ""
    lasted_s = [one.lasted_ns / 1e9 for one in found]
    longest_s, since_ns = max(zip(lasted_s, (one.from_ns for one in found), strict=True))
    words = f"{sum(lasted_s):.1f} s of {elapsed_ns / 1e9:.1f} s, "
    if len(found) > 1:
        words = f"{len(found)} times, {words}the longest {longest_s:.1f} s "
    return f"{words}from {since_ns / 1e9:.1f} s on"
