"""Takes what clients did; returns whether each was served, whether offered rates and response
limits were kept, how near the clients were to their ceiling, and what a workload derives from
it."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from assay.contracts.observation import (
    DerivedValue,
    Latency,
    Observation,
    ResponseLimit,
    TransactionOutcomes,
)
from assay.contracts.observation.clients import InFlight
from assay.contracts.observation.transactions import merged_latency
from assay.experiment import Driving, Scalar
from assay.judge.result_checks import CANCELLED, cancelled_types
from assay.judge.run import CalibrationRecord, Run
from assay.judge.statistics import samples
from assay.judge.statistics.samples import UNREACHED
from assay.text import rates, units

if TYPE_CHECKING:
    from assay.workload.derived_metrics import DerivedMetric


STARVED_SHARE = 0.10
"""A client with less than this share of the transactions of the most served one is starved."""
LEAST_MOST = 30
"""Transactions that the most served client must have ended, so that it is not chance."""
LAW_LIMIT = 0.10
"""Share of the clients that may be missing by Little's law."""


def is_unequal(observation: Observation) -> bool:
    return bool(starved(observation) or missing_by_law(observation))


def starved(observation: Observation) -> str:
    """Which clients ended hardly anything beside others of their group; empty where there are none,
    or where it is unknown."""
    if observation.littles_law is None:
        return ""
    by_group: dict[str, list[int]] = {}
    for one in observation.client_ends:
        if one.state == "done":
            by_group.setdefault(one.group, []).append(one.transactions)
    for ended in by_group.values():
        most = max(ended)
        few = [count for count in ended if count < STARVED_SHARE * most]
        if most >= LEAST_MOST and few:
            return _starved_words(ended, few, observation.in_flight)
    return ""


def _starved_words(ended: Sequence[int], few: Sequence[int], in_flight: InFlight) -> str:
    words = f"{len(few)} of {units.counted(len(ended), 'client')} ended {_range(few)} transactions"
    words += f", the most served {max(ended)}"
    if in_flight.count:
        oldest_s = in_flight.oldest_ns / 1e9
        words += f"; {in_flight.count} under way at the end, the oldest for {oldest_s:.1f} s"
    return words


def missing_by_law(observation: Observation) -> str:
    """How many clients are missing by Little's law; empty where none are, or none is kept."""
    law = observation.littles_law
    if law is None or not law.clients or 1 - law.clients_by_law / law.clients <= LAW_LIMIT:
        return ""
    return f"{law.clients:.2f} clients at work, {law.clients_by_law:.2f} in the figures"


def _range(few: Sequence[int]) -> str:
    least, most = min(few), max(few)
    return str(least) if least == most else f"{least}-{most}"


LATE_LIMIT = 0.01
"""Share of late and skipped transactions beyond which there is a warning."""
REACHED = 1 - LATE_LIMIT
"""Share of the offered rate that must end for the rate to be kept, chance aside."""
_CHANCE = 3
"""Standard deviations of Poisson arrivals, which is the square root of their number."""


class OfferedAndReached(NamedTuple):
    offered_per_s: float
    reached_per_s: float
    """Transactions that ended, whatever their outcome, per second in which others were due."""
    is_kept: bool
    """Whether these are `REACHED` of the offered ones, or the difference is within the chance of
    random arrivals."""
    goal: str = ""
    """``missed`` or ``not decided``, where the rate was searched for (``--goal``): then it is not
    kept either."""


def offered_and_reached(driving: Driving, observation: Observation) -> OfferedAndReached | None:
    """None in a closed loop, and where nothing was due."""
    rate = driving.offered_rate_per_s
    # Nothing is due while the last transactions are waited for.
    due_ns = observation.elapsed_ns - observation.drained_ns
    if not rate:
        return None
    if due_ns <= 0 or not observation.outcomes.scheduled:
        return None
    expected = rates.due(rate, due_ns / 1e9)
    ended = observation.ended
    is_missed = ended < REACHED * expected and expected - ended > _CHANCE * math.sqrt(expected)
    offered_per_s = rates.mean_per_s(rate, due_ns / 1e9)
    return OfferedAndReached(offered_per_s, ended / (due_ns / 1e9), not is_missed)


MET, MISSED, NOT_JUDGED = "met", "missed", "not judged"
_COMPLETED = ("ok", "aborted")


