"""Takes the trials of a goal search; gives between which two the highest lies that meets the goal,
whether that is decided, which levels are left to try, and all of it in words.

The search assumes that the metric grows with the level, so that whatever is above a level that
missed the goal misses it too. Trials that contradict that leave nothing decided, as do trials at
the two ends that other programs disturbed. Rates whose runs differ lie between the two ends.
"""

from __future__ import annotations

import math
from collections.abc import Iterable

from msgspec import Struct

from assay.comparison.conditions import Condition
from assay.comparison.goals import BELOW, Trial, TrialAnswer, shown
from assay.judge.statistics.samples import UNREACHED
from assay.text import units
from assay.text.cut import cut
from assay.text.reasons import sentence

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
        """``other programs used 73 % of the CPUs at 7.02/s``; empty: nothing forbids an answer."""
        if self.contradiction is not None:
            low, high = self.contradiction
            return (
                f"the {self.condition.metric.label} does not grow with the "
                f"{low.over or 'offered rate'}, as the search assumes: "
                f"{self._said(low)}, but {self._said(high)}"
            )
        if (disturbed := self._disturbed) is not None:
            used = units.percent(disturbed.most_others)
            return f"other programs used {used} of the CPUs at {disturbed.shown}"
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
            why = cut(sentence(failed.reason), _MOST_OF_A_REASON)
            return f"not known: the run at {failed.shown} was not measured ({why})"
        if not self.trials:
            return "not known: none was tried"
        said = []
        if failed is not None:
            why = cut(sentence(failed.reason), _MOST_OF_A_REASON)
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
        return "" if trial.value is None else shown(self.condition, trial.value)

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


def search(condition: Condition, trials: Iterable[Trial]) -> SearchSoFar:
    return SearchSoFar(condition, tuple(sorted(trials, key=lambda trial: trial.level)))
