"""Takes the runs of a goal search; gives what all at one rate or level show together (the *trial*),
between which two the highest lies that meets the goal, and when a run is too far beyond it."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from enum import Enum
from typing import NamedTuple

from msgspec import Struct
from msgspec.structs import replace

from assay.comparison import conditions
from assay.comparison.conditions import Condition
from assay.contracts.observation.costs import OTHERS_LIMIT
from assay.errors import ArgumentError
from assay.judge import machine_load, run_warnings, service_levels
from assay.judge.run import EXCEEDED, Run
from assay.judge.statistics.samples import NOT_REACHED, UNREACHED
from assay.judge.warning_kinds import WarningKind
from assay.record.metrics import catalogue
from assay.record.metrics.clients import ELAPSED
from assay.text import rates, units
from assay.text.phrases import phrase, reason_sentence
from assay.text.terminal import cut

_EXAMPLES = "'p99 < 5ms', 'latency_p95[payment] <= 20ms'"


class TrialAnswer(Enum):
    """Of a run, from the one that decides most; the last one of several."""

    FAILED = "not measured"
    NOT_MET = "not met"
    NOT_STEADY = "not judged"
    TOO_FEW = "too few transactions"
    MET = "met"
    DIFFERS = "met in some runs"


BELOW = (TrialAnswer.NOT_MET, TrialAnswer.NOT_STEADY)
"""Behind these the search goes on at lower rates."""


class Trial(Struct, frozen=True):
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
    is_reached: bool = True
    """Whether the offered rate was kept."""
    others: float = 0.0
    """The share of the CPUs that other programs used, where they leave open what it shows; of
    several runs the greatest, if all of them were disturbed. 0: it is decided."""
    counted: int = 1
    """Runs by which it is judged."""
    met_in: int = 0
    """Those of them that met the goal."""
    most_others: float = 0.0
    """The greatest such share, also where some of its runs were not disturbed."""
    few: str = ""
    """Where one of its runs had too few transactions: how many, and how many are needed."""

    @property
    def is_disturbed(self) -> bool:
        return self.others > 0

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


def trial(runs: Sequence[Run], condition: Condition, over: str = "") -> Trial:
    """``runs``: those at one level that have ended; at least one."""
    return joined_trial([trial_of_run(run, condition, over) for run in runs], condition)


def joined_trial(runs: Sequence[Trial], condition: Condition) -> Trial:
    """What the runs at one level show."""
    undisturbed = [one for one in runs if not one.is_disturbed]
    counted = undisturbed or runs
    met = sum(one.answer is TrialAnswer.MET for one in counted)
    disturbed = max(one.others for one in runs)
    return replace(
        _of_counted(counted, condition),
        runs=tuple(number for one in runs for number in one.runs),
        others=0.0 if undisturbed else disturbed,
        counted=len(counted),
        met_in=met,
        most_others=disturbed,
        few=next((one.few for one in runs if one.few), ""),
    )


def _of_counted(counted: Sequence[Trial], condition: Condition) -> Trial:
    """Of those at one rate the one that decides most, with the median of the values; of a parameter
    the one in the middle, of two the worse, if all were measured."""
    worse = 1.0 if condition.is_upper else -1.0

    def goodness(trial: Trial) -> tuple[int, float]:
        return [*TrialAnswer].index(trial.answer), -worse * (trial.value or 0.0)

    ordered = sorted(counted, key=goodness)
    first = ordered[0]
    if first.answer is TrialAnswer.FAILED:
        return first
    middle = ordered[(len(ordered) - 1) // 2]
    if first.over:
        return middle
    met = sum(one.answer is TrialAnswer.MET for one in counted)
    if met and any(one.answer in BELOW for one in counted):
        some = f"met in {met} of {len(counted)} runs"
        return replace(first, answer=TrialAnswer.DIFFERS, reason=f"{some}, else {first.reason}")
    if first.answer is middle.answer and middle.is_reached == first.is_reached:
        return middle
    return first


def trial_of_run(run: Run, condition: Condition, over: str = "") -> Trial:
    """What one repetition showed. ``over``: the parameter that is searched; empty: the rate."""
    found = run.parameters[over] if over else run.driving.offered_rate_per_s
    level = float(found or 0.0)

    def answer(
        word: TrialAnswer, reason: str = "", value: float | None = None, *, is_reached: bool = True
    ) -> Trial:
        others = _others(run, condition, word, value)
        met_in = int(word is TrialAnswer.MET)
        return Trial(
            level, word, reason, value, (run.id,), over, is_reached, others, 1, met_in, others
        )

    if run.state == EXCEEDED:
        return answer(TrialAnswer.NOT_MET, run.reason, UNREACHED)
    if run.driven is None:
        return answer(TrialAnswer.FAILED, run.reason or run.state)
    value = condition.metric.value(run)
    kept = service_levels.offered_and_reached(run.driving, run.driven)
    if kept is not None and not kept.is_kept:
        reached = f"the rate was not reached ({units.digits(kept.reached_per_s)}/s)"
        return answer(TrialAnswer.NOT_MET, reached, value, is_reached=False)
    if not run.is_measured:
        return answer(TrialAnswer.FAILED, run.reason or run.state)
    if value is None:
        for lower in catalogue.lower_percentiles(condition.metric) if condition.is_upper else ():
            known = lower.value(run)
            if known is not None and not condition.is_met_by(known):
                already = f"already the {shown_value(replace(condition, metric=lower), known)}"
                return answer(TrialAnswer.NOT_MET, already)
        few = _too_few(run, condition, 0.0 if over else level)
        return replace(answer(TrialAnswer.TOO_FEW, few), few=few)
    if not condition.is_met_by(value):
        return answer(TrialAnswer.NOT_MET, shown_value(condition, value), value)
    if run.judged.word == "invalid":
        return answer(TrialAnswer.NOT_STEADY, run.judged.reason, value)
    if over:  # it ends by what there is to do: how much of it was steady is no question
        return answer(TrialAnswer.MET, "", value)
    drift = [one for one in run.warnings if one.name == WarningKind.DRIFT.id]
    why = run_warnings.why_not_steady(run.warnings) or ("drift" if drift else "")
    if why:
        return answer(TrialAnswer.NOT_STEADY, f"not steady: {why}", value)
    return answer(TrialAnswer.MET, "", value)


def _too_few(run: Run, condition: Condition, rate_per_s: float) -> str:
    """``39 transactions; p99 latency needs at least 368: measure 19 s or longer``."""
    name, found = condition.metric.label, catalogue.too_few_for(condition.metric, run)
    if found is None:
        return f"too few transactions for the {name}: measure longer"
    count, needed = found
    long = f"{math.ceil(needed / rate_per_s)} s or longer" if rate_per_s else "longer"
    counted = units.counted(count, "transaction")
    return f"{counted}; {name} needs at least {needed}: measure {long}"


def _others(run: Run, condition: Condition, answer: TrialAnswer, value: float | None) -> float:
    """The share of the CPUs that other programs used, where it leaves open whether the goal is met.
    What says how fast the work was done is met in any case where it was met beside them, and is
    missed where it was missed by more than they can explain (as in
    `assay.comparison.ratios`)."""
    share = machine_load.other_programs(run) or 0.0
    if share <= OTHERS_LIMIT or answer is TrialAnswer.FAILED:
        return 0.0
    if not condition.metric.depends_on_machine:
        return 0.0
    if condition.metric.is_speed:
        if answer is TrialAnswer.MET:
            return 0.0
        known = TIMES_THE_LIMIT * condition.limit if value == UNREACHED else value
        factor = (1 - share) ** 2
        if known and not condition.is_met_by(
            known * (factor if condition.is_upper else 1 / factor)
        ):
            return 0.0
    return share


def shown_value(condition: Condition, value: float) -> str:
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


CONFIRMED = 6
"""So many runs at each end, all of one answer. Where the true limit lies beyond an end, each of
them gives the wrong answer with a probability of less than a half: of simulated searches with noise
of 1 to 12 %, 599 of 600 found an interval with the true limit; with five runs 594."""
CONFIRMED_OF_PARAMETER = 3
"""The same where the run in the middle decides; two that agree are enough."""
_FALLS = 1.5
"""Times the value at a higher level: one that is so much greater at a lower level contradicts that
it grows."""
_NEAR = 10
"""Times the limit: what is farther beyond it is an overload, whose times are those of its queue."""
_MOST_OF_A_REASON = 200
"""Columns; the run itself has all of it."""


class SearchSoFar(Struct, frozen=True):
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
        return next((one for one in self.trials if one.answer in BELOW), None)

    @property
    def between(self) -> list[Trial]:
        """Levels between these two, some of whose runs met the goal."""
        met, missed = self.met, self.missed
        above, below = met.level if met else 0.0, missed.level if missed else UNREACHED
        return [
            one
            for one in self.trials
            if one.answer is TrialAnswer.DIFFERS and above < one.level < below
        ]

    @property
    def contradiction(self) -> tuple[Trial, Trial] | None:
        """A lower level that missed the goal, and a higher one that met it, or that was better by
        far. Runs that other programs disturbed contradict nothing."""
        known = [one for one in self.trials if not one.is_disturbed]
        for place, low in enumerate(known):
            if low.answer is not TrialAnswer.NOT_MET or not low.is_reached:
                continue
            for high in known[place + 1 :]:
                if high.answer is TrialAnswer.MET or self._falls(low, high):
                    return low, high
        return None

    def _falls(self, low: Trial, high: Trial) -> bool:
        if not self.condition.is_upper or not high.is_reached or high.answer in _WITHOUT_VALUE:
            return False
        if low.value is None or high.value is None:
            return False
        is_near = high.value < _NEAR * self.condition.limit
        return is_near and low.value > _FALLS * high.value

    @property
    def ends(self) -> list[Trial]:
        """The trials that decide the answer."""
        return [*(self.contradiction or filter(None, (self.met, self.missed)))]

    @property
    def not_decided(self) -> str:
        """``other programs used 73 % of the CPUs at 7.02/s``; empty: nothing forbids an answer.
        With the highest rate that met it, if one did."""
        if self.contradiction is not None:
            low, high = self.contradiction
            return (
                f"the {self.condition.metric.label} does not grow with the "
                f"{low.over or 'offered rate'}, as the search assumes: "
                f"{self._said(low)}, but {self._said(high)}"
            )
        said, met, disturbed = [], self.met, self._disturbed
        if met is None and (self.missed is None or self.missed.is_disturbed):
            few = next((one for one in reversed(self.trials) if one.few), None)
            said += [f"at {few.shown} {few.few}"] if few else []
        if disturbed is not None:
            used = units.percent(disturbed.most_others)
            said.append(f"other programs used {used} of the CPUs at {disturbed.shown}")
            if met is not None and met is not disturbed:
                said.append(f"{met.shown} met it{_in_brackets(self._value(met), met)}")
        if said:
            return "; ".join(said)
        few = next((one for one in self.ends if one.counted < confirmed(one)), None)
        if few is not None and (differing := self.between):
            return (
                f"the runs at {', '.join(one.shown for one in differing)} differ, and at "
                f"{few.shown} there were only {units.counted(few.counted, 'run')}"
            )
        return ""

    @property
    def others(self) -> float | None:
        """The share of the CPUs that other programs used, where that leaves it open."""
        return None if self._disturbed is None else self._disturbed.most_others

    @property
    def _disturbed(self) -> Trial | None:
        """The end that they disturbed most."""
        ends = [one for one in self.ends if one.is_disturbed or _was_not_confirmed(one)]
        return max(ends, key=lambda end: end.most_others, default=None)

    @property
    def at_limit(self) -> float | None:
        """Where the metric would be at the limit, between the two, if it is a power of the
        level. It does not jump from one level that was tried to the next, as `met` does. None:
        there is no level on one of the sides, or the metric does not grow."""
        met, missed, limit = self.met, self.missed, self.condition.limit
        if met is None or missed is None or missed.answer is not TrialAnswer.NOT_MET:
            return None
        if self.not_decided:
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
        highest that met the goal. None: none did, or it is not decided."""
        met = self.met
        if met is None or self.not_decided:
            return None
        return (self.at_limit if met.over else None) or met.level

    @property
    def failed(self) -> Trial | None:
        return next((one for one in self.trials if one.answer is TrialAnswer.FAILED), None)

    def left(self, levels: Iterable[float]) -> list[float]:
        """Those of these levels that are still of interest, by size: between the ends, and where
        the runs of levels there differ, below and above all of these."""
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
        differing = [one.level for one in self.between if one.level > above]
        least, most = min(differing, default=below), max(differing, default=above)
        return [
            level
            for level in sorted(levels)
            if above < level < below and (level < least or level > most)
        ]

    @property
    def words(self) -> str:
        """``met up to 1620/s (p99 latency 4.1 ms, 5 runs), not at 1690/s (p99 latency 7.1 ms, 5
        runs)``; or ``not decided: …``."""
        met, missed, failed = self.met, self.missed, self.failed
        few = [one for one in self.trials if one.answer is TrialAnswer.TOO_FEW]
        if failed is not None and not (met or missed):
            why = cut(reason_sentence(failed.reason), _MOST_OF_A_REASON)
            return f"not known: the run at {failed.shown} was not measured ({why})"
        if not self.trials:
            return "not known: none was tried"
        said = []
        if failed is not None:
            why = cut(reason_sentence(failed.reason), _MOST_OF_A_REASON)
            said.append(f"ended by the run at {failed.shown}, which was not measured ({why})")
        if self.not_decided:
            said.append(f"not decided: {self.not_decided}")
        elif met is not None:
            said.append(f"met up to {met.shown}{_in_brackets(self._value(met), met)}")
        if self.not_decided:
            return ", ".join(said)
        differing = self.between
        if missed is not None:
            how = "not at" if missed.answer is TrialAnswer.NOT_MET else "not judged at"
            if met is None and missed.answer is TrialAnswer.NOT_MET:
                is_lowest = not few and not differing
                how = "none met it, not even at" if is_lowest else "not met at"
            said.append(f"{how} {missed.shown}{_in_brackets(missed.reason, missed)}")
        elif met is not None and not differing:
            said.append("the highest that was tried, so the limit is not known")
        if differing:
            at = ", ".join(one.shown for one in differing)
            said.append(f"in some runs at {at} ({differing[-1].reason})")
        if met is None and few:
            lowest = f"{few[0].shown} to " if len(few) > 1 else ""
            said.append(f"not judged at {lowest}{few[-1].shown} ({few[-1].reason})")
        return ", ".join(said)

    def _value(self, trial: Trial) -> str:
        return "" if trial.value is None else shown_value(self.condition, trial.value)

    def _said(self, trial: Trial) -> str:
        """``met at 60/s (p99 latency 3 ms)``."""
        is_met = trial.answer is TrialAnswer.MET
        return (
            f"{'met' if is_met else 'not met'} at {trial.shown}"
            f"{_in_brackets(self._value(trial) or trial.reason, trial)}"
        )


