"""Says how many samples a percentile needs, and shows one or why there is none.

A percentile of a sample says something about the process only if the sample reaches beyond it. The
least count for which order statistics bound the p-quantile from above at the 97.5 % level (the
upper half of a two-sided 95 % interval) is the smallest n with p^n ≤ 0.025: 6 for the median, 36,
72 and 368 for p90, p95 and p99 (J.-Y. Le Boudec, Performance Evaluation of Computer and
Communication Systems, 2010, section 2.2).
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from assay.report import units
from assay.report.values import Cell, Number, absent

SHOWN: Mapping[str, float] = {"p50": 0.50, "p90": 0.90, "p95": 0.95, "p99": 0.99}
_ONE_SIDE = 0.025


def samples_needed(share: float) -> int:
    return math.ceil(math.log(_ONE_SIDE) / math.log(share))


def cells(response_time: Mapping[str, Any], n: int, unit: str) -> tuple[Cell, ...]:
    """n, each of `SHOWN`, and the maximum, which needs no more than one sample."""
    shown = [
        _time(response_time[f"{name}_ns"], n, unit)
        if n >= (needed := samples_needed(share))
        else absent(f"n<{needed}")
        for name, share in SHOWN.items()
    ]
    return (
        Cell(str(n), Number(n, "count")),
        *shown,
        _time(response_time["max_ns"], n, unit) if n else absent("n<1"),
    )


def missing(n: int) -> list[str]:
    """Names of the percentiles that n samples cannot tell."""
    return [name for name, share in SHOWN.items() if n < samples_needed(share)]


def _time(value_ns: int, n: int, unit: str) -> Cell:
    return Cell(units.time(value_ns, unit), Number(value_ns, "ns", n=n))
