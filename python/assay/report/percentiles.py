"""Takes a histogram's percentiles and its count; returns each as a cell, or how many samples it
needs.

A percentile of a sample says something about the process only if the sample reaches beyond it. The
least count for which order statistics bound the p-quantile from above at the 97.5 % level (the
upper half of a two-sided 95 % interval) is the smallest n with p^n ≤ 0.025: 6 for the median, 36,
72, 368 and 3688 for p90, p95, p99 and p99.9 (J.-Y. Le Boudec, Performance Evaluation of Computer
and Communication Systems, 2010, section 2.2).

A percentile is the upper edge of a cell of an HDR histogram, and is shown with no more digits than
the width of that cell allows.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from typing import Any

from assay.record.records import Document
from assay.report.values import Cell, Number, absent
from assay.text import units

SHOWN: Mapping[str, float] = {"p50": 0.50, "p90": 0.90, "p95": 0.95, "p99": 0.99, "p99.9": 0.999}
_KEYS = {name.replace(".", "_") for name in SHOWN}
_ONE_SIDE = 0.025
_WITHOUT_WORD: Document = {"lowest_ns": 512, "significant_digits": 3}
"""For observations without it: their cells were 512 ns wide below a millisecond."""


def samples_needed(share: float) -> int:
    return math.ceil(math.log(_ONE_SIDE) / math.log(share))


def resolution(observation: Document) -> Document:
    """``lowest_ns``: width of the narrowest cells; ``significant_digits``: of all wider cells."""
    found: Document = observation.get("resolution") or _WITHOUT_WORD
    return found


def cell_width_ns(value_ns: float, resolution: Document) -> int:
    """Width of the histogram's cell that counts ``value_ns``: the first 2 * 10^digits cells
    (rounded up to a power of two) are the narrowest, then the width doubles with the value."""
    lowest_ns: int = resolution["lowest_ns"]
    digits: int = resolution["significant_digits"]
    narrowest = int(2 * 10**digits - 1).bit_length()
    return lowest_ns << max(0, int(value_ns / lowest_ns).bit_length() - narrowest)


def width_of(key: str, value: float, observation: Document) -> int:
    """The same for a value of the observation; 0 where its key is not that of a percentile."""
    is_percentile = key.rpartition(".")[2].removesuffix("_ns") in _KEYS
    return cell_width_ns(value, resolution(observation)) if is_percentile else 0


def cells(times: Mapping[str, Any], n: int, unit: str, resolution: Document) -> tuple[Cell, ...]:
    """n, each of `SHOWN`, and the maximum, which needs one sample."""
    return (
        Cell(str(n), Number(n, "count")),
        *(one(times, name, n, unit, resolution) for name in (*SHOWN, "max")),
    )


def one(times: Mapping[str, Any], name: str, n: int, unit: str, resolution: Document) -> Cell:
    """One of `SHOWN` or ``max``, or how many samples it needs."""
    if name == "max":
        max_ns = times["max_ns"]
        return Cell(units.time(max_ns, unit), Number(max_ns, "ns", n=n)) if n else absent("n<1")
    if n < (needed := samples_needed(SHOWN[name])):
        return absent(f"n<{needed}")
    value_ns = times[f"{name.replace('.', '_')}_ns"]
    width_ns = cell_width_ns(value_ns, resolution)
    made = Number(value_ns, "ns", n=n, resolution=width_ns)
    return Cell(units.time(value_ns, unit, resolution_ns=width_ns), made)


def unit_of(found: Iterable[Mapping[str, Any]]) -> str:
    """The unit that suits these times: µs where no p99 reaches a millisecond."""
    return "µs" if max((times["p99_ns"] for times in found), default=0) < 1_000_000 else "ms"


def missing(n: int) -> list[str]:
    """Names of the percentiles up to p99 for which n samples are too few; few runs are long enough
    for higher ones."""
    return [name for name, share in SHOWN.items() if share <= 0.99 and n < samples_needed(share)]
