"""Takes an observation; says in words how long the system, or the client, stood still."""

from __future__ import annotations

from assay.judge.evidence import Document

STALLED, SUSPENDED = "stalls", "suspensions"
"""Keys of the observation."""


def summary(observation: Document, key: str) -> str:
    """``2 times, 5.1 s of 6.0 s, the longest 4.0 s from 1.2 s on``; empty where there are none."""
    found = observation.get(key) or ()
    if not found:
        return ""
    lasted_s = [(one["to_ns"] - one["from_ns"]) / 1e9 for one in found]
    elapsed_s = (observation.get("elapsed_ns") or 0) / 1e9
    longest_s, since_ns = max(zip(lasted_s, (one["from_ns"] for one in found), strict=True))
    words = f"{sum(lasted_s):.1f} s of {elapsed_s:.1f} s, "
    if len(found) > 1:
        words = f"{len(found)} times, {words}the longest {longest_s:.1f} s "
    return f"{words}from {since_ns / 1e9:.1f} s on"