class JudgedLimit(NamedTuple):
    limit: ResponseLimit
    samples: int
    """Transactions that its percentile is of."""
    found_ns: float | None
    """None: too few of them; `UNREACHED`: more of what was due had no answer."""

    @property
    def word(self) -> str:
        if self.found_ns is None:
            return NOT_JUDGED
        return MET if self.found_ns < self.limit.limit_ns else MISSED

    @property
    def said(self) -> str:
        """``new-order p90 6.1 s (limit 5s)``."""
        limit = units.exact_duration(self.limit.limit_ns / 1e9)
        named = f"{self.limit.transaction} {self.limit.percentile}"
        if self.found_ns is None:
            needed = samples.needed_for(self.limit.percentile)
            return f"{named}: {self.samples} of {needed} transactions"
        reached = self.found_ns != UNREACHED
        found = units.latency(self.found_ns) if reached else samples.NOT_REACHED
        return f"{named} {found} (limit {limit})"


def judged_limits(observation: Observation) -> Iterator[JudgedLimit]:
    for limit in observation.response_limits:
        times = _times(observation, limit.transaction)
        if times is None:
            yield JudgedLimit(limit, 0, None)
        else:
            yield JudgedLimit(limit, times.due, samples.time_ns(times, limit.percentile))


def _times(observation: Observation, transaction: str) -> Latency | None:
    found = [
        one.latency
        for one in observation.transactions
        if one.name == transaction and one.outcome in _COMPLETED
    ]
    return merged_latency(found) if len(found) > 1 else next(iter(found), None)


def worst_limit(limits: Iterable[JudgedLimit]) -> str:
    """Of the repetitions: missed where one missed it; met where each met it."""
    words = {one.word for one in limits}
    return next(word for word in (MISSED, NOT_JUDGED, MET) if word in words)


CEILING_LIMIT = 0.70
"""Share of the ceiling beyond which the client's speed affects the numbers."""


class Headroom(NamedTuple):
    statements_per_s: float
    ceiling: CalibrationRecord

    @property
    def share(self) -> float:
        return self.statements_per_s / self.ceiling.statements_per_s


def headroom(run: Run) -> Headroom | None:
    """None where nothing was calibrated, or statements were not counted."""
    rate = statements_per_s(run)
    return None if run.calibration is None or rate is None else Headroom(rate, run.calibration)


def statements_per_s(run: Run) -> float | None:
    """None for a library that works in the client's own process: it is not the client's work."""
    driven = run.driven
    if driven is None or not driven.statements or not driven.elapsed_ns or run.is_embedded:
        return None
    return driven.statements / (driven.elapsed_ns / 1e9)


NO_VALUE = "the formula has no value"


def derived_values(
    metrics: Sequence[DerivedMetric],
    observation: Observation,
    constants: Mapping[str, Scalar],
    file: Path,
) -> tuple[DerivedValue, ...]:
    """``constants``: the parameters of the run, and the constants of the workload."""
    return tuple(_derived_value(metric, observation, constants, file) for metric in metrics)


def _derived_value(
    metric: DerivedMetric, observation: Observation, constants: Mapping[str, Scalar], file: Path
) -> DerivedValue:
    why_none = _why_none(metric, observation)
    value = None
    if not why_none:
        value = metric.of_values({**constants, **_inputs(metric, observation)}, file)
        why_none = "" if value is not None else NO_VALUE
    return DerivedValue(metric.name, metric.title, value, why_none, metric.is_more_better)


def _why_none(metric: DerivedMetric, observation: Observation) -> str:
    """A transaction that did not end ok would be missing in the mean, and in the time: the metric
    would be better for it. Empty: all of them did."""
    if not observation.elapsed_ns or observation.ended_by != "stop":
        return "the run did not end as planned"
    by_name = {one.name: one for one in observation.outcomes_by_transaction}
    limited = cancelled_types(observation)
    if without := [name for name in metric.scripts if name in limited]:
        return f"{', '.join(without)}: {CANCELLED}"
    not_ok = [name for name in metric.scripts if not _all_ok(by_name.get(name))]
    return f"{', '.join(not_ok)}: not all ended ok" if not_ok else ""


def _all_ok(outcomes: TransactionOutcomes | None) -> bool:
    return outcomes is not None and 0 < outcomes.ok == outcomes.scheduled


def _inputs(metric: DerivedMetric, observation: Observation) -> dict[str, Scalar]:
    """`assay.workload.derived_metrics.INPUTS`."""
    by_name = {one.name: one for one in observation.outcomes_by_transaction}
    latencies = [observation.latency_of(name) for name in metric.scripts]
    means_s = [one.mean_ns / 1e9 for one in latencies if one is not None]
    return {
        "geometric_mean_s": math.exp(math.fsum(map(math.log, means_s)) / len(means_s)),
        "completed": sum(by_name[name].ok for name in metric.scripts),
        "elapsed_s": observation.elapsed_ns / 1e9,
    }
