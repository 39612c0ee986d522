"""Takes the runs of cells on two sides; gives ratios with verdicts, or why none may be decided."""

from __future__ import annotations

import itertools
import math
import statistics
from collections.abc import Iterable, Sequence
from itertools import pairwise

from msgspec import Struct
from msgspec.structs import replace

from assay.comparison.sides import Compared, ComparedCell, Direction, PlacedRun
from assay.contracts.metric import ReportColumn
from assay.judge import evidence, machine_load, service_levels, warning_kinds
from assay.judge.run import WORDS, CellKey, Run, RunVerdict
from assay.judge.service_levels import OfferedAndReached
from assay.judge.statistics.estimate import (
    SIGNIFICANCE,
    Estimate,
    independent,
    paired,
    why_no_ratio,
)
from assay.judge.statistics.samples import NOT_REACHED, UNREACHED
from assay.plan import cell_names
from assay.record.metrics.clients import THROUGHPUT
from assay.text import units


def compared(
    metric: ReportColumn, a: Sequence[Run], b: Sequence[Run], pairs: Pairs | None
) -> Compared:
    """``pairs``: those of the runs, where they were interleaved."""
    a_values, b_values = _values(metric, a), _values(metric, b)
    return Compared(metric, a_values, b_values, _estimate(metric, a_values, b_values, pairs))


def _estimate(
    metric: ReportColumn, a: Sequence[float], b: Sequence[float], pairs: Pairs | None
) -> Estimate | None:
    """Of pairs, where two or more have a value on both sides."""
    if not a or not b or min(*a, *b) <= 0 or max(*a, *b) == UNREACHED:
        return None
    if pairs is not None and metric.measured_once is None:
        both = [(metric.result(left), metric.result(right)) for left, right in pairs]
        whole = [(left, right) for left, right in both if left and right]
        if len(whole) > 1:
            lefts, rights = zip(*whole, strict=True)
            return paired(lefts, rights, metric.least_deviation)
    return independent(a, b, metric.least_deviation)


def _values(metric: ReportColumn, runs: Sequence[Run]) -> tuple[float, ...]:
    """Of each run; of those that share a measurement once."""
    found = []
    seen = set()
    for run in runs:
        value = metric.result(run)
        if value is None:
            continue
        if metric.measured_once is not None:
            shared = metric.measured_once(run)
            if shared in seen:
                continue
            seen.add(shared)
        found.append(float(value))
    return tuple(found)


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
        is_open = (compared.estimate.p_value or 0.0) > SIGNIFICANCE
        reason = (is_open and cell.few_pairs) or cell.not_decided
        return replace(compared, direction=Direction.NONE, verdict=f"{NOT_DECIDED}: {reason}")
    if adjusted is None:
        return replace(compared, verdict=_without_interval(compared))
    adjusted_p, count = adjusted
    if adjusted_p > SIGNIFICANCE:
        differs_alone = (compared.estimate.p_value or 0.0) <= SIGNIFICANCE
        verdict = NO_DIFFERENCE
        if cell.few_pairs and not differs_alone:
            verdict = f"{NOT_DECIDED}: {cell.few_pairs}"
        elif differs_alone or compared.repetitions < LEAST_REPETITIONS:
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


Pairs = list[tuple[Run, Run]]
_FEW = 4
"""So many pairs may begin with the same side by chance."""


def interleaved_pairs(a: Sequence[PlacedRun], b: Sequence[PlacedRun]) -> Pairs | None:
    """The pairs, of equal places and repetitions; of a repetition that was measured again, the last
    run of each side. None where they overlap in time, as those of two experiments that ran one
    after the other do, or where there are fewer than two."""
    ours, theirs = ({(place, run.of_repetition): run for place, run in side} for side in (a, b))
    found = [(run, theirs[key]) for key, run in ours.items() if key in theirs]
    spans = []
    for left, right in found:
        begun = [left.begun_unix_ns, right.begun_unix_ns]
        ended = [left.ended_unix_ns, right.ended_unix_ns]
        known = [one for one in (*begun, *ended) if one is not None]
        if len(known) < 4:
            return None
        spans.append((min(known), max(known)))
    spans.sort()
    if len(found) < 2 or any(one[1] > other[0] for one, other in pairwise(spans)):
        return None
    return found


def always_first(pairs: Pairs) -> bool:
    """Whether the same side ran first in each of several pairs."""
    first = {(left.begun_unix_ns or 0) < (right.begun_unix_ns or 0) for left, right in pairs}
    return len(pairs) > _FEW and len(first) == 1


def holm(p_values: Sequence[float]) -> list[float]:
    """For the probability of even one false call among all (S. Holm, Scandinavian Journal of
    Statistics 6, 1979)."""
    adjusted = [0.0] * len(p_values)
    highest = 0.0
    for place, index in enumerate(sorted(range(len(p_values)), key=p_values.__getitem__)):
        highest = max(highest, (len(p_values) - place) * p_values[index])
        adjusted[index] = min(1.0, highest)
    return adjusted


