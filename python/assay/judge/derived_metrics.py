"""Takes what clients did, and the metrics that a workload derives from it; returns their values, or
why there are none."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from assay.contracts.observation import DerivedValue, Observation, TransactionOutcomes
from assay.experiment import Scalar
from assay.judge.check.answers import CANCELLED
from assay.judge.check.verdict import cancelled

if TYPE_CHECKING:
    from assay.workload.derived_metrics import DerivedMetric

NO_VALUE = "the formula has no value"


def of_run(
    metrics: Sequence[DerivedMetric],
    observation: Observation,
    constants: Mapping[str, Scalar],
    file: Path,
) -> tuple[DerivedValue, ...]:
    """``constants``: the parameters of the run, and the constants of the workload."""
    return tuple(_value(metric, observation, constants, file) for metric in metrics)


def _value(
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
    limited = cancelled(observation)
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
