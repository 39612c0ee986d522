"""Takes values, ratios and intervals of a comparison; gives their cells, as people read them."""

from __future__ import annotations

from assay.contracts.metric import Metric
from assay.judge.statistics.estimate import Estimate
from assay.judge.statistics.samples import NOT_REACHED, UNREACHED
from assay.report.values import Number, ReportCell, absent, text
from assay.text import units

_AS_FACTOR = 1.0
"""From this difference on a share misleads: nothing falls by 226 %."""


def value_cell(value: float, metric: Metric) -> ReportCell:
    if value == UNREACHED:
        return absent(NOT_REACHED)
    if metric.unit == "ns":
        shown = units.latency(value)
    elif metric.unit == "bytes":
        shown = units.size(value)
    elif metric.unit == "count":
        shown = units.mean_count(value)
    else:
        shown = units.digits(value)
    return ReportCell(shown, Number(value, metric.unit))


def ratio_text(value: float) -> str:
    """Three places near 1, where they count."""
    return f"{value:.3f}" if 0.1 <= value < 10 else units.digits(value, 3)


def ratio_cell(estimate: Estimate | None) -> ReportCell:
    if estimate is None:
        return absent("none")
    return ReportCell(ratio_text(estimate.ratio), Number(estimate.ratio, "ratio"))


def interval_cell(estimate: Estimate | None, repetitions: int) -> ReportCell:
    """``repetitions``: of the side that has fewer."""
    interval = estimate.interval() if estimate else None
    if estimate is None or interval is None:
        return absent("none")
    if estimate.is_unbounded():
        few = "two repetitions are too few for an interval"
        return absent("unbounded", few if repetitions <= 2 else "the repetitions differ too much")
    return text(" to ".join(map(ratio_text, interval)))


def detectable_cell(estimate: Estimate | None) -> ReportCell:
    least = estimate.detectable_difference if estimate else None
    if estimate is None or least is None:
        return absent("none")
    if estimate.is_unbounded():
        return absent("unbounded")
    return text(
        f"factor {units.digits(1 + least, 3)}" if is_factor(least) else units.percent(least)
    )


def is_factor(detectable_difference: float) -> bool:
    """Whether it is shown as the factor between both sides."""
    return detectable_difference >= _AS_FACTOR