def benjamini_hochberg(p_values: Sequence[float]) -> list[float]:
    """For the expected share of false calls among those made (Y. Benjamini and Y. Hochberg, Journal
    of the Royal Statistical Society B 57, 1995)."""
    adjusted = [0.0] * len(p_values)
    lowest = 1.0
    order = sorted(range(len(p_values)), key=p_values.__getitem__)
    for place in reversed(range(len(order))):
        lowest = min(lowest, len(order) / (place + 1) * p_values[order[place]])
        adjusted[order[place]] = lowest
    return adjusted


LEAST_LEVELS = 3
"""Of two, their ratio says it all."""

Level = tuple[int, Sequence[Run]]
"""A number of clients, and its repetitions."""


class Knee(Struct, frozen=True):
    clients: int | None
    """From which on the throughput no longer rises; None: it still rises at ``most``."""
    most: int
    """The largest number of clients."""
    runs: frozenset[int]
    """Numbers of the runs of the whole curve."""

    @property
    def words(self) -> str:
        """``no longer rises from 8 clients on``."""
        if self.clients is None:
            return f"still rises at {units.counted(self.most, 'client')}"
        return f"no longer rises from {units.counted(self.clients, 'client')} on"

    @property
    def place(self) -> str:
        """``at 8 clients``."""
        if self.clients is None:
            return f"none up to {units.counted(self.most, 'client')}"
        return f"at {units.counted(self.clients, 'client')}"


def knee(curve: Sequence[Level]) -> Knee | None:
    """None where the repetitions do not decide it, or there are fewer than `LEAST_LEVELS` levels.

    Every two levels are compared as by `assay compare`: the ratio of the geometric means of
    their repetitions, with Student's t interval of 98 % of the mean log-ratio of interleaved
    repetitions, else Welch's. The throughput rises from one level to a larger one if its p-value,
    adjusted for all pairs of the curve by Holm's method, is 2 % at most: so the chance that a curve
    has a single false rise is 2 %. The knee is the least level from which the throughput rises to
    no larger one.

    That no rise was seen is no proof of a plateau. So the knee is decided only if the interval of
    the ratio of each larger level to it ends below the square root of the ratio of their clients:
    halfway between no rise and a rise in proportion.
    """
    levels = sorted(curve, key=lambda level: level[0])
    if len(levels) < LEAST_LEVELS:
        return None
    pairs = list(itertools.combinations(range(len(levels)), 2))
    found = (_rise_estimate(levels[first], levels[second]) for first, second in pairs)
    estimates = [one for one in found if one is not None]
    p_values = [one.p_value for one in estimates if one.p_value is not None]
    if len(p_values) < len(pairs):
        return None
    by_pair = dict(zip(pairs, zip(estimates, holm(p_values), strict=True), strict=True))
    for place, (clients, _) in enumerate(levels):
        larger = [(levels[of[1]][0], *seen) for of, seen in by_pair.items() if of[0] == place]
        if any(_is_rise(estimate, adjusted_p) for _, estimate, adjusted_p in larger):
            continue
        if not all(_is_flat(estimate, most / clients) for most, estimate, _ in larger):
            return None
        runs = frozenset(run.id for _, of_level in levels for run in of_level)
        return Knee(clients if larger else None, levels[-1][0], runs)
    raise AssertionError("from the largest level the throughput rises to no larger one")


def _rise_estimate(smaller: Level, larger: Level) -> Estimate | None:
    """Of the ratio of the larger one to the smaller one."""
    a, b = smaller[1], larger[1]
    matched = interleaved_pairs([(0, run) for run in a], [(0, run) for run in b])
    return compared(THROUGHPUT, a, b, matched).estimate


def _is_rise(estimate: Estimate, adjusted_p: float) -> bool:
    return estimate.log_ratio > 0 and adjusted_p <= SIGNIFICANCE


def _is_flat(estimate: Estimate, times_clients: float) -> bool:
    interval = estimate.interval()
    return interval is not None and interval[1] < math.sqrt(times_clients)


_MOST_OF_OTHERS = 0.9
"""Beyond this share of the processors a bound says nothing."""
SEQUENTIAL = 'measured one after the other, not interleaved (order = "interleaved")'


def why_undecided(runs: Iterable[Run]) -> str:
    """Of cells of one experiment: that their repetitions differ, or that they were disturbed."""
    runs = list(runs)
    return why_changed(runs) or why_disturbed(runs)


def why_disturbed(runs: Iterable[Run]) -> str:
    """``other programs used 23 % of the processors``; empty where no warning forbids deciding."""
    disturbed = [
        (machine_load.other_programs(run) or 0.0, warning.detail.rpartition(": ")[2])
        for run in runs
        for warning in run.warnings
        if warning.name in warning_kinds.undeciding()
    ]
    if not disturbed:
        return ""
    _, worst = max(disturbed, key=lambda pair: pair[0])
    return worst + (f" in the worst of {len(disturbed)} such runs" if len(disturbed) > 1 else "")


