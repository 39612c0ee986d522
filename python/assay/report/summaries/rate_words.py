"""Takes the summaries of cells; returns in words which offered rates were kept, and which rates
were reached where they were not."""

from __future__ import annotations

from collections.abc import Sequence

from assay.comparison.ratios import offered_rates
from assay.judge.evidence.offered_rate import OfferedAndReached
from assay.plan import cell_names
from assay.plan.cell_names import OFFERED_RATE
from assay.report.summaries.cell_summary import CellSummary
from assay.text import units

TITLE = "offered rate"
_MOST_PLACES = 4


def said(summaries: Sequence[CellSummary]) -> str:
    """``500/s kept: yes (499.7/s reached)``; of several cells ``SYSTEM: kept up to 1000/s, not at
    2000/s (1230/s reached); OTHER: …``. Empty without an open loop."""
    by_place: dict[str, list[OfferedAndReached]] = {}
    factors = _varying(summaries)
    has_tests = len({cell.test for cell in summaries}) > 1
    for cell in summaries:
        if cell.offered_rate is None:
            continue
        levels = [
            cell_names.level_name(name, cell.levels[name])
            for name in factors
            if name in cell.levels
        ]
        place = ", ".join([cell.test, *levels] if has_tests else levels)
        by_place.setdefault(place, []).append(cell.offered_rate)
    every = [rate for rates in by_place.values() for rate in rates]
    if len(by_place) < 2 or all(rate.is_kept for rate in every):
        return offered_rates.said(every)
    shown = [
        f"{place}: {offered_rates.said(rates)}"
        for place, rates in [*by_place.items()][:_MOST_PLACES]
    ]
    if left_out := len(by_place) - len(shown):
        shown.append(f"and {units.counted(left_out, 'more cell')}")
    return "; ".join(shown)


def _varying(summaries: Sequence[CellSummary]) -> list[str]:
    """The factors, apart from the offered rate, that do."""
    names = dict.fromkeys(name for cell in summaries for name in cell.levels)
    return [
        name
        for name in names
        if name != OFFERED_RATE and len({cell.levels.get(name) for cell in summaries}) > 1
    ]
