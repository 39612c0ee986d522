"""Takes samples, or the values of repetitions; returns percentiles, medians, spreads, ranks and how
precisely a mean is known, and how many samples each needs."""

from __future__ import annotations

import math
import statistics
from collections.abc import Iterable, Mapping, Sequence
from itertools import combinations

from msgspec import Struct

from assay.contracts.observation import Latency, Observation
from assay.judge.run import Run
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


def missing_samples(n: int) -> list[str]:
    """Names of the percentiles up to p99 that n samples cannot give; few runs are long enough for
    more."""
    return [name for name, share in SHARES.items() if share <= 0.99 and n < samples_needed(share)]


def few_samples(repetitions: Iterable[Observation]) -> str:
    """Which percentiles of a transaction type have too few samples, by the type and repetition that
    has the fewest; empty: none."""
    counts = [
        one.latency.due
        for observation in repetitions
        for one in observation.transactions
        if one.outcome == "ok"
    ]
    if not counts or not (names := missing_samples(min(counts))):
        return ""
    needed = samples_needed(SHARES[names[-1]])
    return (
        f"{', '.join(names)}: {units.counted(min(counts), 'sample')} of a transaction type, "
        f"{names[-1]} needs {needed}"
    )


class Spread(Struct, frozen=True):
    """Median, smallest, largest. No mean: one disturbed repetition must not move the number."""

    median: float
    low: float
    high: float
    n: int

    @property
    def relative(self) -> float:
        """(largest - smallest) / median."""
        return (self.high - self.low) / self.median if self.median else 0.0


def middle_places(values: Sequence[float]) -> tuple[int, ...]:
    """Where the one value stands that the median is, or the two of which it is the mean."""
    places = sorted(range(len(values)), key=values.__getitem__)
    return tuple(dict.fromkeys((places[(len(places) - 1) // 2], places[len(places) // 2])))


def median_of_all(values: Iterable[float | None]) -> float | None:
    """The median of repetitions; None where one of them has no such number."""
    found = list(values)
    known = [value for value in found if value is not None]
    return statistics.median(known) if known and len(known) == len(found) else None


def median_and_spread(values: Sequence[float]) -> Spread:
    """``values`` holds at least one."""
    return Spread(statistics.median(values), min(values), max(values), len(values))


NEARLY_EQUAL = 1.1
"""A single measurement says nothing of its own spread: what differs by less than this ratio has no
certain order, however often it was measured."""


def ranks(values: Sequence[Spread]) -> list[int]:
    """From 1; of values that share a rank, the next one leaves as many out."""
    found = [0] * len(values)
    order = sorted(range(len(values)), key=lambda place: -values[place].median)
    first = 0
    for number, place in enumerate(order):
        if not number or not _are_near(values[order[first]], values[place]):
            first = number
        found[place] = first + 1
    return found


def _are_near(greater: Spread, less: Spread) -> bool:
    return less.high >= greater.low or greater.median < NEARLY_EQUAL * less.median


LEAST_PAIRS = 3
"""Two things have only two orders: their correlation says nothing."""


def kendall_tau(pairs: Sequence[tuple[float, float]]) -> float | None:
    """Kendall's tau-b: 1 for the same order, -1 for the opposite one, with a correction for ties
    (M. G. Kendall, Rank Correlation Methods, 1948). None for fewer than `LEAST_PAIRS` pairs, and
    where all numbers of one side are equal."""
    if len(pairs) < LEAST_PAIRS:
        return None
    together = first_untied = second_untied = 0
    for (x1, y1), (x2, y2) in combinations(pairs, 2):
        by_first, by_second = _sign(x1 - x2), _sign(y1 - y2)
        together += by_first * by_second
        first_untied += abs(by_first)
        second_untied += abs(by_second)
    if not (first_untied and second_untied):
        return None
    return together / math.sqrt(first_untied * second_untied)


def _sign(value: float) -> int:
    return (value > 0) - (value < 0)


CONFIDENCE_OF_MEAN = 0.95


def judged_number(run: Run) -> float | None:
    """The number of a run that is judged: its throughput; where there are no transactions, its
    elapsed time. None where it was not measured to its end."""
    observation = run.observation
    if not run.is_measured or observation is None:
        return None
    if isinstance(observation, Observation):
        return observation.throughput_per_s
    return float(observation.elapsed_ns or 0) or None


def number_to_be_precise(run: Run) -> float | None:
    """The number of a run whose mean over the repetitions has to be precise: the same; in an open
    loop, where the throughput is what was offered, the mean latency."""
    if run.driven is None or not run.driving.is_open:
        return judged_number(run)
    latency = run.driven.of_clients.all_ok.latency
    return latency.mean_ns if run.is_measured and latency.count else None


def half_width_of_mean(numbers: Sequence[float]) -> float | None:
    """Half the width of the interval of the mean, as a share of it; None for fewer than two
    numbers, and where the mean is 0."""
    n = len(numbers)
    mean = statistics.fmean(numbers) if n else 0.0
    if n < 2 or not mean:
        return None
    from scipy.special import stdtrit  # here: a report without repetitions does without SciPy

    factor = float(stdtrit(n - 1, (1 + CONFIDENCE_OF_MEAN) / 2))
    return factor * statistics.stdev(numbers) / math.sqrt(n) / abs(mean)


def is_precise(numbers: Sequence[float], asked: float) -> bool:
    """Whether the interval is narrow enough now, and was one repetition before."""
    now, before = half_width_of_mean(numbers), half_width_of_mean(numbers[:-1])
    return now is not None and before is not None and max(now, before) <= asked


def middle_repetition(observations: Sequence[Observation | None]) -> int | None:
    """The place of the one with the median throughput; of an even number, of the faster of the
    middle two. None where no clients were driven."""
    timed = [
        (one.elapsed_ns / max(1, one.of_clients.outcomes.ok), place)
        for place, one in enumerate(observations)
        if one is not None
    ]
    timed.sort(key=lambda timed_run: timed_run[0])
    return timed[(len(timed) - 1) // 2][1] if timed else None
