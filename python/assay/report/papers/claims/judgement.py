"""What is said of a claim or a published speed-up, and why."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from assay.judge.statistics.order import ConfidenceInterval

ONE_REPETITION = "one repetition"
WITHIN = 1.25
"""The factor by which equal values may differ, unless a claim has its own."""


class ClaimVerdict(StrEnum):
    SAME_ORDER = "same order"
    """The repetitions separate the cells, as in these other orders."""
    REVERSED = "reversed"
    PARTLY_REVERSED = "partly reversed"
    NO_ORDER = "no order seen"
    """The repetitions do not separate the cells."""
    ABOUT_EQUAL = "about equal"
    DIFFERENT = "different"
    SAME_GROWTH = "same growth"
    GROWS_FASTER = "grows faster"
    GROWS_SLOWER = "grows slower"
    HOLDS = "holds"
    DOES_NOT_HOLD = "does not hold"
    NOT_DECIDED = "not decided"
    """The interval reaches over the limit, or nothing may be decided from these runs."""
    NOT_COMPARABLE = "not comparable"
    """Something was not measured, is invalid, or is of another durability."""


class Outcome(StrEnum):
    """What a judgement means for the claim."""

    CONFIRMED = "confirmed"
    CONTRADICTED = "contradicted"
    OPEN = "open"


_OUTCOMES = {
    ClaimVerdict.REVERSED: Outcome.CONTRADICTED,
    ClaimVerdict.PARTLY_REVERSED: Outcome.CONTRADICTED,
    ClaimVerdict.DIFFERENT: Outcome.CONTRADICTED,
    ClaimVerdict.GROWS_FASTER: Outcome.CONTRADICTED,
    ClaimVerdict.GROWS_SLOWER: Outcome.CONTRADICTED,
    ClaimVerdict.DOES_NOT_HOLD: Outcome.CONTRADICTED,
    ClaimVerdict.NO_ORDER: Outcome.OPEN,
    ClaimVerdict.NOT_DECIDED: Outcome.OPEN,
    ClaimVerdict.NOT_COMPARABLE: Outcome.OPEN,
}
_REASONS = {
    ClaimVerdict.NO_ORDER: "the repetitions do not separate the cells",
    ClaimVerdict.NOT_DECIDED: "the interval reaches over the limit",
}


@dataclass(frozen=True, kw_only=True)
class Judgement:
    word: ClaimVerdict
    why: str = ""
    """The reason of it; empty: none is needed."""
    remark: str = ""
    """What it was measured on, where that is not the thing itself; it is no reason."""
    number: ConfidenceInterval | None = None
    """The ratio or the exponent that was measured."""

    @property
    def outcome(self) -> Outcome:
        return _OUTCOMES.get(self.word, Outcome.CONFIRMED)

    @property
    def reason(self) -> str:
        """Of what is contradicted or open; empty where a confirmed claim needs none."""
        if self.why or self.outcome is Outcome.CONFIRMED:
            return self.why
        return _REASONS.get(self.word, str(self.word))

    @property
    def sentence(self) -> str:
        """``open: one storage only``, ``contradicted: reversed``, ``confirmed (on a modelled
        storage)``."""
        said = f"{self.outcome}: {self.reason}" if self.reason else str(self.outcome)
        return f"{said} ({self.remark})" if self.remark else said


def not_comparable(why: str) -> Judgement:
    return Judgement(word=ClaimVerdict.NOT_COMPARABLE, why=why)


def undecided(measured: ConfidenceInterval, remark: str = "") -> Judgement:
    """By what its runs forbid."""
    why = measured.why_undecided
    return Judgement(word=ClaimVerdict.NOT_DECIDED, why=why, remark=remark, number=measured)


def of_equal(measured: ConfidenceInterval, within: float = WITHIN, remark: str = "") -> Judgement:
    """Whether the ratio is nearer to 1 than this factor."""
    if measured.why_undecided:
        return undecided(measured, remark)
    word = ClaimVerdict.NOT_DECIDED
    if measured.is_above(within) or measured.is_below(1 / within):
        word = ClaimVerdict.DIFFERENT
    elif measured.is_above(1 / within) and measured.is_below(within):
        word = ClaimVerdict.ABOUT_EQUAL
    why = "" if measured.is_known else ONE_REPETITION
    return Judgement(word=word, why=why, remark=remark, number=measured)


def of_times(
    measured: ConfidenceInterval, least: float | None, most: float | None, remark: str = ""
) -> Judgement:
    """Whether the ratio is as large as this at least, and as this at most; None: it has no such
    bound."""
    if measured.why_undecided:
        return undecided(measured, remark)
    word, why = ClaimVerdict.NOT_DECIDED, "" if measured.is_known else ONE_REPETITION
    if least is not None and measured.is_below(least):
        word, why = ClaimVerdict.DOES_NOT_HOLD, f"less than x {least:g}"
    elif most is not None and measured.is_above(most):
        word, why = ClaimVerdict.DOES_NOT_HOLD, f"more than x {most:g}"
    elif (least is None or measured.reaches(least)) and (most is None or measured.keeps_to(most)):
        word = ClaimVerdict.HOLDS
    return Judgement(word=word, why=why, remark=remark, number=measured)


def of_speed_up(measured: ConfidenceInterval, published: float, remark: str = "") -> Judgement:
    """Whether the published speed-up is on the same side of 1; of 1, which claims no order, whether
    they are about equal."""
    if published == 1:
        return of_equal(measured, remark=remark)
    if measured.why_undecided:
        return undecided(measured, remark)
    if not measured.is_known:
        why = ONE_REPETITION
        return Judgement(word=ClaimVerdict.NO_ORDER, why=why, remark=remark, number=measured)
    if not (measured.is_above(1) or measured.is_below(1)):
        return Judgement(word=ClaimVerdict.NO_ORDER, remark=remark, number=measured)
    is_same = measured.is_above(1) == (published > 1)
    word = ClaimVerdict.SAME_ORDER if is_same else ClaimVerdict.REVERSED
    return Judgement(word=word, remark=remark, number=measured)
