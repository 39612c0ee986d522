"""Says how many samples a percentile needs, and which percentiles of an observation have too few.

A percentile of a sample says something about the process only if the sample reaches beyond it. The
least count for which order statistics bound the p-quantile from above at the 97.5 % level (the
upper half of a two-sided 95 % interval) is the smallest n with p^n ≤ 0.025: 6 for the median, 36,
72, 368 and 3688 for p90, p95, p99 and p99.9 (J.-Y. Le Boudec, Performance Evaluation of Computer
and Communication Systems, 2010, section 2.2).
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping

from assay.observation import Observation
from assay.text import units

SHARES: Mapping[str, float] = {
    "p50": 0.50, "p90": 0.90, "p95": 0.95, "p99": 0.99, "p99.9": 0.999
}  # fmt: skip
"""Percentile → share of the samples below it."""
BY_NAME: Mapping[str, float] = {name.replace(".", "_"): share for name, share in SHARES.items()}
"""The same, as names of keys and columns have it: ``p99_9``."""
RELATIVE_RESOLUTION = 2**-10
"""Share of a percentile by which the buckets of a histogram with three digits are apart at most."""
_ONE_SIDE = 0.025


def samples_needed(share: float) -> int:
    return math.ceil(math.log(_ONE_SIDE) / math.log(share))


def missing(n: int) -> list[str]:
    """Names of the percentiles up to p99 that n samples cannot give; few runs are long enough for
    more."""
    return [name for name, share in SHARES.items() if share <= 0.99 and n < samples_needed(share)]


def few(repetitions: Iterable[Observation]) -> str:
    """Which percentiles of a transaction type have too few samples, by the type and repetition that
    has the fewest; empty: none."""
    counts = [
        one.count
        for observation in repetitions
        for one in observation.transactions
        if one.outcome == "ok"
    ]
    if not counts or not (names := missing(min(counts))):
        return ""
    needed = samples_needed(SHARES[names[-1]])
    return (
        f"{', '.join(names)}: {units.counted(min(counts), 'sample')} of a transaction type, "
        f"{names[-1]} needs {needed}"
    )
