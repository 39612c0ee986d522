"""Takes the questions of a report, its cells, or a comparison; gives the sentences that the numbers
support, and the claims that they do not support, each with the reason: for programs and agents.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from assay.comparison import sentences
from assay.comparison.conclusions import Question
from assay.comparison.ratios import NO_DIFFERENCE
from assay.comparison.sides import ComparedCell, Comparison, Direction

Row = Mapping[str, Any]


class Refused(Struct, frozen=True):
    """A sentence that may not be said."""

    claim: str
    reason: str


MAY_SAY = "sentences that the numbers support, with their limits"
MAY_NOT_SAY = "claims that the numbers do not support, each with the reason"


class Sayings(Struct, frozen=True):
    may_say: list[str]
    may_not_say: list[Refused]


_UNRELIABLE = "the runs are unreliable"
_ELSEWHERE = Refused(
    "a result that holds on another machine, with other data, settings or numbers of clients",
    "only what is listed was measured",
)
"""Of every report and comparison."""


def of_report(
    questions: Iterable[Question],
    cells: Iterable[tuple[str, Row]],
    goals: Iterable[tuple[str, Row]],
) -> Sayings:
    """``cells``: each with its name, as a row of that table of tidy output; ``goals``: each with
    the name of its test."""
    return _sayings(
        [
            *(_of_cell(name, cell) for name, cell in cells),
            *(_of_goal(test, goal) for test, goal in goals),
            *(said for question in questions for said in _of_question(question)),
        ]
    )


def of_comparison(comparison: Comparison) -> Sayings:
    """Of the primary metric of each cell, and of the cells that only one side has."""
    found: list[str | Refused] = [
        said for cell in comparison.cells for said in _of_compared(comparison, cell)
    ]
    found += [
        Refused(
            f"{one.name}: A and B were compared",
            f"only {one.side} has it{f'; the nearest cell is {one.nearest}' * bool(one.nearest)}",
        )
        for one in comparison.unequal
    ]
    return _sayings(found)


def _sayings(sentences_and_claims: Iterable[str | Refused]) -> Sayings:
    every = dict.fromkeys(sentences_and_claims)
    return Sayings(
        [one for one in every if isinstance(one, str)],
        [*(one for one in every if isinstance(one, Refused)), _ELSEWHERE],
    )


def _of_cell(name: str, cell: Row) -> str | Refused:
    """The throughput of a cell; that of an invalid or unreliable one is no property of the
    system."""
    rate = cell.get("throughput_per_s")
    word, reason = cell.get("verdict"), cell.get("verdict_reason")
    if rate is None:
        return Refused(f"{name}: any throughput", reason or "it has no number")
    said = f"{name}: {rate:.6g} transactions per second"
    if word != "valid":
        return Refused(said, f"{word}: {reason}")
    if cell["measured"] < 2:
        return f"{said}, measured once"
    least, most = cell["throughput_min_per_s"], cell["throughput_max_per_s"]
    return f"{said}, the median of {cell['measured']} repetitions ({least:.6g} to {most:.6g})"


def _of_goal(test: str, goal: Row) -> str | Refused:
    place = ", ".join(
        f"{name} {goal[name]}" for name in ("system", "storage", "clients") if goal[name]
    )
    said = f"{test}: {place}: {goal['goal']}"
    if goal["not_decided"]:
        return Refused(f"{said} is met up to some rate", f"not decided: {goal['not_decided']}")
    met, not_met = goal["met_at_per_s"], goal["not_met_at_per_s"]
    if met is None:
        return f"{said} was met at no rate that was tried"
    beyond = f", and not at {not_met:.4g}/s" if not_met is not None else ""
    return f"{said} is met up to {met:.4g} transactions per second{beyond}"


def _of_question(question: Question) -> Iterator[str | Refused]:
    for one in question.conclusions:
        (answer,) = sentences.answers((replace(question, conclusions=(one,), knees=()),))
        level, other = (
            sentences.level_name(question.factor, level).replace(sentences.TOGETHER, " ")
            for level in (one.level, one.compared_with)
        )
        place = sentences.where(one.at).replace(sentences.TOGETHER, " ")
        better = (
            f"{question.test}: the {one.metric.label} of {level} is better or worse than that of "
            f"{other}{place}"
        )
        if one.ratio is None:
            yield Refused(better, f"not comparable: {one.reason}")
        elif one.is_decided:
            yield f"{question.test}: {answer.sentence}"
            if one.runs_verdict == "unreliable":
                bare = answer.said.replace(sentences.TOGETHER, " ")
                yield Refused(f"{question.test}: {bare}", f"{_UNRELIABLE}; say so with it")
        elif one.reason:
            yield Refused(f"{better}, or equal to it", f"not decided: {one.reason}")
        else:
            yield f"{question.test}: {answer.sentence}"
            yield Refused(f"{better}, or equal to it", _interval_words(one.low, one.high))


def _interval_words(low: float | None, high: float | None) -> str:
    if low is None or high is None:
        return "there is no interval"
    words = " to ".join(map(sentences.ratio_words, (low, high)))
    return f"the interval of the ratio, {words}, allows both"


def _of_compared(comparison: Comparison, cell: ComparedCell) -> Iterator[str | Refused]:
    primary = cell.primary
    metric = primary.metric.label
    a, b = (f"{side.name} ({side.title})" for side in (comparison.a, comparison.b))
    of_b = f"{cell.name}: the {metric} of {b}"
    found = primary.estimate.interval() if primary.estimate else None
    times = (
        sentences.times_words(primary.estimate.ratio, *(found or (None, None))).replace(
            sentences.TOGETHER, " "
        )
        if primary.estimate
        else ""
    )
    said = f"{of_b} is {times} that of {a}" if times else f"{of_b} is another than that of {a}"
    limits = "; ".join((f"{said}: {primary.verdict}", *cell.every_note))
    is_decided = primary.direction in (Direction.BETTER, Direction.WORSE)
    if is_decided and cell.runs_verdict == "unreliable":
        yield f"{limits}; {_UNRELIABLE}: {'; '.join(cell.runs_reasons)}"
        yield Refused(f"{said}: {primary.verdict}", f"{_UNRELIABLE}; say so with it")
    elif is_decided:
        yield limits
    else:
        reason = primary.verdict
        if primary.verdict == NO_DIFFERENCE:
            seen = f"; that of {b} was {times} that of {a}" if times else ""
            limit = f"; {_UNRELIABLE}" if cell.runs_verdict == "unreliable" else ""
            yield f"{cell.name}: {NO_DIFFERENCE} in the {metric}{seen}{limit}"
            reason = _interval_words(*(found or (None, None)))
        yield Refused(f"{of_b} is better or worse than that of {a}, or equal to it", reason)
    if is_decided and comparison.is_other_machine:
        yield Refused(
            f"{cell.name}: what is compared is the cause of the difference",
            f"{a} and {b} were measured on different machines",
        )
