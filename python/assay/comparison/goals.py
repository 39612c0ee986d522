"""Takes the runs of a goal search, each at an offered rate or with a level of a parameter; gives
what each showed, between which the highest lies that meets the goal, and the ones left to try.

A rate is tried by a *trial*: all repetitions of a cell in the open loop. It met the goal if each of
them kept its rate, was measured steadily, and met the condition. A trial that was not steady is no
evidence that the rate can be had, so the search goes on below it, and says so. One with too few
transactions for the percentile is no evidence either, unless a lower percentile is beyond the limit
already; lower rates have still fewer, so the search goes on above it. Where a parameter is
searched, such as the size of the data, the repetition in the middle decides: one that other
programs disturbed would send the search the wrong way for good.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from enum import Enum

from assay.comparison import conditions
from assay.comparison.conditions import Condition
from assay.errors import ArgumentError
from assay.judge.ended_run import MeasuredRun
from assay.judge.evidence import offered_rate
from assay.judge.evidence.values import EXCEEDED
from assay.judge.statistics.samples import NOT_REACHED, UNREACHED
from assay.judge.warnings import steadiness
from assay.judge.warnings.kinds import WarningKind
from assay.record.metrics import catalogue
from assay.text import rates, units
from assay.text.cut import cut
from assay.text.mentions import phrase
from assay.text.reasons import sentence

_MOST_OF_A_REASON = 200
"""Columns; the run itself has all of it."""
_EXAMPLES = "'p99 < 5ms', 'latency_p95[payment] <= 20ms'"


class TrialAnswer(Enum):
    """Of a trial, from the one that decides most."""

    FAILED = "not measured"
    NOT_MET = "not met"
    NOT_STEADY = "not judged"
    TOO_FEW = "too few transactions"
    MET = "met"


_BELOW = (TrialAnswer.NOT_MET, TrialAnswer.NOT_STEADY)
"""Behind these the search goes on at lower rates."""


@dataclass(frozen=True)
class Trial:
    level: float
    """The offered rate per second, or the value of the parameter."""
    answer: TrialAnswer
    reason: str
    """Why it did not meet the goal; empty: it did."""
    value: float | None
    """Of the metric; `UNREACHED`: of a run that was ended, since it was far beyond the limit. None:
    there is none."""
    runs: tuple[int, ...]
    over: str = ""
    """The parameter; empty: the offered rate."""

    @property
    def shown(self) -> str:
        if self.over:
            return f"{self.over} {self.level:.15g}"
        return f"{rates.shown(self.level)}/s"


def goal(text: str) -> Condition:
    """Raises `ArgumentError` where the text is no condition that one run can meet."""
    try:
        found = conditions.condition(text, _EXAMPLES)
    except ArgumentError as error:
        raise ArgumentError(phrase("{--goal}: {}", error.message), hint=error.hint) from error
    if found.is_ratio:
        raise ArgumentError(
            phrase("{--goal}: expected a limit, found the ratio of {!r}", text), hint=_EXAMPLES
        )
    metric, is_upper = found.metric, found.is_upper
    if is_upper == metric.is_more_better:
        wanted = "a lower limit, as more" if metric.is_more_better else "an upper limit, as less"
        expected = f"{wanted} {metric.label} is better"
    elif is_upper and not found.limit:
        expected = "a limit above 0"
    else:
        return found
    raise ArgumentError(phrase("{--goal}: expected {}, found {!r}", expected, text), hint=_EXAMPLES)


def trial(runs: Sequence[MeasuredRun], condition: Condition, over: str = "") -> Trial:
    """``runs``: the repetitions at one level that have ended; at least one."""
    return together([of_run(run, condition, over) for run in runs], condition)


def together(repetitions: Sequence[Trial], condition: Condition) -> Trial:
    """Of those at one level the one that decides most; where a parameter is searched, and all were
    measured, the one in the middle, of two the worse."""
    worse = 1.0 if condition.is_upper else -1.0

    def goodness(trial: Trial) -> tuple[int, float]:
        return [*TrialAnswer].index(trial.answer), -worse * (trial.value or 0.0)

    ordered = sorted(repetitions, key=goodness)
    is_whole = ordered[0].answer is not TrialAnswer.FAILED
    return ordered[(len(ordered) - 1) // 2 if ordered[0].over and is_whole else 0]


def of_run(run: MeasuredRun, condition: Condition, over: str = "") -> Trial:
    """What one repetition showed. ``over``: the parameter that is searched; empty: the rate."""
    found = run.parameters[over] if over else run.driving and run.driving.offered_rate_per_s
    level = float(found or 0.0)

    def answer(word: TrialAnswer, reason: str = "", value: float | None = None) -> Trial:
        return Trial(level, word, reason, value, (run.id,), over)

    if run.state == EXCEEDED:
        return answer(TrialAnswer.NOT_MET, run.reason, UNREACHED)
    if run.driven is None or run.driving is None:
        return answer(TrialAnswer.FAILED, run.reason or run.state)
    value = condition.metric.value(run)
    kept = offered_rate.of_run(run.driving, run.driven)
    if kept is not None and not kept.is_kept:
        reached = f"the rate was not reached ({units.digits(kept.reached_per_s)}/s)"
        return answer(TrialAnswer.NOT_MET, reached, value)
    if not run.evidence.is_measured:
        return answer(TrialAnswer.FAILED, run.reason or run.state)
    if value is None:
        for lower in catalogue.lower_percentiles(condition.metric) if condition.is_upper else ():
            known = lower.value(run)
            if known is not None and not condition.is_met_by(known):
                already = f"already the {shown(replace(condition, metric=lower), known)}"
                return answer(TrialAnswer.NOT_MET, already)
        name = condition.metric.label
        return answer(TrialAnswer.TOO_FEW, f"too few transactions for the {name}; measure longer")
    if not condition.is_met_by(value):
        return answer(TrialAnswer.NOT_MET, shown(condition, value), value)
    if run.judged.word == "invalid":
        return answer(TrialAnswer.NOT_STEADY, run.judged.reason, value)
    if over:  # it ends by what there is to do: how much of it was steady is no question
        return answer(TrialAnswer.MET, "", value)
    drift = [one for one in run.warnings if one.name == WarningKind.DRIFT.id]
    why = steadiness.why_not_steady(run.warnings) or ("drift" if drift else "")
    if why:
        return answer(TrialAnswer.NOT_STEADY, f"not steady: {why}", value)
    return answer(TrialAnswer.MET, "", value)


def shown(condition: Condition, value: float) -> str:
    """``p99 latency 7.1 ms``."""
    metric = condition.metric
    if value == UNREACHED:
        said = NOT_REACHED
    elif metric.unit == "ns":
        said = units.latency(value)
    elif metric.unit in ("per_s", "per_min"):
        said = f"{units.digits(value)}/{metric.unit.removeprefix('per_')}"
    else:
        said = units.digits(value)
    return f"{metric.label} {said}"


@dataclass(frozen=True)
class SearchSoFar:
    """How far a search has come."""

    condition: Condition
    trials: tuple[Trial, ...]
    """By level."""

    @property
    def met(self) -> Trial | None:
        """The highest level that met the goal, below all that did not."""
        missed = self.missed
        met = [
            one
            for one in self.trials
            if one.answer is TrialAnswer.MET and (missed is None or one.level < missed.level)
        ]
        return met[-1] if met else None

    @property
    def missed(self) -> Trial | None:
        """The lowest level that did not, or could not be judged."""
        return next((one for one in self.trials if one.answer in _BELOW), None)

    @property
    def at_limit(self) -> float | None:
        """Where the metric would be at the limit, between the two, if it is a power of the
        level. It does not jump from one level that was tried to the next, as `met` does. None:
        there is no level on one of the sides, or the metric does not grow."""
        met, missed, limit = self.met, self.missed, self.condition.limit
        if met is None or missed is None or missed.answer is not TrialAnswer.NOT_MET:
            return None
        if not met.value or not missed.value or UNREACHED in (met.value, missed.value):
            return None
        if not met.level or not met.value <= limit <= missed.value or met.value == missed.value:
            return None
        share = math.log(limit / met.value) / math.log(missed.value / met.value)
        return met.level * math.pow(missed.level / met.level, share)

    @property
    def highest(self) -> float | None:
        """What was found: of a parameter the level at the limit, where it is known, else the
        highest that met the goal. None: none did."""
        met = self.met
        if met is None:
            return None
        return (self.at_limit if met.over else None) or met.level

    @property
    def failed(self) -> Trial | None:
        return next((one for one in self.trials if one.answer is TrialAnswer.FAILED), None)

    def left(self, levels: Iterable[float]) -> list[float]:
        """Those of these levels that are still of interest, by size."""
        if self.failed is not None:
            return []
        missed = self.missed
        below = missed.level if missed else UNREACHED
        above = max(
            (
                one.level
                for one in self.trials
                if one.answer in (TrialAnswer.MET, TrialAnswer.TOO_FEW) and one.level < below
            ),
            default=0.0,
        )
        return [level for level in sorted(levels) if above < level < below]

    @property
    def words(self) -> str:
        """``met up to 1620/s (p99 latency 4.1 ms), not at 1690/s (p99 latency 7.1 ms)``."""
        met, missed, failed = self.met, self.missed, self.failed
        few = [one for one in self.trials if one.answer is TrialAnswer.TOO_FEW]
        if failed is not None and not (met or missed):
            why = cut(sentence(failed.reason), _MOST_OF_A_REASON)
            return f"not known: the run at {failed.shown} was not measured ({why})"
        if not self.trials:
            return "not known: none was tried"
        said = []
        if failed is not None:
            why = cut(sentence(failed.reason), _MOST_OF_A_REASON)
            said.append(f"ended by the run at {failed.shown}, which was not measured ({why})")
        if met is not None:
            value = "" if met.value is None else f" ({shown(self.condition, met.value)})"
            said.append(f"met up to {met.shown}{value}")
        if missed is None and met is not None:
            said.append("the highest that was tried, so the limit is not known")
        elif missed is not None:
            how = "not at" if missed.answer is TrialAnswer.NOT_MET else "not judged at"
            if met is None and missed.answer is TrialAnswer.NOT_MET:
                how = "not met at" if few else "none met it, not even at"
            said.append(f"{how} {missed.shown} ({missed.reason})")
        if met is None and few:
            lowest = f"{few[0].shown} to " if len(few) > 1 else ""
            said.append(f"not judged at {lowest}{few[-1].shown} ({few[-1].reason})")
        return ", ".join(said)


def search(condition: Condition, trials: Iterable[Trial]) -> SearchSoFar:
    return SearchSoFar(condition, tuple(sorted(trials, key=lambda trial: trial.level)))
