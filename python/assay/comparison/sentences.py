"""Takes the questions of an experiment with their conclusions; gives a sentence for each: which
level is how many times as fast, or what is not decided, and why.

Every face of the program has these sentences: the terminal, the page, Markdown, JSON.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from assay.comparison.conclusions import IN_MEMORY, Conclusion, Question
from assay.durability.values import MEANINGS
from assay.experiment import Scalar
from assay.judge.durability import HIGHEST, MEMORY, NOT_MEASURED
from assay.plan import cell_names
from assay.text import units

_MOST_PLACES = 3
"""Combinations of the other factors that a sentence names; of more it counts the rest."""
_WIDE = 1000
"""An interval whose upper bound is so many times the lower one says nothing."""
TOGETHER = "\u00a0"
"""A blank at which no line is broken."""


@dataclass(frozen=True)
class Answer:
    """A question of an experiment, answered in words."""

    question: Question
    test: str
    """Empty where all questions are about one test."""
    factor: str
    """As it is said."""
    said: str
    """Which level is better, and how much; or why nothing is decided."""
    limits: tuple[str, ...]
    """What limits the conclusion: how durable the commits are, whether the numbers are
    indicative."""

    @property
    def sentence(self) -> str:
        """With the limits; on one line."""
        return "; ".join((self.said, *self.limits)).replace(TOGETHER, " ")


def answers(questions: Sequence[Question], most_places: int = _MOST_PLACES) -> tuple[Answer, ...]:
    """In their order. ``most_places``: combinations of the other factors that a sentence names; of
    more it counts the rest."""
    has_tests = len({question.test for question in questions}) > 1
    return tuple(
        Answer(
            question,
            question.test if has_tests else "",
            _TITLES.get(question.factor, question.factor),
            _said(question, most_places),
            tuple(_limits(question)),
        )
        for question in questions
    )


def _said(question: Question, most_places: int) -> str:
    """``SYSTEM is 4.6 times (4.1 to 5.2) as fast as OTHER at 8 clients; …``."""
    reasons = {conclusion.reason for conclusion in question.conclusions}
    if len(reasons) == 1 and (why := reasons.pop()):
        return f"not decided: {why}"
    by_place: dict[tuple[tuple[str, Scalar], ...], list[Conclusion]] = {}
    for conclusion in question.conclusions:
        by_place.setdefault(tuple(conclusion.at.items()), []).append(conclusion)
    # The most clients are where systems differ, and stand first.
    places = [*by_place.values()] if question.is_numeric else [*reversed(by_place.values())]
    places.sort(key=_clarity)
    decided = [place for place in places if _clarity(place) == 0]
    shown = decided[:most_places] or places[:1]
    clauses = _of_numbers if question.is_numeric else _of_names
    parts = [*clauses(question.factor, shown)]
    if rest := places[len(shown) :]:
        parts.append(_others(question, shown[0], rest))
    return "; ".join(parts)


def _clarity(conclusions: Sequence[Conclusion]) -> int:
    """What is decided stands first, then what was compared."""
    if any(conclusion.is_decided for conclusion in conclusions):
        return 0
    return 1 if any(conclusion.ratio is not None for conclusion in conclusions) else 2


def _of_numbers(factor: str, places: Sequence[Sequence[Conclusion]]) -> Iterator[str]:
    """``throughput at 8 clients is 5.8 times (5.1 to 6.6) that at 1 client on SYSTEM, 3.3 times
    (2.8 to 3.9) on OTHER``."""
    before: tuple[object, ...] = ()
    parts: list[str] = []
    for (conclusion,) in places:
        last, first = (
            _name(factor, level) for level in (conclusion.level, conclusion.compared_with)
        )
        where = _where(conclusion.at)
        if conclusion.ratio is None:
            parts.append(f"{first} and {last}{where} are not compared ({conclusion.reason})")
        elif not conclusion.is_decided:
            parts.append(_undecided(conclusion, first, last))
        else:
            kind = (conclusion.level, conclusion.compared_with, conclusion.metric.name)
            is_like_before, before = before == kind, kind
            that = "" if is_like_before else f" that at {first}"
            what = "" if is_like_before else f"{conclusion.metric.label} at {last} is "
            times = _times(conclusion.ratio, conclusion.low, conclusion.high)
            parts.append(f"{what}{times}{that}{where}")
    yield ", ".join(parts)


def _of_names(factor: str, places: Sequence[Sequence[Conclusion]]) -> Iterator[str]:
    """Of each place the best level, with each of the others; names that were just said are not
    repeated."""
    before: list[tuple[Scalar, Scalar]] = []
    for conclusions in places:
        decided = [one for one in conclusions if one.is_decided]
        near = [one for one in conclusions if one.ratio is not None and not one.is_decided]
        apart = [one for one in conclusions if one.ratio is None]
        names = [(one.level, one.compared_with) for one in decided]
        is_all = len(decided) == len(conclusions)
        where = _where(conclusions[0].at)
        parts = []
        if decided:
            is_short = is_all and names == before
            parts.append(_better(factor, decided, is_short=is_short) + where)
        parts += [
            _undecided(one, _name(factor, one.level), _name(factor, one.compared_with))
            for one in near
        ]
        parts += [
            f"{_name(factor, one.compared_with)}{where} is not compared ({one.reason})"
            for one in apart
        ]
        before = names if is_all else []
        yield ", ".join(parts)


def _better(factor: str, conclusions: Sequence[Conclusion], *, is_short: bool) -> str:
    if is_short:
        return ", ".join(_times(*_advantage(one)) for one in conclusions)
    best, metric = _name(factor, conclusions[0].level), conclusions[0].metric
    parts = []
    for place, one in enumerate(conclusions):
        times, other = _times(*_advantage(one)), _name(factor, one.compared_with)
        if metric.is_speed:
            is_so = f"{best} is " if not place else ""
            parts.append(f"{is_so}{times} as fast as {other}")
        else:
            noun = f"the {metric.label} of " if not place else ""
            parts.append(f"{noun}{other} is {times} that of {best}")
    return ", ".join(parts)


def _undecided(conclusion: Conclusion, first: str, second: str) -> str:
    """With the interval alone, since a ratio beside it would be read as a result; without one that
    says nothing."""
    bounds = ""
    low, high = conclusion.low, conclusion.high
    if low is not None and high is not None and high < _WIDE * low:
        bounds = TOGETHER.join((number(low), "to", number(high), "times"))
    notes = "; ".join(filter(None, (bounds, conclusion.reason)))
    what = f"{_open(conclusion)} between {first} and {second}{_where(conclusion.at)}"
    return what + (f" ({notes})" if notes else "")


def _open(conclusion: Conclusion) -> str:
    return "not decided" if conclusion.reason else "no difference seen"


def _others(
    question: Question, first: Sequence[Conclusion], rest: Sequence[Sequence[Conclusion]]
) -> str:
    """In how many of the other combinations the first one's answer holds: ``no difference seen at
    1 client``; ``of 7 other combinations 2 alike, 5 undecided``."""
    if len(rest) == 1 and _clarity(rest[0]) == 1:
        return _open(rest[0][0]) + _where(rest[0][0].at)
    counts = {"alike": 0, "in another order": 0, "undecided": 0, "not compared": 0}
    for conclusions in rest:
        is_alike = all(
            one.is_decided and one.direction is first[0].direction for one in conclusions
        ) and (question.is_numeric or conclusions[0].level == first[0].level)
        words = ("alike" if is_alike else "in another order", "undecided", "not compared")
        counts[words[_clarity(conclusions)]] += 1
    listed = ", ".join(f"{count} {word}" for word, count in counts.items() if count)
    return f"of {units.counted(len(rest), 'other combination')} {listed}"


def _advantage(conclusion: Conclusion) -> tuple[float, float | None, float | None]:
    """The ratio with its bounds, so that more than 1 says that the level is better."""
    assert conclusion.ratio is not None
    if conclusion.metric.is_more_better:
        return conclusion.ratio, conclusion.low, conclusion.high
    low, high = conclusion.low, conclusion.high
    return 1 / conclusion.ratio, high and 1 / high, low and 1 / low


def _times(ratio: float, low: float | None, high: float | None) -> str:
    """``2.2 times (1.8 to 2.7)``; no interval where there is none."""
    shown = f"{number(ratio)}{TOGETHER}times"
    if low is None or high is None:
        return shown
    return f"{shown} ({TOGETHER.join((number(low), 'to', number(high)))})"


def number(ratio: float) -> str:
    """Two digits, three around 1: ``0.97``, ``1.04``, ``4.6``, ``120``; ``many`` where the
    repetitions set no limit."""
    if ratio > 1e4:
        return "many"
    if ratio < 1e-4:
        return "0"
    for limit, places in ((0.0995, 3), (1.995, 2), (9.95, 1)):
        if ratio < limit:
            return f"{ratio:.{places}f}"
    return f"{float(f'{ratio:.2g}'):.0f}"


def _name(factor: str, level: Scalar) -> str:
    return cell_names.level_name(factor, level).replace(" ", TOGETHER)


def _where(at: Mapping[str, Scalar]) -> str:
    """`` at 8 clients on tmpfs``."""
    return "".join(f" {_placed(factor, level)}" for factor, level in at.items())


def _placed(factor: str, level: Scalar) -> str:
    name = _name(factor, level)
    if factor in ("system", "storage"):
        return f"on {name}"
    return f"at {name}" if factor in ("clients", cell_names.OFFERED_RATE) else f"with {name}"


def _limits(question: Question) -> Iterator[str]:
    """How durable the commits are, and whether the numbers are indicative, of what is divided."""
    divided = [one for one in question.conclusions if one.ratio is not None]
    classes = {name for one in divided for name in one.durability}
    if any(one.is_decided for one in divided) and classes - {""}:
        yield _durability(question, divided, classes)
    if any(one.is_decided and one.runs_verdict == "indicative" for one in divided):
        yield "indicative"


def _durability(question: Question, divided: Sequence[Conclusion], classes: set[str]) -> str:
    levels = {level for one in divided for level in (one.level, one.compared_with)}
    subject = "both" if len(levels) == 2 and not question.is_numeric else "all"
    if classes == {HIGHEST}:
        return f"{subject} flush every commit ({HIGHEST})"
    if classes == {IN_MEMORY}:
        return f"{subject} in {MEMORY}"
    if len(classes) == 1:
        (name,) = classes
        meaning = f" ({MEANINGS[name]})" if name in MEANINGS else ""
        return f"durability {name}{meaning}"
    if IN_MEMORY in classes and question.factor == "storage":
        names = [
            _name("storage", level)
            for one in divided
            for level, found in zip((one.level, one.compared_with), one.durability, strict=True)
            if found == IN_MEMORY
        ]
        return f"{', '.join(dict.fromkeys(names))}: {MEMORY}"
    known = sorted(classes - {"", IN_MEMORY})
    return f"durability {' or '.join(known)}" if known else f"durability {NOT_MEASURED}"


_TITLES = {cell_names.OFFERED_RATE: "rate", cell_names.CLIENT_PROGRAM: "program"}
