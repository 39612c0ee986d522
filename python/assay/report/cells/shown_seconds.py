"""Takes a second of a measurement with all its groups of clients; returns the numbers that the live
page draws of it."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from assay.contracts.driving import DEFERRED, Driving
from assay.contracts.observation import Interval, MachineSecond
from assay.judge.statistics.samples import needed_for
from assay.text import rates

_FOR_MEDIAN, _FOR_P99 = needed_for("p50"), needed_for("p99")


class ShownSecond(msgspec.Struct, frozen=True, omit_defaults=True):
    """Counts are those of all clients; of several groups, times are those of the slowest. What is
    0 or not known is left out."""

    second: int
    ok: int
    offered: float | None = None
    """What was due in it; None: a closed loop."""
    aborted: int = 0
    failed: int = 0
    unknown: int = 0
    late: int = 0
    skipped: int = 0
    retries: int = 0
    clients: int = 0
    p50_ns: int | None = None
    p99_ns: int | None = None
    max_ns: int | None = None
    lag_p99_ns: int | None = None
    stalled_ns: int = 0
    suspended_ns: int = 0
    machine: MachineSecond | None = None


def shown(
    groups: Sequence[Interval], driving: Driving | None, machine: MachineSecond | None
) -> ShownSecond:
    own = [one for one in groups if one.group != DEFERRED] or list(groups)
    second = own[0].second
    ended = sum(one.ok + one.aborted + one.failed + one.unknown for one in own)
    ok = sum(one.ok for one in own)
    lags = [one.schedule_lag_p99_ns for one in own if one.schedule_lag_p99_ns is not None]
    rate = driving.offered_rate_per_s if driving else None
    is_rate = isinstance(rate, float | int) or rates.is_profile(rate)
    return ShownSecond(
        second=second,
        ok=ok,
        offered=rates.due(rate, second + 1) - rates.due(rate, second)
        if rate is not None and is_rate
        else None,
        aborted=sum(one.aborted for one in own),
        failed=sum(one.failed for one in own),
        unknown=sum(one.unknown for one in own),
        late=sum(one.late for one in own),
        skipped=sum(one.skipped for one in own),
        retries=sum(one.retries for one in own),
        clients=sum(one.clients_connected for one in own),
        p50_ns=max(one.p50_ns for one in own) if ok >= _FOR_MEDIAN else None,
        p99_ns=max(one.p99_ns for one in own) if ok >= _FOR_P99 else None,
        max_ns=max(one.max_ns for one in own) if ok else None,
        lag_p99_ns=max(lags) if lags and ended >= _FOR_P99 else None,
        stalled_ns=max(one.stalled_ns for one in own),
        suspended_ns=max(one.suspended_ns for one in own),
        machine=machine,
    )
