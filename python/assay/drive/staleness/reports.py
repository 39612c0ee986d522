"""Takes what a meter has found of replicas, and the observation of the clients; returns how stale
each replica was in the measurement."""

from __future__ import annotations

from collections.abc import Sequence
from math import ceil

from assay.contracts.observation import Observation, StalenessReport
from assay.drive.staleness.meter_process import Findings, Replica


def reports(
    names: Sequence[str], findings: Findings, observation: Observation
) -> tuple[StalenessReport, ...]:
    """Of the numbers that were written in the measurement."""
    from_ns = observation.started_unix_ns
    until_ns = from_ns + observation.elapsed_ns
    return tuple(
        _report(name, replica, from_ns, until_ns)
        for name, replica in zip(names, findings["replicas"], strict=False)
    )


def _report(name: str, replica: Replica, from_ns: int, until_ns: int) -> StalenessReport:
    measured = [one for one in replica["numbers"] if from_ns <= one["written_unix_ns"] < until_ns]
    ages_ns = sorted(one["age_ns"] for one in measured)
    uncertain_ns = sorted(one["uncertainty_ns"] for one in measured if one["is_found"])
    lost_ns = replica["lost_unix_ns"]
    return StalenessReport(
        name=name,
        numbers=len(measured),
        not_read=sum(not one["is_found"] for one in measured),
        p50_ns=_percentile(ages_ns, 50),
        p99_ns=_percentile(ages_ns, 99),
        max_ns=_percentile(ages_ns, 100),
        resolution_ns=_percentile(uncertain_ns, 99),
        lost_after_s=None if lost_ns is None else max(0.0, (lost_ns - from_ns) / 1e9),
    )


def _percentile(sorted_ns: Sequence[int], percent: int) -> int | None:
    """The nearest rank; None: there are none."""
    return sorted_ns[ceil(len(sorted_ns) * percent / 100) - 1] if sorted_ns else None
