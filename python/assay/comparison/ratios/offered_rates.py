"""Takes the runs of cells in an open loop; gives in words which offered rates were kept, and which
rates were reached where they were not.

Of a cell, its rate was kept if it was in every repetition; the rate that was reached is the median.
"""

from __future__ import annotations

import statistics
from collections.abc import Iterable, Sequence

from assay.judge.evidence import offered_rate
from assay.judge.evidence.offered_rate import OfferedAndReached
from assay.judge.run import Run
from assay.plan import cell_names
from assay.text import units


def of_runs(runs: Iterable[Run]) -> OfferedAndReached | None:
    """Of the repetitions of a cell that were measured; None in a closed loop."""
    found = [
        rate
        for run in runs
        if run.driven is not None
        and (rate := offered_rate.of_run(run.driving, run.driven)) is not None
    ]
    if not found:
        return None
    reached_per_s = statistics.median(rate.reached_per_s for rate in found)
    return OfferedAndReached(
        found[0].offered_per_s, reached_per_s, all(rate.is_kept for rate in found)
    )


def said(rates: Sequence[OfferedAndReached]) -> str:
    """``500/s kept: yes (499.7/s reached)``; of several rates ``kept up to 1000/s, not at 2000/s
    (1230/s reached)``. Empty: there are none."""
    if not rates:
        return ""
    if len(rates) == 1:
        answer = "yes" if rates[0].is_kept else "no"
        why = "; the goal was missed" if rates[0].misses_goal else ""
        return f"{_offered(rates[0])} kept: {answer} ({_reached(rates[0])}{why})"
    in_order = sorted(rates)
    missed = next((place for place, rate in enumerate(in_order) if not rate.is_kept), None)
    if missed is None:
        return f"every rate kept, up to {_offered(in_order[-1])}"
    first = in_order[missed]
    kept = f"kept up to {_offered(in_order[missed - 1])}, " if missed else ""
    why = "the goal was missed" if first.misses_goal else _reached(first)
    return f"{kept}not {'at ' if missed else 'kept at '}{_offered(first)} ({why})"


def of_sides(a: Sequence[Run], b: Sequence[Run]) -> str:
    """``offered rate kept: A yes, B no (410/s of 500/s)``; empty where a side has none."""
    rates = {"A": of_runs(a), "B": of_runs(b)}
    words = [
        f"{side} yes"
        if rate.is_kept
        else f"{side} no ({units.digits(rate.reached_per_s)}/s of {_offered(rate)})"
        for side, rate in rates.items()
        if rate is not None
    ]
    if len(words) < len(rates):
        return ""
    is_kept = all(rate is not None and rate.is_kept for rate in rates.values())
    return f"offered rate kept: {'yes, on both sides' if is_kept else ', '.join(words)}"


def _offered(rate: OfferedAndReached) -> str:
    return f"{cell_names.level_text(rate.offered_per_s)}/s"


def _reached(rate: OfferedAndReached) -> str:
    return f"{units.digits(rate.reached_per_s)}/s reached"
