"""Takes an axis and the values on it; returns its scale and its ticks, as Vega-Lite has them."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from typing import Any

from assay.report.figure import Axis, Scale

_MOST_TICKS = 8
_LEAST_SPAN = 10.0
"""Of a logarithmic axis of values."""
_NUMBER = "datum.value >= 10000 ? format(datum.value, '~s') : format(datum.value, '~g')"
_SHARE = "datum.value == 1 ? '0 %' : format(100 - 100 / datum.value, '.6~f') + ' %'"


def position(
    alt: Any,
    axis: Axis,
    values: Sequence[float],
    *,
    is_x: bool,
    is_bar: bool = False,
    base: float | None = None,
) -> dict[str, Any]:
    """Scale and axis, whose ticks on a logarithmic scale are round numbers or the levels."""
    found = sorted({*values, *([] if base is None else [base]), *(axis.span or ())})
    is_log = axis.scale is not Scale.LINEAR and found[0] > 0
    if is_log and (is_bar or not is_x):
        found = _a_decade(found)
    ticks = _ticks(found, is_percentile=axis.scale is Scale.PERCENTILES) if is_log else None
    low, high = found[0], found[-1]
    # Room for the numbers beside the bars that reach farthest to either side.
    beside = max(1.06, (high / low) ** 0.04) if is_log and (is_bar or not is_x) else 1.06
    room, room_left = (
        ((high / low) ** 0.16 * 1.1, (high / low) ** 0.3 * 1.1)
        if is_log and is_bar
        else (beside, beside)
    )
    shown = alt.Axis(
        title=axis.heading or None,
        labelExpr=_SHARE if axis.scale is Scale.PERCENTILES else _NUMBER,
        grid=True,
        **({"values": ticks} if ticks else {"tickCount": 5, "labelOverlap": True}),
        **({} if is_x else {"titleAngle": 0, "titleAlign": "left", "titleX": 0, "titleY": -12}),
    )
    if ticks:
        has_left = base is not None and low < base
        domain = [
            min(low / (room_left if has_left else beside), ticks[0]),
            max(high * room, ticks[-1]),
        ]
        return {"scale": alt.Scale(type="log", domain=domain, nice=False), "axis": shown}
    if is_x and not is_bar:
        if len(found) <= _MOST_TICKS and all(value == round(value) for value in found):
            shown.values = found  # whole numbers, such as clients, have none between them
        domain = [low, high if high > low else low + 1]
        return {"scale": alt.Scale(zero=False, nice=False, domain=domain), "axis": shown}
    domain = [min(0.0, low), high * (1.18 if is_bar else 1.02) or 1.0]
    return {"scale": alt.Scale(domain=domain, nice=not is_bar), "axis": shown}


def _a_decade(values: list[float]) -> list[float]:
    """With ends a factor of ten apart at least: a small difference must not fill the chart."""
    low, high = values[0], values[-1]
    if high / low >= _LEAST_SPAN:
        return values
    wider = math.sqrt(_LEAST_SPAN / (high / low))
    return [low / wider, *values, high * wider]


def _ticks(values: Sequence[float], *, is_percentile: bool) -> list[float]:
    """Values themselves where they are few; else powers of ten, and where these are too few, two
    and five times them."""
    low, high = values[0], values[-1]
    powers = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    if is_percentile:
        return [2.0, *(10.0**power for power in powers if 10 <= 10.0**power <= high)]
    if (
        len(values) <= _MOST_TICKS
        and all(later / sooner >= 1.5 for sooner, later in itertools.pairwise(values))
        and all(value == round(value) for value in values)
    ):
        return list(values)
    for steps in ((1,), (1, 3), (1, 2, 5), (1, 1.5, 2, 3, 5, 7)):
        found = [
            step * 10.0**power
            for power in powers
            for step in steps
            if low / 1.06 <= step * 10.0**power <= high * 1.06
        ]
        if len(found) >= 3:
            return found[:: 1 + len(found) // (_MOST_TICKS + 1)]
    ends = (low, high) if high > low * 1.1 else (high,)  # labels that stand apart
    return [float(f"{end:.3g}") for end in ends]
