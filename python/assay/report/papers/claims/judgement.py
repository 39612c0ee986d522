"""What is said of a claim or a published speed-up, and why.

A printed ratio is judged by its size: it is confirmed where our interval holds it and is narrow
enough. Where 1 is on the right side of our interval, and no more, its
direction alone is confirmed.
"""

from __future__ import annotations

from enum import StrEnum

from msgspec import Struct

from assay.judge.statistics.order import ConfidenceInterval
from assay.report.papers.claims import printed_ratio
from assay.report.papers.claims.printed_ratio import PrintedRatio
from assay.text import units

ONE_REPETITION = "one repetition"
ALIKE = "repetitions alike"
"""In the place of an interval that has no width in the digits that are shown."""
WITHIN = 1.25
"""The factor by which equal values may differ, unless a claim has its own."""


class ClaimVerdict(StrEnum):
    SAME_ORDER = "same order"
    """The repetitions separate the cells, as in these other orders; nothing is printed of how far
    they are apart."""
    SAME_RATIO = "same ratio"
    """The repetitions separate the cells, and confirm the printed ratio."""
    SAME_DIRECTION = "same direction"
    """The repetitions separate the cells, but do not confirm the printed ratio."""
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
    DIRECTION_CONFIRMED = "direction confirmed"
    """The order is the paper's, but the measurement does not confirm the printed ratio."""
    CONTRADICTED = "contradicted"
    OPEN = "open"


_OUTCOMES = {
    ClaimVerdict.SAME_DIRECTION: Outcome.DIRECTION_CONFIRMED,
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


class Judgement(Struct, frozen=True, kw_only=True):
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


def of_size(measured: ConfidenceInterval, printed: PrintedRatio) -> tuple[ClaimVerdict, str]:
    """Of an interval on the same side of 1 as the printed ratio: whether it confirms it, and
    why not."""
    why = f"{shown_interval(measured)}, printed {printed.shown}"
    if not printed.holds(measured):
        return ClaimVerdict.SAME_DIRECTION, why
    if not printed.is_precise_in(measured):
        return ClaimVerdict.SAME_DIRECTION, f"{why}: the interval is too wide to confirm that"
    return ClaimVerdict.SAME_RATIO, ""


def of_speed_up(measured: ConfidenceInterval, published: float, remark: str = "") -> Judgement:
    """Whether the published speed-up is on the same side of 1, and as large; of 1, which claims no
    order, whether they are about equal."""
    if published == 1:
        return of_equal(measured, remark=remark)
    if measured.why_undecided:
        return undecided(measured, remark)
    if not measured.is_known:
        why = ONE_REPETITION
        return Judgement(word=ClaimVerdict.NO_ORDER, why=why, remark=remark, number=measured)
    if not (measured.is_above(1) or measured.is_below(1)):
        return Judgement(word=ClaimVerdict.NO_ORDER, remark=remark, number=measured)
    word, why = ClaimVerdict.REVERSED, ""
    if measured.is_above(1) == (published > 1):
        word, why = of_size(measured, printed_ratio.of_table(published))
    return Judgement(word=word, why=why, remark=remark, number=measured)


def shown_interval(interval: ConfidenceInterval, before: str = "") -> str:
    """``x 2.43 (2.31 to 2.55)``, where ``before`` is ``x``."""
    middle = f"{before}{units.digits(interval.value, 3)}"
    if interval.low is None or interval.high is None:
        return middle
    low, high = units.digits(interval.low, 3), units.digits(interval.high, 3)
    return f"{middle} ({ALIKE})" if low == high else f"{middle} ({low} to {high})"
