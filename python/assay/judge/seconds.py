"""Takes an observation; returns what happened in each of its seconds, when its caches were warm,
and the warnings that its seconds give: a short warm-up, a drift, seconds unlike the others."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple

from assay.contracts.observation import Interval, Observation
from assay.judge import warning_kinds
from assay.judge.run import Run
from assay.judge.warning_kinds import WarningKind
from assay.text import rates, units

if TYPE_CHECKING:
    from assay.judge.statistics.series import Outlier


_LEAST_SECONDS = 5
_NAMED = 3
"""Outliers of one run that are named; the others are counted."""


def warnings_of_seconds(run: Run, observation: Observation) -> Iterator[tuple[WarningKind, str]]:
    """Of the whole seconds before the last transactions were waited for."""
    measured_ns = observation.elapsed_ns - observation.drained_ns

    counts = ok_per_second(observation)[: int(measured_ns // 1_000_000_000)]
    if len(counts) < _LEAST_SECONDS or not any(counts):
        return
    # Imported here: a short run, and a command that judges nothing, do without SciPy.
    import numpy as np

    from assay.judge.statistics.series import drift, outlying_seconds, warm_up

    values = np.asarray(_as_if_even(run, counts), dtype=np.float64)
    known = [at for at in _interrupted(observation) if at < len(values)]
    values[known] = np.median(np.delete(values, known)) if len(known) < len(values) else 0
    start = 0
    if (first := warm_up(values)) is not None:
        start = first.seconds
        if first.changes_mean_by(len(values)) > warning_kinds.WARM_UP_LIMIT:
            compared = "slower" if first.per_s < first.rest_per_s else "faster"
            warm_up_s = float(run.driving.warm_up_s) + first.seconds
            yield (
                WarningKind.SHORT_WARM_UP,
                f"{run.name}: the first {first.seconds} s were {compared}, "
                f"{units.digits(first.per_s)}/s, then {units.digits(first.rest_per_s)}/s: "
                f"a warm-up of {warm_up_s:g} s leaves them out",
            )
    rest = values[start:]
    trend = drift(rest)
    if trend is not None and abs(trend.relative) > warning_kinds.DRIFT_LIMIT:
        yield (
            WarningKind.DRIFT,
            f"{run.name}: {'rose' if trend.relative > 0 else 'fell'} by "
            f"{units.share_beyond(abs(trend.relative), warning_kinds.DRIFT_LIMIT)} "
            f"within {len(rest)} s, "
            f"from {units.digits(max(0.0, trend.first_per_s))}/s to "
            f"{units.digits(max(0.0, trend.last_per_s))}/s",
        )
    found = [
        one._replace(at=one.at + start)
        for one in outlying_seconds(rest, None if trend is None else trend.of(len(rest)))
    ]
    if found:
        yield WarningKind.OUTLYING_SECONDS, f"{run.named_run}: {_named(found)}"


def _as_if_even(run: Run, counts: Sequence[int]) -> Sequence[float]:
    """The seconds of a profile, each divided by its share of what was offered: what the profile
    changes is no drift. One in which nothing was due is as the mean."""
    rate = run.driving.offered_rate_per_s
    if not rates.is_profile(rate):
        return counts
    mean = sum(counts) / len(counts)
    offered = rates.due_in_seconds(rate or 0.0, len(counts))
    mean_offered = sum(offered) / len(offered)
    return [
        count * mean_offered / due if due else mean
        for count, due in zip(counts, offered, strict=True)
    ]


def _interrupted(observation: Observation) -> set[int]:
    """The seconds of outages, stalls and suspensions, which have warnings of their own."""
    spans = [*observation.stalls, *observation.suspensions, *observation.outages]
    second_ns = 1_000_000_000
    return {
        at for one in spans for at in range(one.from_ns // second_ns, one.to_ns // second_ns + 1)
    }


def _named(outliers: Sequence[Outlier]) -> str:
    """``second 31: 500.0/s, 50 % below 1000/s``; the farthest ones, in their order."""
    farthest = sorted(outliers, key=lambda outlier: -abs(outlier.relative))[:_NAMED]
    said = [f"second {one.at}: {deviation(one)}" for one in sorted(farthest)]
    if len(outliers) > _NAMED:
        said.append(f"and {len(outliers) - _NAMED} more")
    return ", ".join(said)


def deviation(outlier: Outlier, unit: str = "/s") -> str:
    """``500.0/s, 50 % below 1000/s``."""
    side = "above" if outlier.relative > 0 else "below"
    share = units.share(abs(outlier.relative))
    return (
        f"{units.digits(outlier.value)}{unit}, {share} {side} {units.digits(outlier.usual)}{unit}"
    )


def ok_per_second(observation: Observation) -> list[int]:
    """Transactions of the clients that ended ok, second by second, without those that they had
    queued for others (`Observation.of_clients`)."""
    deferred = {group.name for group in observation.groups if group.is_deferred}
    return [
        sum(one.ok for one in groups if one.group not in deferred)
        for groups in _seconds(observation)
    ]


def suspended_per_second(observation: Observation) -> frozenset[int]:
    """The seconds in which this program did not run all the time."""
    return frozenset(
        at
        for at, groups in enumerate(_seconds(observation))
        if any(one.suspended_ns for one in groups)
    )


def _seconds(observation: Observation) -> list[list[Interval]]:
    """The rows of each second, one of each group."""
    by_second: dict[int, list[Interval]] = {}
    for one in observation.intervals:
        by_second.setdefault(one.second, []).append(one)
    return [by_second[second] for second in sorted(by_second)]


class Warm(NamedTuple):
    """When the throughput began to stay the same."""

    after_s: int
    per_s: float
    """From then on, on average."""


def first_executions_ns(observation: Observation) -> int | None:
    """The time of the first execution of each transaction type that ended ok, summed over the
    types; None where none did, and in records that do not keep it."""
    firsts = [one.first for one in observation.transactions if one.outcome == "ok"]
    known = [first.latency_ns for first in firsts if first is not None]
    return sum(known) if known and len(known) == len(firsts) else None


def warm_after(observation: Observation) -> Warm | None:
    """None where the first seconds do not differ from the rest, or are too few to tell."""
    measured_ns = observation.elapsed_ns - observation.drained_ns

    counts = ok_per_second(observation)[: int(measured_ns // 1_000_000_000)]
    # Imported here: a command that judges nothing does without NumPy and SciPy.
    import numpy as np

    from assay.judge.statistics.series import warm_up

    first = warm_up(np.asarray(counts, dtype=np.float64))
    return None if first is None else Warm(first.seconds, first.rest_per_s)
