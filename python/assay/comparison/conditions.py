"""Takes the text of a condition (``throughput_per_s < 0.95x``, ``p99 < 5ms``); returns the
`Condition`.

The metric is named as in tables (``latency_p99_ns``), and the limit is a number in its unit or has
a unit of its own (``5ms``, ``1%``). Where the limit has a unit, the metric's may be left out
(``latency_p99``), and `p99` or `mean` alone is that of the latency. With ``x`` the limit is a
ratio, which needs no unit: there it may be left out as well.
"""

from __future__ import annotations

import operator
import re

from msgspec import Struct

from assay.contracts.metric import Metric
from assay.errors import ArgumentError
from assay.record.metrics import catalogue

_CONDITION = re.compile(
    r"\s*(?P<metric>[A-Za-z]\w*(?:\.\d+)?(?:\[[^\[\]]+\])?)\s*(?P<sign><=|>=|<|>)\s*"
    r"(?P<limit>\d{1,30}(?:\.\d{0,30})?(?:[eE][+-]?\d{1,2})?)\s*(?P<unit>x|[a-zµμ]*|%|/s|/min)\s*"
)
_SIGNS = {"<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge}
_UNITS = {
    "ns": {"ns": 1.0, "us": 1e3, "µs": 1e3, "μs": 1e3, "ms": 1e6, "s": 1e9, "min": 6e10},
    "ratio": {"%": 0.01},
    "per_s": {"/s": 1.0},
    "per_min": {"/min": 1.0},
}
"""Unit of a metric → those that a limit may have, each in the metric's."""
_OF_LATENCY = re.compile(r"p\d+(?:_\d+)?|min|mean|max")
_EXAMPLES = (
    "'throughput_per_s < 0.95x' (a ratio to A), 'p99 > 5ms', 'latency_p99_ns > 5000000' (a value "
    "of B) or 'latency_p99_ns[insert] > 1.2x' (of a transaction type)"
)


class Condition(Struct, frozen=True):
    """``metric`` below or above a limit."""

    text: str
    metric: Metric
    sign: str
    """``<``, ``<=``, ``>`` or ``>=``."""
    limit: float
    is_ratio: bool

    @property
    def is_upper(self) -> bool:
        """Whether the limit is the greatest value, and not the least."""
        return self.sign.startswith("<")

    def is_met_by(self, value: float) -> bool:
        return bool(_SIGNS[self.sign](value, self.limit))


def condition(text: str, examples: str = _EXAMPLES) -> Condition:
    """Raises `ArgumentError` where the text is no condition; ``examples``: its hint."""
    found = _CONDITION.fullmatch(text)
    if found is None:
        raise ArgumentError(
            f"expected a metric, one of < <= > >= and a limit, found {text!r}", hint=examples
        )
    limit, unit = float(found["limit"]), found["unit"]
    is_ratio = unit == "x"
    if is_ratio and not limit:
        raise ArgumentError(f"expected a ratio above 0, found {text!r}", hint=examples)
    metric = _metric(found, text)
    if unit and not is_ratio:
        times = _UNITS.get(metric.unit, {})
        if unit not in times:
            expected = f"one of {' '.join(times)}" if times else "none"
            raise ArgumentError(
                f"expected a unit of {metric.name} ({expected}), found {unit!r} in {text!r}",
                hint=examples,
            )
        limit *= times[unit]
    return Condition(" ".join(text.split()), metric, found["sign"], limit, is_ratio)


def _metric(match: re.Match[str], text: str) -> Metric:
    """By its name; where the limit has a unit or is a ratio, also by its name without one."""
    name, unit = match["metric"], match["unit"]
    base, bracket, transaction = name.replace(".", "_", 1).partition("[")
    if base in catalogue.COMPARED:
        return catalogue.metric(name)
    if _OF_LATENCY.fullmatch(base):
        base = f"latency_{base}"
    full = next((one.name for one in catalogue.COMPARED.values() if one.stem == base), None)
    if full is None:
        return catalogue.metric(name)
    metric = catalogue.metric(full + bracket + transaction)
    if not unit:
        usual = _usual_unit(metric)
        written = " ".join(text.split())
        raise ArgumentError(
            f"expected a limit with its unit ({usual or metric.unit}), found {match['limit']!r} "
            f"in {text!r}",
            hint=f"'{written}{usual}'" if usual else f"{written.replace(name, metric.name)!r}",
        )
    return metric


def _usual_unit(metric: Metric) -> str:
    """The one that a person writes; empty: a limit has none, and the metric's name has it."""
    if metric.unit == "ns":
        return "ms" if metric.stem.startswith("latency_") else "s"
    return next(iter(_UNITS.get(metric.unit, ())), "")
