"""Takes ``[[claims]]`` of a workload's ``published.toml``; returns what the paper claims, as
data that can be judged; says what a judgement is, and which ratios are printed alike."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from decimal import Decimal
from enum import StrEnum
from pathlib import Path
from typing import Annotated

from msgspec import Struct, field

from assay.judge.run import ONE_REPETITION
from assay.judge.statistics.estimate import ConfidenceInterval
from assay.report.declared import published
from assay.report.declared.published import Levels, Quantity
from assay.text import units
from assay.text.keys import FLAG, TEXT, TEXTS, NumberWithin, OneOf, in_file, named
from assay.text.quantities import Real
from assay.text.toml_file import TomlTable
from assay.workload.workload_record import WorkloadRecord

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


def judgement_of_equal(
    measured: ConfidenceInterval, within: float = WITHIN, remark: str = ""
) -> Judgement:
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


def judgement_of_times(
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


def judgement_of_size(
    measured: ConfidenceInterval, printed: PrintedRatio
) -> tuple[ClaimVerdict, str]:
    """Of an interval on the same side of 1 as the printed ratio: whether it confirms it, and
    why not."""
    why = f"{shown_interval(measured)}, printed {printed.shown}"
    if not printed.holds(measured):
        return ClaimVerdict.SAME_DIRECTION, why
    if not printed.is_precise_in(measured):
        return ClaimVerdict.SAME_DIRECTION, f"{why}: the interval is too wide to confirm that"
    return ClaimVerdict.SAME_RATIO, ""


def judgement_of_speed_up(
    measured: ConfidenceInterval, published: float, remark: str = ""
) -> Judgement:
    """Whether the published speed-up is on the same side of 1, and as large; of 1, which claims no
    order, whether they are about equal."""
    if published == 1:
        return judgement_of_equal(measured, remark=remark)
    if measured.why_undecided:
        return undecided(measured, remark)
    if not measured.is_known:
        why = ONE_REPETITION
        return Judgement(word=ClaimVerdict.NO_ORDER, why=why, remark=remark, number=measured)
    if not (measured.is_above(1) or measured.is_below(1)):
        return Judgement(word=ClaimVerdict.NO_ORDER, remark=remark, number=measured)
    word, why = ClaimVerdict.REVERSED, ""
    if measured.is_above(1) == (published > 1):
        word, why = judgement_of_size(measured, printed_ratio_of_table(published))
    return Judgement(word=word, why=why, remark=remark, number=measured)


def shown_interval(interval: ConfidenceInterval, before: str = "") -> str:
    """``x 2.43 (2.31 to 2.55)``, where ``before`` is ``x``."""
    middle = f"{before}{units.digits(interval.value, 3)}"
    if interval.low is None or interval.high is None:
        return middle
    low, high = units.digits(interval.low, 3), units.digits(interval.high, 3)
    return f"{middle} ({ALIKE})" if low == high else f"{middle} ({low} to {high})"


_ANY = Real(-1e18, 1e18)
_TEXT, _NUMBER_OF_ANY = in_file(TEXT), NumberWithin(_ANY)


class ClaimKind(StrEnum):
    """What a claim says of its cells: its key in the file."""

    ORDER = "order"
    EQUAL = "equal"
    TIMES = "times"
    GROWTH = "growth"
    EQUALS = "equals"
    AT_LEAST = "at_least"
    AT_MOST = "at_most"


BOUNDS = (ClaimKind.EQUALS, ClaimKind.AT_LEAST, ClaimKind.AT_MOST)
COMPARISONS = (ClaimKind.ORDER, ClaimKind.EQUAL, ClaimKind.TIMES)


class GrowthBound(StrEnum):
    """What a claim says of a growth, beside that of the paper's own values."""

    ABOUT = "about"
    AT_LEAST = "at least"
    AT_MOST = "at most"


class Term(Struct, frozen=True):
    """Cells that a claim compares, and what is read from them."""

    levels: Levels
    quantity: Quantity

    @property
    def test(self) -> str:
        return str(self.levels["test"])


