"""One second of one group of clients."""

from __future__ import annotations

from assay.contracts.observation.parts.latency import EncodedHistogram
from assay.contracts.observation.parts.shape import Shape


class Interval(Shape, frozen=True):
    """By the instant at which transactions ended. An observation of version 1 has percentiles and
    no distributions here."""

    second: int
    group: str
    ok: int
    aborted: int
    failed: int
    unknown: int
    late: int
    skipped: int
    retries: int
    clients_connected: int
    latency: EncodedHistogram | None
    schedule_lag: EncodedHistogram | None
    p50_ns: int
    p99_ns: int
    max_ns: int
    schedule_lag_p99_ns: int | None
    stalled_ns: int
    suspended_ns: int
