"""Takes the observation of a measurement that began with cold caches; returns how long its first
executions took, and after how many seconds it was warm."""

from __future__ import annotations

from typing import NamedTuple

from assay.contracts.observation import Observation


class Warm(NamedTuple):
    """When the throughput began to stay the same."""

    after_s: int
    per_s: float
    """From then on, on average."""


def first_ns(observation: Observation) -> int | None:
    """The time of the first execution of each transaction type that ended ok, summed over the
    types; None where none did, and in records that do not keep it."""
    firsts = [one.first for one in observation.transactions if one.outcome == "ok"]
    known = [first.latency_ns for first in firsts if first is not None]
    return sum(known) if known and len(known) == len(firsts) else None


def warm(observation: Observation) -> Warm | None:
    """None where the first seconds do not differ from the rest, or are too few to tell."""
    measured_ns = observation.elapsed_ns - observation.drained_ns
    from assay.judge.statistics import per_second

    counts = per_second.ok(observation)[: int(measured_ns // 1_000_000_000)]
    # Imported here: a command that judges nothing does without NumPy and SciPy.
    import numpy as np

    from assay.judge.statistics.warm_up import beginning

    first = beginning(np.asarray(counts, dtype=np.float64))
    return None if first is None else Warm(first.seconds, first.rest_per_s)
