"""Takes a claim about how a value grows with a factor, and the cells that differ in it; judges it
on the range that was run, by the paper's own values in that range."""

from __future__ import annotations

from assay.judge.statistics import order
from assay.judge.statistics.order import ConfidenceInterval
from assay.report.declared import aggregates, selection
from assay.report.papers.claims import cell_ratio, published_growth
from assay.report.papers.claims.claim_case import ClaimCase, JudgedClaim
from assay.report.papers.claims.claims import GrowthBound
from assay.report.papers.claims.judgement import ClaimVerdict, shown_interval
from assay.report.papers.claims.published_growth import PublishedCurve
from assay.text import units

_LEAST_SIZES = 3


def judged(case: ClaimCase) -> JudgedClaim:
    """Sizes that the paper's values do not reach over are left out: of these it says nothing."""
    claim, key = case.claim, case.keys[0]
    curve = published_growth.curve(case.experiment.workload, claim, key, case.cells[0])
    sizes, values = [], []
    for cell in case.cells:
        size = selection.level_of(cell, claim.growth)
        if isinstance(size, int | float) and size > 0 and (curve is None or curve.has(size)):
            positive = [value for value in aggregates.values(cell, key) if value > 0]
            sizes += [float(size)] * len(positive)
            values += positive
    different = len(set(sizes))
    if different < _LEAST_SIZES:
        within = _range(curve.sizes[0], curve.sizes[-1]) if curve else ""
        measured = units.counted(different, "size")
        return case.not_comparable(f"{measured} measured{within}, expected {_LEAST_SIZES} at least")
    beside = [curve.value(size) for size in sizes] if curve else None
    found = order.growth(sizes, values, beside)
    expected = _expected(case, curve, sizes)
    of_sizes = f"{claim.growth}{_range(min(sizes), max(sizes))}"
    published = f"{claim.growth_bound} exponent {expected:.2f}"
    if curve:
        published += f", of the printed values{_range(min(sizes), max(sizes))}"
    word, why = _word(case, found, expected), ""
    if why_undecided := cell_ratio.why_undecided(case.cells, case.keys):
        word, why = ClaimVerdict.NOT_DECIDED, why_undecided
    return case.judged(
        word,
        why,
        remark=case.modelled if not why else "",
        published=published.removeprefix(f"{GrowthBound.ABOUT} "),
        measured=f"{shown_interval(found, 'exponent ')}, {of_sizes}",
        number=found,
        expected=expected,
    )


def _expected(case: ClaimCase, curve: PublishedCurve | None, sizes: list[float]) -> float:
    if curve is None:
        return case.claim.exponent or 0.0
    different = sorted(set(sizes))
    return order.growth(different, [curve.value(size) for size in different]).value


def _word(case: ClaimCase, interval: ConfidenceInterval, expected: float) -> ClaimVerdict:
    """A growth that the paper has is not half of it or less, however much it may differ."""
    bound, tolerance = case.claim.growth_bound, case.claim.tolerance
    least = expected - tolerance
    if bound is GrowthBound.AT_LEAST and expected > 0:
        least = max(least, expected / 2)
    most = expected + tolerance
    if bound is not GrowthBound.AT_LEAST and interval.is_above(most):
        return ClaimVerdict.GROWS_FASTER
    if bound is not GrowthBound.AT_MOST and interval.is_below(least):
        return ClaimVerdict.GROWS_SLOWER
    is_enough = bound is GrowthBound.AT_MOST or interval.is_above(least)
    is_not_more = bound is GrowthBound.AT_LEAST or interval.is_below(most)
    return ClaimVerdict.SAME_GROWTH if is_enough and is_not_more else ClaimVerdict.NOT_DECIDED


def _range(least: float, most: float) -> str:
    return f" from {least:g} to {most:g}"
