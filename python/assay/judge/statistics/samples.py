"""Says what a percentile of times is: how many samples it needs, and when no time is so long.

Percentiles are of all transactions that were due. In an open loop those that were skipped, or of
which the outcome is unknown, had no answer: their latency is above every limit. Where the rank of a
percentile is among them it is not reached, and neither are the mean and the greatest time. All
outputs read times by `time_ns`.

A percentile of a sample says something about the process only if the sample reaches beyond it. The
least count for which order statistics bound the p-quantile from above at the 97.5 % level (the
upper half of a two-sided 95 % interval) is the smallest n with p^n ≤ 0.025: 6 for the median, 36,
72, 368 and 3688 for p90, p95, p99 and p99.9 (J.-Y. Le Boudec, Performance Evaluation of Computer
and Communication Systems, 2010, section 2.2).
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping

from assay.contracts.observation import Latency, Observation
from assay.text import units

SHARES: Mapping[str, float] = {
    "p50": 0.50, "p90": 0.90, "p95": 0.95, "p99": 0.99, "p99.9": 0.999
}  # fmt: skip
"""Percentile → share of the samples below it."""
BY_NAME: Mapping[str, float] = {name.replace(".", "_"): share for name, share in SHARES.items()}
"""The same, as names of keys and columns have it: ``p99_9``."""
RELATIVE_RESOLUTION = 2**-10
"""Share of a percentile by which the buckets of a histogram with three digits are apart at most."""
UNREACHED = math.inf
NOT_REACHED = "not reached"
"""In place of a time that is `UNREACHED`."""
_ONE_SIDE = 0.025


def samples_needed(share: float) -> int:
    return math.ceil(math.log(_ONE_SIDE) / math.log(share))


def needed_for(name: str) -> int:
    """How many transactions ``p99`` or ``p99_9`` needs; of the mean and the extremes one."""
    share = BY_NAME.get(name.replace(".", "_"))
    return 1 if share is None else samples_needed(share)


def time_ns(times: Latency, name: str) -> float | None:
    """A percentile (``p99``, ``p99.9``), the ``mean``, ``min`` or ``max``. None: too few samples;
    `UNREACHED`: more of what was due had no answer."""
    if times.due < needed_for(name):
        return None
    if name == "min":
        return times.min_ns if times.count else UNREACHED
    if name in ("mean", "max") and times.unanswered:
        return UNREACHED
    value_ns: float | None = getattr(times, f"{name.replace('.', '_')}_ns")
    return UNREACHED if value_ns is None else value_ns


def known_ns(times: Latency, name: str) -> float | None:
    """The same as a number; None where there is none, for whatever reason."""
    value_ns = time_ns(times, name)
    return None if value_ns == UNREACHED else value_ns


def without_answer(times: Latency) -> str:
    """``14597 of 24000 transactions had no answer``."""
    return f"{times.unanswered} of {units.counted(times.due, 'transaction')} had no answer"


def why_null(times: Latency) -> str:
    """Why some of its times are no numbers; empty: all are."""
    found = {name: time_ns(times, name) for name in (*SHARES, "mean", "max")}
    few = [name for name, value in found.items() if value is None]
    above = [name for name, value in found.items() if value == UNREACHED]
    said = [f"{', '.join(above)} {NOT_REACHED}: {without_answer(times)}"] if above else []
    if few:
        samples = units.counted(times.due, "transaction")
        said.append(f"{', '.join(few)}: {samples}, {few[-1]} needs {needed_for(few[-1])}")
    return "; ".join(said)


def missing(n: int) -> list[str]:
    """Names of the percentiles up to p99 that n samples cannot give; few runs are long enough for
    more."""
    return [name for name, share in SHARES.items() if share <= 0.99 and n < samples_needed(share)]


def few(repetitions: Iterable[Observation]) -> str:
    """Which percentiles of a transaction type have too few samples, by the type and repetition that
    has the fewest; empty: none."""
    counts = [
        one.latency.due
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
