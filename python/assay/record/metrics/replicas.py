"""The metrics of the replicas at which clients read: those of the one that was stalest."""

from __future__ import annotations

from assay.contracts.metric import WAIT, Metric, Over, Read
from assay.contracts.observation import Observation, StalenessReport
from assay.judge.statistics import samples
from assay.record.metrics.work import driven


def percentile(report: StalenessReport, name: str) -> int | None:
    """None where there are too few numbers for it."""
    if report.numbers < samples.needed_for(name):
        return None
    found: int | None = getattr(report, f"{name}_ns")
    return found


def _of_stalest(name: str) -> Read:
    def read(whole: Observation) -> int | None:
        found = [percentile(one, name) for one in whole.staleness]
        return max((age_ns for age_ns in found if age_ns is not None), default=None)

    return driven(read)


OF_REPLICAS = tuple(
    Metric(
        name=f"staleness_{name}_ns",
        unit="ns",
        meaning=f"{name} time until a number that was written to the primary was read at the "
        "stalest replica",
        value=_of_stalest(name),
        null="no client read at a replica, or it could not be measured",
        words=WAIT,
        over=Over.MEDIAN,
        least_samples=samples.needed_for(name),
    )
    for name in ("p50", "p99")
)
