"""Takes the runs of a goal search, each at an offered rate or with a level of a parameter; gives
what each showed, and what all at one level show together: the *trial*.

A run met the goal if it kept its rate, was measured steadily, and met the condition. One that was
not steady is no evidence that the rate can be had, so the search goes on below it, and says so. One
with too few transactions for the percentile is no evidence either, unless a lower percentile is
beyond the limit already; lower rates have still fewer, so the search goes on above it.

A rate met the goal if each of its runs did, and missed it if none did; where they differ, neither.
Where a parameter is searched, such as the size of the data, the run in the middle decides. Runs
that other programs disturbed count only where no other run has the same level.
"""

from __future__ import annotations

from collections.abc import Sequence
from enum import Enum

from msgspec import Struct
from msgspec.structs import replace

from assay.comparison import conditions, excess
from assay.comparison.conditions import Condition
from assay.errors import ArgumentError
from assay.judge.evidence import offered_rate
from assay.judge.run import EXCEEDED, Run
from assay.judge.statistics.samples import NOT_REACHED, UNREACHED
from assay.judge.warnings import machine_load, steadiness
from assay.judge.warnings.kinds import OTHERS_LIMIT, WarningKind
from assay.record.metrics import catalogue
from assay.text import rates, units
from assay.text.mentions import phrase

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
    return together([of_run(run, condition, over) for run in runs], condition)


def together(runs: Sequence[Trial], condition: Condition) -> Trial:
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


def of_run(run: Run, condition: Condition, over: str = "") -> Trial:
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
    kept = offered_rate.of_run(run.driving, run.driven)
    if kept is not None and not kept.is_kept:
        reached = f"the rate was not reached ({units.digits(kept.reached_per_s)}/s)"
        return answer(TrialAnswer.NOT_MET, reached, value, is_reached=False)
    if not run.is_measured:
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


def _others(run: Run, condition: Condition, answer: TrialAnswer, value: float | None) -> float:
    """The share of the CPUs that other programs used, where it leaves open whether the goal is met.
    What says how fast the work was done is met in any case where it was met beside them, and is
    missed where it was missed by more than they can explain (as in
    `assay.comparison.ratios.undecided`)."""
    share = machine_load.other_programs(run) or 0.0
    if share <= OTHERS_LIMIT or answer is TrialAnswer.FAILED:
        return 0.0
    if not condition.metric.depends_on_machine:
        return 0.0
    if condition.metric.is_speed:
        if answer is TrialAnswer.MET:
            return 0.0
        known = excess.TIMES * condition.limit if value == UNREACHED else value
        factor = (1 - share) ** 2
        if known and not condition.is_met_by(
            known * (factor if condition.is_upper else 1 / factor)
        ):
            return 0.0
    return share


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
