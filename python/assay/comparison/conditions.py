"""Takes the text of a condition (``throughput_per_s < 0.95x``, ``p99 < 5ms``) and a comparison;
gives the cells that meet it, and those on which it cannot be judged."""

from __future__ import annotations

import math
import operator
import re
from collections.abc import Mapping, Sequence
from enum import Enum
from functools import partial

from msgspec import Struct
from msgspec.structs import replace

from assay.comparison.sides import Compared, ComparedCell, Comparison
from assay.contracts.metric import ReportColumn
from assay.errors import ArgumentError
from assay.judge.statistics.samples import NOT_REACHED, UNREACHED, half_width_of_mean
from assay.judge.warning_kinds import ENOUGH_REPETITIONS
from assay.record.metrics import catalogue
from assay.text import units
from assay.text.quantities import NS_PER

_CONDITION = re.compile(
    r"\s*(?P<metric>[A-Za-z]\w*(?:\.\d+)?(?:\[[^\[\]]+\])?)\s*(?P<sign><=|>=|<|>)\s*"
    r"(?P<limit>\d{1,30}(?:\.\d{0,30})?(?:[eE][+-]?\d{1,2})?)\s*(?P<unit>x|[a-zµμ]*|%|/s|/min)\s*"
)
_SIGNS = {"<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge}
_UNITS: Mapping[str, Mapping[str, float]] = {
    "ns": NS_PER,
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
    text: str
    metric: ReportColumn
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


def _metric(match: re.Match[str], text: str) -> ReportColumn:
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


def _usual_unit(metric: ReportColumn) -> str:
    """The one that a person writes; empty: a limit has none, and the metric's name has it."""
    if metric.unit == "ns":
        return "ms" if metric.stem.startswith("latency_") else "s"
    return next(iter(_UNITS.get(metric.unit, ())), "")


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
    """There is no ratio, or the runs forbid a verdict (`assay.comparison.ratios`)."""


_OPEN = (ConditionAnswer.NOT_DECIDED, ConditionAnswer.UNKNOWN)
_OF_ALL = ", by all runs, with what other programs can explain allowed for"


class ConditionResult(Struct, frozen=True):
    condition: Condition
    cell: str
    answer: ConditionAnswer
    reason: str
    """What was found, as text; or why it is not known."""
    value: float | None = None
    """The ratio, or the value of B."""


def judge_conditions(
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


def _of_metric(metric: ReportColumn, cell: ComparedCell) -> Compared | None:
    return next((one for one in cell.metrics if one.metric.name == metric.name), None)


def _types(metric: ReportColumn, cell: ComparedCell) -> str:
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
    return answer(
        ConditionAnswer.NOT_DECIDED, f"{shown}; {_too_few(condition, cell, compared)}", ratio
    )


def _too_few(condition: Condition, cell: ComparedCell, compared: Compared) -> str:
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
    known = [half_width_of_mean(values) for values in (compared.a_values, compared.b_values)]
    reached = [one for one in known if one is not None]
    if len(reached) == len(known) and max(reached) <= share:
        return (
            f"the ratio lies at your limit: both sides are known to {units.share(max(reached))}, "
            "so that further repetitions hardly decide it; choose another limit"
        )
    if compared is cell.primary:
        few += f"; repeat both to a precision of {units.percent(float(f'{share:.1g}'))}"
    return few


def _number(value: float, metric: ReportColumn) -> str:
    if value == UNREACHED:
        return NOT_REACHED
    if metric.unit == "count" or abs(value) >= 1000 or value == int(value):
        return units.mean_count(value)
    return units.digits(value)
