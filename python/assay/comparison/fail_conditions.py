"""Takes conditions (`assay.comparison.conditions`) and a comparison; gives the cells that meet
each, and those on which it cannot be judged.

With ``x`` the limit is a ratio to A. Such a condition is met where the whole interval of the ratio
is beyond the limit, not met where none of it is, and else not decided: so few or so noisy
repetitions do not show what is asked. The interval is that of the cell
alone, not adjusted for the number of cells: the limit should leave a margin (0.95x), which already
protects equal sides, and an adjusted interval of a few repetitions would be too wide to show even a
fivefold loss. With one run on a side there is no interval, and the answer is not known. Without
``x`` the limit is a value of B. A percentile that is not reached, because transactions of an open
loop had no answer, is above every limit.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from enum import Enum
from functools import partial

from msgspec import Struct
from msgspec.structs import replace

from assay.comparison.conditions import Condition
from assay.comparison.sides.values import Compared, ComparedCell, Comparison
from assay.contracts.metric import Metric
from assay.judge.precision import half_width
from assay.judge.statistics.samples import NOT_REACHED, UNREACHED
from assay.judge.warnings.kinds import ENOUGH_REPETITIONS
from assay.text import units

_NEAR_ONE = 5
_FAR = 10
"""Times the limit."""
_DETECTABLE_OF_PRECISION = 2.3
"""A difference that is found with a probability of 80 % is about so many times the half width of
the 95 % interval of the mean of either side, which is what ``--precision`` asks for."""
_LEAST_PRECISION, _MOST_PRECISION = 0.002, 0.2


class ConditionAnswer(Enum):
    """Of a condition, on one cell."""

    MET = "met"
    NOT_MET = "not met"
    NOT_DECIDED = "not decided"
    """The interval of the ratio reaches over the limit: there are too few repetitions."""
    UNKNOWN = "not known"
    """There is no ratio, or the runs forbid a verdict (`assay.comparison.ratios.undecided`)."""


_OPEN = (ConditionAnswer.NOT_DECIDED, ConditionAnswer.UNKNOWN)
_OF_ALL = ", by all runs, with what other programs can explain allowed for"


class ConditionResult(Struct, frozen=True):
    """A condition on one cell."""

    condition: Condition
    cell: str
    answer: ConditionAnswer
    reason: str
    """What was found, as text; or why it is not known."""
    value: float | None = None
    """The ratio, or the value of B."""


def judge(
    comparison: Comparison, conditions: Sequence[Condition], *, despite: Sequence[str] = ()
) -> list[ConditionResult]:
    """Every condition once on every cell of A: also on those that B has lost."""
    conditions = list(
        {(one.metric.name, one.sign, one.limit, one.is_ratio): one for one in conditions}.values()
    )
    lost = [one for one in comparison.unequal if one.side == "A"]
    foreign = "" if "machine" in despite else _foreign(comparison)
    found = []
    for one in conditions:
        found += [_judged(one, cell, foreign) for cell in comparison.cells]
        found += [
            ConditionResult(one, cell.name, ConditionAnswer.UNKNOWN, "B has no such cell", None)
            for cell in lost
        ]
    return found


def may_mean_ratio(condition: Condition, judged: Sequence[ConditionResult]) -> bool:
    """Whether the limit is near 1 and each value of B is far from it: an ``x`` may be missing."""
    if condition.is_ratio or condition.metric.unit == "count":
        return False
    found = [one.value for one in judged if one.condition == condition and one.value is not None]
    is_near_one = 1 / _NEAR_ONE <= condition.limit <= _NEAR_ONE
    return is_near_one and bool(found) and all(one > _FAR * condition.limit for one in found)


def _foreign(comparison: Comparison) -> str:
    """Why ratios say nothing of B alone; empty: both were measured on one machine."""
    if comparison.is_other_machine:
        return "A and B were measured on machines that differ (--despite machine)"
    if comparison.unknown_of_machines:
        facts = ", ".join(comparison.unknown_of_machines)
        return f"the same machine is not known: no {facts} in the record (--despite machine)"
    return ""


def _judged(condition: Condition, cell: ComparedCell, foreign: str) -> ConditionResult:
    answer = partial(ConditionResult, condition, cell.name)
    if not condition.is_ratio:
        return _of_value(condition, cell)
    one = _of_metric(condition.metric, cell)
    if cell.not_comparable:
        return answer(ConditionAnswer.UNKNOWN, cell.not_comparable)
    if one is None:
        lacking = f"neither side has {condition.metric.name}{_types(condition.metric, cell)}"
        return answer(ConditionAnswer.UNKNOWN, lacking)
    if one.is_zero:
        return answer(ConditionAnswer.NOT_MET, f"{condition.metric.name} is 0 on both sides")
    if foreign:
        return answer(ConditionAnswer.UNKNOWN, foreign)
    found = _of_ratio(condition, cell, one)
    if found.answer not in _OPEN or cell.of_all_runs is None:
        return found
    of_all = _judged(condition, cell.of_all_runs, foreign)
    return found if of_all.answer in _OPEN else replace(of_all, reason=f"{of_all.reason}{_OF_ALL}")


def _of_metric(metric: Metric, cell: ComparedCell) -> Compared | None:
    return next((one for one in cell.metrics if one.metric.name == metric.name), None)


def _types(metric: Metric, cell: ComparedCell) -> str:
    """Those that there are, where the metric is of another."""
    known = dict.fromkeys(one.metric.transaction for one in cell.metrics if one.metric.transaction)
    if not metric.transaction or metric.transaction in known:
        return ""
    return f" (transaction types: {', '.join(known) or 'only one'})"


def _of_value(condition: Condition, cell: ComparedCell) -> ConditionResult:
    """Of B's own value, whatever A's is. One that does not count meets a condition, but does not
    show that none is met."""
    answer, name = partial(ConditionResult, condition, cell.name), condition.metric.name
    one = _of_metric(condition.metric, cell)
    value = one.b if one else None
    if value is None:
        is_count = condition.metric.unit == "count"
        lacking = f"{name} of B was not counted" if is_count else f"B has no {name}"
        reason = cell.b_does_not_count or lacking + _types(condition.metric, cell)
        return answer(ConditionAnswer.UNKNOWN, reason)
    shown = f"{name} of B is {_number(value, condition.metric)}"
    is_met = condition.is_met_by(value)
    value = None if value == UNREACHED else value
    if is_met:
        return answer(ConditionAnswer.MET, shown, value)
    if cell.b_does_not_count:
        reason = f"{shown}, but {cell.b_does_not_count}"
        return answer(ConditionAnswer.UNKNOWN, reason, value)
    return answer(ConditionAnswer.NOT_MET, shown, value)


def _of_ratio(condition: Condition, cell: ComparedCell, compared: Compared) -> ConditionResult:
    answer = partial(ConditionResult, condition, cell.name)
    if compared.estimate is None:
        if compared.is_reached_by_a_alone:
            shown = f"{compared.metric.name} is {NOT_REACHED} on B"
            if cell.not_decided:
                return answer(ConditionAnswer.UNKNOWN, f"{shown}; {cell.not_decided}")
            return answer(
                ConditionAnswer.MET if condition.is_met_by(UNREACHED) else ConditionAnswer.NOT_MET,
                shown,
            )
        return answer(ConditionAnswer.UNKNOWN, compared.reason)
    ratio = compared.estimate.ratio
    shown = f"{compared.metric.name} is {units.digits(ratio)}x"
    interval = compared.estimate.interval()
    if interval is None:
        again = f"run {ENOUGH_REPETITIONS} repetitions"
        why = f"one repetition says nothing about noise; {again}"
        return answer(ConditionAnswer.UNKNOWN, f"{shown}; {why}", ratio)
    bounds = " to ".join(map(units.digits, interval))
    shown += " (interval unbounded)" if compared.estimate.is_unbounded() else f" ({bounds})"
    possible = cell.interval(compared)
    met = [condition.is_met_by(bound) for bound in possible or ()]
    if cell.not_decided and compared.metric.depends_on_machine and len(set(met)) != 1:
        return answer(ConditionAnswer.UNKNOWN, f"{shown}; {cell.not_decided}", ratio)
    if not any(met):
        return answer(ConditionAnswer.NOT_MET, shown, ratio)
    if all(met):
        return answer(ConditionAnswer.MET, shown, ratio)
    return answer(ConditionAnswer.NOT_DECIDED, f"{shown}; {_too_few(condition, compared)}", ratio)


def _too_few(condition: Condition, compared: Compared) -> str:
    """What the repetitions show, and how many would show what is asked."""
    few = (
        f"{compared.repetitions} repetitions do not decide it: the interval reaches over the limit"
    )
    least = compared.estimate.detectable_difference if compared.estimate else None
    if least is not None and math.isfinite(least):
        few += f", and they show differences from {units.share(least)} on"
    share = abs(math.log(condition.limit)) / _DETECTABLE_OF_PRECISION
    if share < _LEAST_PRECISION:
        return few
    share = min(share, _MOST_PRECISION)
    known = [half_width(values) for values in (compared.a_values, compared.b_values)]
    reached = [one for one in known if one is not None]
    if len(reached) == len(known) and max(reached) <= share:
        return (
            f"the ratio lies at your limit: both sides are known to {units.share(max(reached))}, "
            "so that further repetitions hardly decide it; choose another limit"
        )
    if compared.is_primary:
        few += f"; repeat both to a precision of {100 * share:.1g} %"
    return few


def _number(value: float, metric: Metric) -> str:
    if value == UNREACHED:
        return NOT_REACHED
    if metric.unit == "count" or abs(value) >= 1000 or value == int(value):
        return units.mean_count(value)
    return units.digits(value)