def factor_of_others(a: Sequence[Run], b: Sequence[Run]) -> float | None:
    """The greatest factor between two cells that other programs can explain; None: not bounded, as
    they took nearly all processors, or as something else forbids deciding, too. With a share *s* of
    the processors used by others, a run did at least 1 - *s* of what it could; the square of that
    allows as much again for waiting behind them. A cell is compared by the geometric mean of its
    runs, and so is the factor of those that were disturbed."""
    names = {warning.name for run in (*a, *b) for warning in run.warnings}
    if names & warning_kinds.undeciding() != {warning_kinds.WarningKind.OTHER_PROGRAMS.id}:
        return None
    factors = [_mean_factor(side) for side in (a, b)]
    known = [one for one in factors if one is not None]
    return max(known) if len(known) == len(factors) and max(known) > 1 else None


def _mean_factor(runs: Sequence[Run]) -> float | None:
    """Of one side."""
    shares = [
        machine_load.other_programs(run) or 0.0
        if any(one.name == warning_kinds.WarningKind.OTHER_PROGRAMS.id for one in run.warnings)
        else 0.0
        for run in runs
    ]
    if not shares or max(shares) > _MOST_OF_OTHERS:
        return None
    return statistics.geometric_mean([(1 - share) ** -2 for share in shares])


def why_changed(runs: Iterable[Run]) -> str:
    """``repetitions differ: version 15.18 in runs 1-2, 18.6 in run 3``; empty where all repetitions
    of each cell found the same."""
    of_cells: dict[CellKey, list[Run]] = {}
    for run in runs:
        if run.is_measured:
            of_cells.setdefault(run.cell_key, []).append(run)
    changed = filter(None, map(evidence.unasked_changes, of_cells.values()))
    return next((f"repetitions differ: {what}" for what in changed), "")


def one_after_the_other(a: Sequence[Run], b: Sequence[Run]) -> bool:
    """Whether all runs of one cell ended before the first of the other began, on one machine: what
    changes on a machine changes nothing on another. Of a cell that was run once, nothing is decided
    anyway."""
    if not {run.machine_name for run in a} & {run.machine_name for run in b}:
        return False
    spans = [_span(runs) for runs in (a, b)]
    if min(len(a), len(b)) < 2 or None in spans:
        return False
    (first_begun, first_ended), (other_begun, other_ended) = filter(None, spans)
    return first_ended <= other_begun or other_ended <= first_begun


def _span(runs: Sequence[Run]) -> tuple[int, int] | None:
    """From the first begin to the last end; None where one of them is not known."""
    times = [(run.begun_unix_ns, run.ended_unix_ns) for run in runs]
    begun = [one for one, _ in times if one is not None]
    ended = [one for _, one in times if one is not None]
    if not times or len(begun) < len(times) or len(ended) < len(times):
        return None
    return min(begun), max(ended)


def worst_word(words: Iterable[str]) -> RunVerdict:
    """``valid`` of none."""
    found = set(words)
    return next((word for word in reversed(WORDS) if word in found), WORDS[0])


def reasons_of(runs: Iterable[Run]) -> list[str]:
    """Each once."""
    return list(dict.fromkeys(reason.text for run in runs for reason in run.judged.reasons))


def rate_of_runs(runs: Iterable[Run]) -> OfferedAndReached | None:
    """Of the repetitions of a cell that were measured; None in a closed loop."""
    found = [
        rate
        for run in runs
        if run.driven is not None
        and (rate := service_levels.offered_and_reached(run.driving, run.driven)) is not None
    ]
    if not found:
        return None
    reached_per_s = statistics.median(rate.reached_per_s for rate in found)
    return OfferedAndReached(
        found[0].offered_per_s, reached_per_s, all(rate.is_kept for rate in found)
    )


def rates_said(rates: Sequence[OfferedAndReached]) -> str:
    """``500/s kept: yes (499.7/s reached)``; of several rates ``kept up to 1000/s, not at 2000/s
    (1230/s reached)``, ``kept up to 1000/s, goal missed at 2000/s``. Empty: there are none."""
    if not rates:
        return ""
    if len(rates) == 1:
        answer = "yes" if rates[0].is_kept else "no"
        said = f"goal {rates[0].goal}" if rates[0].goal else f"kept: {answer}"
        return f"{_offered(rates[0])} {said} ({_reached(rates[0])})"
    in_order = sorted(rates)
    missed = next((place for place, rate in enumerate(in_order) if not rate.is_kept), None)
    if missed is None:
        return f"every rate kept, up to {_offered(in_order[-1])}"
    first = in_order[missed]
    kept = f"kept up to {_offered(in_order[missed - 1])}, " if missed else ""
    if first.goal:
        return f"{kept}goal {first.goal} at {_offered(first)}"
    return f"{kept}not {'at ' if missed else 'kept at '}{_offered(first)} ({_reached(first)})"


def rates_of_sides(a: Sequence[Run], b: Sequence[Run]) -> str:
    """``offered rate kept: A yes, B no (410/s of 500/s)``; empty where a side has none."""
    rates = {"A": rate_of_runs(a), "B": rate_of_runs(b)}
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
