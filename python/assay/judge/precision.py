"""Takes the numbers of a cell's repetitions; returns how precisely their mean is known, and whether
that is precise enough.

The interval is that of Student's t. An interval that is looked at after every repetition, and
believed as soon as it is narrow, is narrow too early by chance. So a cell is precise enough only
when two repetitions in succession found it so: of cells that end then, the mean is within the asked
share of the true one in at least 92 % (`docs/concepts/statistics.md`), and in 95 % or more where
repetitions differ by less than 8 %.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence

from assay.contracts.observation import Observation
from assay.judge.run import Run

CONFIDENCE = 0.95


def number_of(run: Run) -> float | None:
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
        return number_of(run)
    latency = run.driven.of_clients.all_ok.latency
    return latency.mean_ns if run.is_measured and latency.count else None


def half_width(numbers: Sequence[float]) -> float | None:
    """Half the width of the interval of the mean, as a share of it; None for fewer than two
    numbers, and where the mean is 0."""
    n = len(numbers)
    mean = statistics.fmean(numbers) if n else 0.0
    if n < 2 or not mean:
        return None
    from scipy.special import stdtrit  # here: a report without repetitions does without SciPy

    factor = float(stdtrit(n - 1, (1 + CONFIDENCE) / 2))
    return factor * statistics.stdev(numbers) / math.sqrt(n) / abs(mean)


def is_reached(numbers: Sequence[float], asked: float) -> bool:
    """Whether the interval is narrow enough now, and was one repetition before."""
    now, before = half_width(numbers), half_width(numbers[:-1])
    return now is not None and before is not None and max(now, before) <= asked
