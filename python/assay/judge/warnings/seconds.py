"""Takes a run that was driven for a time; returns the warnings that its seconds
give: a warm-up that was too short, a drift, seconds that are unlike the others.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from assay.contracts.observation import Observation
from assay.judge.run import Run
from assay.judge.statistics import per_second
from assay.judge.warnings import kinds
from assay.judge.warnings.kinds import WarningKind
from assay.text import rates, units

if TYPE_CHECKING:
    from assay.judge.statistics.outliers import Outlier

_LEAST_SECONDS = 5
_NAMED = 3
"""Outliers of one run that are named; the others are counted."""


def of_seconds(run: Run, observation: Observation) -> Iterator[tuple[WarningKind, str]]:
    """Of the whole seconds before the last transactions were waited for."""
    measured_ns = observation.elapsed_ns - observation.drained_ns

    counts = per_second.ok(observation)[: int(measured_ns // 1_000_000_000)]
    if len(counts) < _LEAST_SECONDS or not any(counts):
        return
    # Imported here: a short run, and a command that judges nothing, do without SciPy.
    import numpy as np

    from assay.judge.statistics.drift import drift
    from assay.judge.statistics.outliers import among_seconds
    from assay.judge.statistics.warm_up import beginning

    values = np.asarray(_as_if_even(run, counts), dtype=np.float64)
    known = [at for at in _interrupted(observation) if at < len(values)]
    values[known] = np.median(np.delete(values, known)) if len(known) < len(values) else 0
    start = 0
    if (first := beginning(values)) is not None:
        start = first.seconds
        if first.changes_mean_by(len(values)) > kinds.WARM_UP_LIMIT:
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
    if trend is not None and abs(trend.relative) > kinds.DRIFT_LIMIT:
        yield (
            WarningKind.DRIFT,
            f"{run.name}: {'rose' if trend.relative > 0 else 'fell'} by "
            f"{units.share_beyond(abs(trend.relative), kinds.DRIFT_LIMIT)} within {len(rest)} s, "
            f"from {units.digits(max(0.0, trend.first_per_s))}/s to "
            f"{units.digits(max(0.0, trend.last_per_s))}/s",
        )
    found = [
        one._replace(at=one.at + start)
        for one in among_seconds(rest, None if trend is None else trend.of(len(rest)))
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