_WITHOUT_VALUE = (TrialAnswer.FAILED, TrialAnswer.TOO_FEW)


def confirmed(trial: Trial) -> int:
    """How many runs an end of the answer needs."""
    if not trial.over:
        return CONFIRMED
    if trial.value == UNREACHED:
        return 1  # other runs would have to take a third of its time
    agreeing = max(trial.met_in, trial.counted - trial.met_in)
    return trial.counted if agreeing >= (CONFIRMED_OF_PARAMETER + 1) / 2 else CONFIRMED_OF_PARAMETER


def _was_not_confirmed(trial: Trial) -> bool:
    """Whether it was to be measured again, and other programs disturbed that."""
    return trial.most_others > 0 and trial.counted < confirmed(trial)


def _in_brackets(text: str, trial: Trial) -> str:
    runs = units.counted(trial.counted, "run") if trial.counted > 1 else ""
    inside = ", ".join(filter(None, (text, runs)))
    return f" ({inside})" if inside else ""


def search_so_far(condition: Condition, trials: Iterable[Trial]) -> SearchSoFar:
    return SearchSoFar(condition, tuple(sorted(trials, key=lambda trial: trial.level)))


TIMES_THE_LIMIT = 3
"""So many times the limit."""


class Excess(NamedTuple):
    beyond_ns: float
    """The elapsed time."""
    reason: str
    """What is known of a run that was ended there."""


def excess_of_goal(goal: Condition) -> Excess | None:
    """None where the metric is none that can be seen to be too great before the run has ended."""
    if goal.metric.name != ELAPSED.name or not goal.is_upper:
        return None
    beyond_ns = TIMES_THE_LIMIT * goal.limit
    more = f"{goal.metric.label} more than {units.short_duration(beyond_ns / 1e9)}"
    return Excess(beyond_ns, f"{more}: ended, {TIMES_THE_LIMIT} times the limit")
