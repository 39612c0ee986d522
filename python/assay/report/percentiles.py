"""Says how many samples a percentile needs, and shows one or why there is none.

A percentile of a sample says something about the process only if the sample reaches beyond it. The
least count for which order statistics bound the p-quantile from above at the 97.5 % level (the
upper half of a two-sided 95 % interval) is the smallest n with p^n ≤ 0.025: 6 for the median, 36,
72, 368 and 3688 for p90, p95, p99 and p99.9 (J.-Y. Le Boudec, Performance Evaluation of Computer
and Communication Systems, 2010, section 2.2).
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from typing import Any

from assay.report import units
from assay.report.values import Cell, Number, absent

SHOWN: Mapping[str, float] = {"p50": 0.50, "p90": 0.90, "p95": 0.95, "p99": 0.99, "p99.9": 0.999}
_ONE_SIDE = 0.025


def samples_needed(share: float) -> int:
    return math.ceil(math.log(_ONE_SIDE) / math.log(share))


def cells(times: Mapping[str, Any], n: int, unit: str) -> tuple[Cell, ...]:
    """n, each of `SHOWN`, and the maximum, which needs no more than one sample."""
    return (
        Cell(str(n), Number(n, "count")),
        *(one(times, name, n, unit) for name in (*SHOWN, "max")),
    )


def one(times: Mapping[str, Any], name: str, n: int, unit: str) -> Cell:
    """One of `SHOWN` or ``max``, or how many samples it would need."""
    if name == "max":
        return _time(times["max_ns"], n, unit) if n else absent("n<1")
    if n < (needed := samples_needed(SHOWN[name])):
        return absent(f"n<{needed}")
    return _time(times[f"{name.replace('.', '_')}_ns"], n, unit)


def unit_of(found: Iterable[Mapping[str, Any]]) -> str:
    """The unit in which these times are best read: µs where no p99 reaches a millisecond."""
    return "µs" if max((times["p99_ns"] for times in found), default=0) < 1_000_000 else "ms"


def missing(n: int) -> list[str]:
    """Names of the percentiles up to p99 that n samples cannot tell; few runs are long enough for
    more."""
    return [name for name, share in SHOWN.items() if share <= 0.99 and n < samples_needed(share)]


def _time(value_ns: int, n: int, unit: str) -> Cell:
    return Cell(units.time(value_ns, unit), Number(value_ns, "ns", n=n))
