"""Takes a metric and the runs of a cell on two sides; gives its values and their ratio, without a
verdict."""

from __future__ import annotations

from collections.abc import Sequence

from assay.comparison.ratios.pairs import Pairs
from assay.comparison.sides.values import Compared
from assay.contracts.metric import Metric
from assay.judge.run import Run
from assay.judge.statistics.estimate import Estimate, center, independent, paired
from assay.judge.statistics.samples import UNREACHED


def compared(
    metric: Metric,
    a: Sequence[Run],
    b: Sequence[Run],
    pairs: Pairs | None,
    *,
    is_primary: bool,
) -> Compared:
    """``pairs``: those of the runs, where they were interleaved."""
    a_values, b_values = _values(metric, a), _values(metric, b)
    return Compared(
        metric=metric,
        is_primary=is_primary,
        a=center(a_values) if a_values else None,
        b=center(b_values) if b_values else None,
        a_values=a_values,
        b_values=b_values,
        estimate=_estimate(metric, a_values, b_values, pairs),
    )


def _estimate(
    metric: Metric, a: Sequence[float], b: Sequence[float], pairs: Pairs | None
) -> Estimate | None:
    """Of pairs, where two or more have a value on both sides."""
    if not a or not b or min(*a, *b) <= 0 or max(*a, *b) == UNREACHED:
        return None
    if pairs is not None and metric.measured_once is None:
        both = [(metric.result(left), metric.result(right)) for left, right in pairs]
        whole = [(left, right) for left, right in both if left and right]
        if len(whole) > 1:
            lefts, rights = zip(*whole, strict=True)
            return paired(lefts, rights, metric.least_deviation)
    return independent(a, b, metric.least_deviation)


def _values(metric: Metric, runs: Sequence[Run]) -> tuple[float, ...]:
    """Of each run; of those that share a measurement once."""
    found = []
    seen = set()
    for run in runs:
        value = metric.result(run)
        if value is None:
            continue
        if metric.measured_once is not None:
            shared = metric.measured_once(run)
            if shared in seen:
                continue
            seen.add(shared)
        found.append(float(value))
    return tuple(found)
