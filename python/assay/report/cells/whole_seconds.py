"""Takes the observation of a run; returns the transactions of each whole second, for timelines."""

from __future__ import annotations

from assay.contracts.observation import Observation
from assay.judge.statistics import per_second

LEAST_SECONDS = 5
"""A run of fewer whole seconds has no timeline."""


def whole_seconds(observation: Observation) -> list[int]:
    """Transactions that ended ok in each whole second in which transactions began."""
    asked_ns = observation.elapsed_ns - observation.drained_ns
    seconds = int(asked_ns // 1_000_000_000)
    return per_second.ok(observation)[:seconds]
