"""Takes cells with their ratios; gives them with verdicts.

The false differences are limited to 2 %: over the primary metrics of all cells together (Holm's
method, which bounds the probability of a single one), and among the other metrics that are called
different (Benjamini and Hochberg's), those of transaction types by themselves. What differs alone,
and not among so many, is not decided.
"""

from __future__ import annotations

from collections.abc import Sequence

from msgspec.structs import replace

from assay.comparison.ratios.adjusting import benjamini_hochberg, holm
from assay.comparison.sides.values import Compared, ComparedCell, Direction
from assay.judge.statistics.estimate import SIGNIFICANCE, why_no_ratio
from assay.judge.statistics.samples import NOT_REACHED, UNREACHED
from assay.text import units

NO_DIFFERENCE = "no difference seen"
LEAST_REPETITIONS = 3
"""Of fewer, an interval of 98 % is so wide (31.8 standard errors) that a difference is hardly ever
seen: that none was seen says nothing."""
NOT_DECIDED = "not decided"
NOT_COMPARABLE = "not comparable"
"""A colon and the reason follow, as behind the one before."""


def with_verdicts(cells: Sequence[ComparedCell]) -> tuple[ComparedCell, ...]:
    """With p-values adjusted for their number, and verdicts."""
    main = [cell.primary for cell in cells if cell.is_decided(cell.primary)]
    rest = [one for cell in cells for one in cell.metrics[1:] if cell.is_decided(one)]
    whole = [one for one in rest if not one.metric.transaction]
    of_types = [one for one in rest if one.metric.transaction]
    adjusted: dict[int, tuple[float, int]] = {}
    families = ((main, holm), (whole, benjamini_hochberg), (of_types, benjamini_hochberg))
    for family, adjust in families:
        known = [one for one in family if one.estimate and one.estimate.p_value is not None]
        values = adjust([one.estimate.p_value or 0.0 for one in known if one.estimate])
        adjusted |= {id(one): (value, len(known)) for one, value in zip(known, values, strict=True)}
    return tuple(
        replace(
            cell,
            metrics=tuple(_with_verdict(cell, one, adjusted.get(id(one))) for one in cell.metrics),
        )
        for cell in cells
    )


def _with_verdict(
    cell: ComparedCell, compared: Compared, adjusted: tuple[float, int] | None
) -> Compared:
    """``adjusted``: its p-value, and for how many comparisons."""
    if cell.not_comparable:
        return replace(compared, verdict=f"{NOT_COMPARABLE}: {cell.not_comparable}")
    if compared.is_zero:
        return replace(compared, direction=Direction.NONE, verdict=NO_DIFFERENCE)
    if compared.estimate is None:
        return replace(compared, verdict=f"{NOT_COMPARABLE}: {_without_ratio(compared)}")
    if not cell.is_decided(compared):
        return replace(
            compared, direction=Direction.NONE, verdict=f"{NOT_DECIDED}: {cell.not_decided}"
        )
    if adjusted is None:
        return replace(compared, verdict=_without_interval(compared))
    adjusted_p, count = adjusted
    if adjusted_p > SIGNIFICANCE:
        differs_alone = (compared.estimate.p_value or 0.0) <= SIGNIFICANCE
        verdict = NO_DIFFERENCE
        if differs_alone or compared.repetitions < LEAST_REPETITIONS:
            verdict = _not_decided(compared, count if differs_alone else 1)
        return replace(compared, adjusted_p=adjusted_p, direction=Direction.NONE, verdict=verdict)
    is_better = (compared.estimate.log_ratio > 0) == compared.metric.is_more_better
    return replace(
        compared,
        adjusted_p=adjusted_p,
        direction=Direction.BETTER if is_better else Direction.WORSE,
        verdict=compared.metric.word(compared.estimate.ratio),
    )


def _not_decided(compared: Compared, count: int) -> str:
    repetitions = units.counted(compared.repetitions, "repetition")
    of_many = f" for {count} comparisons" if count > 1 else ""
    return f"{NOT_DECIDED}: {repetitions} are too few{of_many}"


def _without_ratio(compared: Compared) -> str:
    for name, value in (("A", compared.a), ("B", compared.b)):
        if value is None:
            return f"{name} has no {compared.metric.name}"
    sides = (("A", compared.a_values), ("B", compared.b_values))
    if above := [name for name, values in sides if UNREACHED in values]:
        return f"{compared.metric.name} {NOT_REACHED} on {' and '.join(above)}"
    found = ((name, why_no_ratio(values, compared.metric.unit)) for name, values in sides)
    return next(f"{name} {why}" for name, why in found if why)


def _without_interval(compared: Compared) -> str:
    few = [
        name
        for name, values in (("A", compared.a_values), ("B", compared.b_values))
        if len(values) == 1
    ]
    return "one run each: no interval" if len(few) == 2 else f"one run of {few[0]}: no interval"
