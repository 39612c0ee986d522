"""One second of one group of clients."""

from __future__ import annotations

from typing import Annotated

from assay.contracts.observation.parts.latency import EncodedHistogram
from assay.contracts.observation.parts.merged import WHOLE, merged, same
from assay.contracts.observation.parts.shape import Shape


class Interval(Shape, frozen=True):
    """By the instant at which transactions ended. An observation of version 1 has percentiles and
    no distributions here."""

    second: Annotated[int, merged(same)]
    group: Annotated[str, merged(same)]
    ok: Annotated[int, merged(sum)]
    aborted: Annotated[int, merged(sum)]
    failed: Annotated[int, merged(sum)]
    unknown: Annotated[int, merged(sum)]
    late: Annotated[int, merged(sum)]
    skipped: Annotated[int, merged(sum)]
    retries: Annotated[int, merged(sum)]
    clients_connected: Annotated[int, merged(WHOLE)]
    latency: Annotated[EncodedHistogram | None, merged(WHOLE)]
    schedule_lag: Annotated[EncodedHistogram | None, merged(WHOLE)]
    p50_ns: Annotated[int, merged(WHOLE)]
    p99_ns: Annotated[int, merged(WHOLE)]
    max_ns: Annotated[int, merged(WHOLE)]
    schedule_lag_p99_ns: Annotated[int | None, merged(WHOLE)]
    stalled_ns: Annotated[int, merged(WHOLE)]
    suspended_ns: Annotated[int, merged(WHOLE)]