class Claim(Struct, frozen=True):
    text: Annotated[str, _TEXT]
    source: Annotated[str, _TEXT]
    kind: ClaimKind
    terms: tuple[Term, ...]
    """From the smallest value to the largest; one where it says something of each value."""
    ratio: PrintedRatio | None = None
    """Of the last and the first cell, as printed."""
    exponent: Annotated[float | None, in_file(_NUMBER_OF_ANY)] = None
    """Of a growth."""
    is_derived: bool = False
    """It is not printed, but computed from printed numbers."""
    growth: Annotated[str, _TEXT] = ""
    """The factor with which the value grows."""
    growth_bound: Annotated[GrowthBound, in_file(
        OneOf(tuple(GrowthBound)), name="bound",
        read=lambda section, key: GrowthBound(section.choice(key, GrowthBound)),
    )] = GrowthBound.ABOUT  # fmt: skip
    least: float | None = None
    """Of the ratio of the last and the first cell (`Kind.TIMES`)."""
    most: float | None = None
    limit: float | str = 0.0
    """Of a bound: a number, or a path."""
    undecided: Annotated[str, _TEXT] = ""
    """Path of how many more of the value may be so; empty: all are decided."""
    is_of_answers: Annotated[bool, in_file(FLAG, name="of_answers")] = False
    """It is about right answers, so that runs with wrong ones are judged."""
    within: Annotated[float, in_file(_NUMBER_OF_ANY)] = WITHIN
    """The factor by which equal values may differ."""
    tolerance: Annotated[float, in_file(_NUMBER_OF_ANY)] = 0.25
    """By which an exponent may differ."""
    processors: Annotated[
        int, in_file(_NUMBER_OF_ANY, read=lambda section, key: int(section.number(key, _ANY)))
    ] = 0
    """The machine must have so many, for the claim to be comparable."""
    needs_full: Annotated[tuple[str, ...], in_file(TEXTS)] = ()
    """Parameters with whose full values the claim is about: with smaller ones it is another."""
    least_levels: Annotated[
        Mapping[str, float], in_file((), name="from", below=named(_NUMBER_OF_ANY))
    ] = field(default_factory=dict)
    """Factor → the least level that the claim is about."""
    most_levels: Annotated[
        Mapping[str, float], in_file((), name="to", below=named(_NUMBER_OF_ANY))
    ] = field(default_factory=dict)
    is_beyond_memory: Annotated[bool, in_file(FLAG, name="beyond_memory")] = False
    """It is about more data than the system's memory."""
    not_here: Annotated[str, _TEXT] = ""
    """Why it cannot be judged by this workload; empty: it can."""
    names: tuple[str, ...] = ()
    """The levels in which the terms differ, of each term."""

    @property
    def shown(self) -> str:
        return f"{self.text} ({self.source})"


def read(section: TomlTable) -> Claim:
    """Raises `ExperimentError` with the line that is wrong."""
    said = [kind for kind in ClaimKind if kind in section]
    if len(said) != 1:
        raise section.error(
            "a claim says one thing of its cells", hint=f"one of {', '.join(ClaimKind)}"
        )
    (kind,) = said
    where = published.named_levels(section.section("where")) if "where" in section else {}
    if "test" in section:
        where["test"] = section.text("test")
    common = published.quantity(section)
    terms: tuple[Term, ...] = (Term(where, common),)
    names: tuple[str, ...] = ()
    if kind in COMPARISONS:
        tables = section.sections(kind)
        given = [one.text("name", "") for one in tables]
        own = [published.named_levels(one, "name") for one in tables]
        quantities = [published.quantity(one, common) for one in tables]
        for one in tables:
            one.done()
        if len(own) < 2:
            raise section.error("at least two cells to compare", kind)
        terms = tuple(
            Term({**where, **levels}, of) for levels, of in zip(own, quantities, strict=True)
        )
        names = tuple(
            name or _named(levels, of, common)
            for name, levels, of in zip(given, own, quantities, strict=True)
        )
    if any("test" not in term.levels for term in terms):
        raise section.error("a claim without a test", hint='test = "NAME"')
    ratio = _ratio(section)
    claim: Claim = section.thing(
        Claim,
        kind=kind,
        terms=terms,
        ratio=ratio,
        is_derived=section.boolean("derived", ratio is not None and ratio.is_of_values),
        least=_bound(section, "least", kind),
        most=_bound(section, "most", kind),
        limit=(section.text(kind) if section.is_text(kind) else section.number(kind, _ANY))
        if kind in BOUNDS
        else 0.0,
        names=names,
    )
    if kind is ClaimKind.TIMES and claim.least is None and claim.most is None:
        raise section.error("how many times", kind, hint="least = 2, or most = 2")
    return claim


