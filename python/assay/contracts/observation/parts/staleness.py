"""How stale the answers of replicas were."""

from __future__ import annotations

from assay.contracts.observation.parts.shape import Shape


class StalenessReport(Shape, frozen=True):
    """Of numbers that were written to the primary in the measurement, how long each took until it
    was read at one replica: from the answer that it was written to the answer that had it."""

    name: str
    """``HOST:PORT`` of the replica."""
    numbers: int
    not_read: int
    """Those of them that had not been read when the measurement ended, or when the replica was
    lost: each counts with the time until then, and would have taken longer."""
    p50_ns: int | None
    """None: there are no numbers."""
    p99_ns: int | None
    max_ns: int | None
    resolution_ns: int | None
    """How much too high an age may be, 99th percentile: the time since the last question that did
    not find the number. None: none was read."""
    lost_after_s: float | None = None
    """Since the measurement began, when the replica stopped answering; None: it did not."""
