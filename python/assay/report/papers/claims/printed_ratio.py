"""Takes a ratio as a paper printed it; returns the range of all ratios that are printed so.

``60.58`` is from 60.575 to 60.585; ``60.58…`` was cut, not rounded: from 60.58 to 60.59; ``3 to
5.6`` is from the least to the greatest; ``0.073 / 0.016`` is of two printed values, each of which
was rounded.
"""

from __future__ import annotations

import math
import re
from decimal import Decimal

from msgspec import Struct

from assay.judge.statistics.order import ConfidenceInterval
from assay.text import units

_NUMBER = re.compile(r"[0-9]+(?:\.[0-9]+)?…?")
_CUT = "…"
_UP_TO, _DIVIDED_BY = " to ", " / "
_MOST_APART = 2.0
"""By this factor an interval may reach beyond the printed ratio, and still confirm it."""
EXPECTED = '"2.5", "3 to 5.6" or "0.073 / 0.016", with the digits that are printed'


class PrintedRatio(Struct, frozen=True):
    shown: str
    """As reports have it: of two printed values three digits of their ratio."""
    low: float
    high: float
    value: float | None
    """None: it is a range."""
    is_of_values: bool = False
    """It is not printed itself, but computed from two printed values."""

    def holds(self, measured: ConfidenceInterval) -> bool:
        """Whether the measured interval has a ratio that would be printed so."""
        if measured.low is None or measured.high is None:
            return False
        return measured.low <= self.high and measured.high >= self.low

    def is_precise_in(self, measured: ConfidenceInterval) -> bool:
        """Whether the interval is narrow enough to confirm this ratio: it reaches no
        further than half of the way from the ratio to 1, and not beyond twice or half of it."""
        if measured.low is None or measured.high is None:
            return False
        nearest = min(abs(math.log(self.low)), abs(math.log(self.high)))
        apart = min(_MOST_APART, math.exp(nearest / 2))
        return measured.low >= self.low / apart and measured.high <= self.high * apart


def read(text: str) -> PrintedRatio:
    """Raises `ValueError` with what is wrong."""
    if _DIVIDED_BY in text:
        (above, below) = map(_range, text.split(_DIVIDED_BY, 1))
        low, high = above[0] / below[1], above[1] / below[0]
        value = _value(text.split(_DIVIDED_BY)[0]) / _value(text.split(_DIVIDED_BY)[1])
        return PrintedRatio(units.digits(value, 3), low, high, value, is_of_values=True)
    if _UP_TO in text:
        first, last = text.split(_UP_TO, 1)
        low, high = _range(first)[0], _range(last)[1]
        if low >= high:
            raise ValueError(f"expected the smaller ratio first, found {text!r}")
        return PrintedRatio(text, low, high, None)
    return PrintedRatio(text.removesuffix(_CUT), *_range(text), _value(text))


def of_number(number: float) -> PrintedRatio:
    """With as many digits as distinguish it."""
    return read(f"{number:.10g}")


def of_table(speed_up: float) -> PrintedRatio:
    """A speed-up of a table, which has two decimals there; some papers round and some cut."""
    low = max(speed_up - 0.01, speed_up / 2)
    return PrintedRatio(f"{speed_up:.2f}", low, speed_up + 0.01, speed_up)


def _value(text: str) -> float:
    return float(text.removesuffix(_CUT))


def _range(text: str) -> tuple[float, float]:
    """Of all numbers that are printed so."""
    if not _NUMBER.fullmatch(text) or not _value(text):
        raise ValueError(f"expected {EXPECTED}, found {text!r}")
    printed = Decimal(text.removesuffix(_CUT))
    unit = Decimal(1).scaleb(int(printed.as_tuple().exponent))
    if text.endswith(_CUT):
        return float(printed), float(printed + unit)
    return float(printed - unit / 2), float(printed + unit / 2)