def of_record(workload: WorkloadRecord) -> list[Claim]:
    """The claims at the time of the run."""
    return [
        read(TomlTable(Path("published.toml"), "", ("claims", place), claim))
        for place, claim in enumerate(workload.claims)
    ]


def _ratio(section: TomlTable) -> PrintedRatio | None:
    """A number is that of a record of an earlier Assay."""
    if "ratio" not in section:
        return None
    try:
        if section.is_text("ratio"):
            return read_printed_ratio(section.text("ratio"))
        return printed_ratio_of_number(section.number("ratio", _ANY))
    except ValueError as error:
        raise section.error(str(error), "ratio") from None


def _bound(section: TomlTable, name: str, kind: ClaimKind) -> float | None:
    return section.number(name, _ANY) if kind is ClaimKind.TIMES and name in section else None


def _named(levels: Levels, quantity: Quantity, common: Quantity) -> str:
    """What this cell is called: the levels and the path that are its own."""
    own = [quantity.value or " + ".join(quantity.keys)] if quantity != common else []
    return " ".join([*(str(level) for level in levels.values()), *own])


_NUMBER = re.compile(r"[0-9]+(?:\.[0-9]+)?…?")
_CUT = "…"
_UP_TO, _DIVIDED_BY = " to ", " / "
_MOST_APART = 2.0
"""By this factor an interval may reach beyond the printed ratio, and still confirm it."""
EXPECTED = '"2.5", "3 to 5.6" or "0.073 / 0.016", with the digits that are printed'


class PrintedRatio(Struct, frozen=True):
    shown: str
    """As reports have it: of two printed values three digits of their ratio."""
    low: float
    high: float
    value: float | None
    """None: it is a range."""
    is_of_values: bool = False
    """It is not printed itself, but computed from two printed values."""

    def holds(self, measured: ConfidenceInterval) -> bool:
        """Whether the measured interval has a ratio that would be printed so."""
        if measured.low is None or measured.high is None:
            return False
        return measured.low <= self.high and measured.high >= self.low

    def is_precise_in(self, measured: ConfidenceInterval) -> bool:
        """Whether the interval is narrow enough to confirm this ratio: it reaches no
        further than half of the way from the ratio to 1, and not beyond twice or half of it."""
        if measured.low is None or measured.high is None:
            return False
        nearest = min(abs(math.log(self.low)), abs(math.log(self.high)))
        apart = min(_MOST_APART, math.exp(nearest / 2))
        return measured.low >= self.low / apart and measured.high <= self.high * apart


def read_printed_ratio(text: str) -> PrintedRatio:
    """Raises `ValueError` with what is wrong."""
    if _DIVIDED_BY in text:
        (above, below) = map(_range, text.split(_DIVIDED_BY, 1))
        low, high = above[0] / below[1], above[1] / below[0]
        value = _value(text.split(_DIVIDED_BY)[0]) / _value(text.split(_DIVIDED_BY)[1])
        return PrintedRatio(units.digits(value, 3), low, high, value, is_of_values=True)
    if _UP_TO in text:
        first, last = text.split(_UP_TO, 1)
        low, high = _range(first)[0], _range(last)[1]
        if low >= high:
            raise ValueError(f"expected the smaller ratio first, found {text!r}")
        return PrintedRatio(text, low, high, None)
    return PrintedRatio(text.removesuffix(_CUT), *_range(text), _value(text))


def printed_ratio_of_number(number: float) -> PrintedRatio:
    """With as many digits as distinguish it."""
    return read_printed_ratio(f"{number:.10g}")


def printed_ratio_of_table(speed_up: float) -> PrintedRatio:
    """A speed-up of a table, which has two decimals there; some papers round and some cut."""
    low = max(speed_up - 0.01, speed_up / 2)
    return PrintedRatio(f"{speed_up:.2f}", low, speed_up + 0.01, speed_up)


def _value(text: str) -> float:
    return float(text.removesuffix(_CUT))


def _range(text: str) -> tuple[float, float]:
    """Of all numbers that are printed so."""
    if not _NUMBER.fullmatch(text) or not _value(text):
        raise ValueError(f"expected {EXPECTED}, found {text!r}")
    printed = Decimal(text.removesuffix(_CUT))
    unit = Decimal(1).scaleb(int(printed.as_tuple().exponent))
    if text.endswith(_CUT):
        return float(printed), float(printed + unit)
    return float(printed - unit / 2), float(printed + unit / 2)
