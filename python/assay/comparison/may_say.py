"""Takes the questions of a report, its cells, or a comparison; gives the sentences that its numbers
carry, and those that they do not carry, each with the reason: for programs and agents, so that
nobody says more than the verdict does.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Annotated, Any

from msgspec import Meta, Struct
from msgspec.structs import replace

from assay.comparison import sentences
from assay.comparison.conclusions import Conclusion, Question
from assay.comparison.ratios import NO_DIFFERENCE
from assay.comparison.sides import ComparedCell, Comparison, Direction
from assay.experiment import Scalar


class Refused(Struct, frozen=True):
    """A sentence that may not be said."""

    claim: str
    reason: str


MAY_SAY = "sentences that the numbers carry, with their limits"
MAY_NOT_SAY = "claims that the numbers do not carry, each with the reason"


class Sayings(Struct, frozen=True):
    may_say: Annotated[list[str], Meta(description=MAY_SAY)]
    may_not_say: Annotated[list[Refused], Meta(description=MAY_NOT_SAY)]


_UNRELIABLE = "the runs are unreliable"
_ELSEWHERE = Refused(
    "the same holds on another machine, with other data, settings or numbers of clients",
    "only what is listed was measured",
)
"""Of every report and comparison."""


def of_report(questions: Sequence[Question], cells: Iterable[Mapping[str, Any]]) -> Sayings:
    """``cells``: rows of the table ``cells`` of tidy output."""
    found = [
        *(_of_cell(cell) for cell in cells),
        *(said for question in questions for said in _of_question(question)),
    ]
    return _sayings(found)


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


def _of_cell(cell: Mapping[str, Any]) -> str | Refused:
    """The throughput of a cell; that of an invalid or unreliable one is no property of the
    system."""
    name = ", ".join(
        f"{word} {cell[word]}" for word in ("system", "storage", "clients") if cell.get(word)
    )
    workload, test = cell["workload"], cell["test"]
    is_ad_hoc = test in workload.split(" + ")  # its scripts are its name
    of_cell = f"{test if is_ad_hoc else f'{workload}.{test}'}: {name}"
    rate = cell.get("throughput_per_s")
    word, reason = cell.get("verdict"), cell.get("verdict_reason")
    if rate is None:
        return Refused(f"{of_cell}: any throughput", reason or "it has no number")
    if word != "valid":
        return Refused(f"{of_cell}: {rate:.6g} transactions per second", f"{word}: {reason}")
    limit = f" ({reason})" if reason else ""
    return f"{of_cell}: {rate:.6g} transactions per second{limit}"


def _of_question(question: Question) -> Iterator[str | Refused]:
    for one in question.conclusions:
        (answer,) = sentences.answers((replace(question, conclusions=(one,), knees=()),))
        names = [sentences.level_name(question.factor, level) for level in _levels(one)]
        level, other = (name.replace(sentences.TOGETHER, " ") for name in names)
        place = sentences.where(one.at).replace(sentences.TOGETHER, " ")
        better = f"{question.test}: {level} is better or worse than {other}{place}"
        if one.ratio is None:
            yield Refused(better, f"not compared: {one.reason}")
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


def _levels(conclusion: Conclusion) -> tuple[Scalar, Scalar]:
    return conclusion.level, conclusion.compared_with


def _interval_words(low: float | None, high: float | None) -> str:
    if low is None or high is None:
        return "there is no interval"
    words = " to ".join(map(sentences.ratio_words, (low, high)))
    return f"the interval of the ratio, {words}, allows both"


def _of_compared(comparison: Comparison, cell: ComparedCell) -> Iterator[str | Refused]:
    primary = cell.primary
    metric = primary.metric.label
    of_b = f"{cell.name}: the {metric} of B"
    found = primary.estimate.interval() if primary.estimate else None
    times = (
        sentences.times_words(primary.estimate.ratio, *(found or (None, None))).replace(
            sentences.TOGETHER, " "
        )
        if primary.estimate
        else ""
    )
    said = f"{of_b} is {times} that of A" if times else f"{of_b} is another than that of A"
    is_decided = primary.direction in (Direction.BETTER, Direction.WORSE)
    if is_decided and cell.runs_verdict == "unreliable":
        yield f"{said}: {primary.verdict}; {_UNRELIABLE}: {'; '.join(cell.runs_reasons)}"
        yield Refused(f"{said}: {primary.verdict}", f"{_UNRELIABLE}; say so with it")
    elif is_decided:
        yield f"{said}: {primary.verdict}"
    else:
        reason = primary.verdict
        if primary.verdict == NO_DIFFERENCE:
            yield f"{cell.name}: {NO_DIFFERENCE} in the {metric}"
            reason = _interval_words(*(found or (None, None)))
        yield Refused(f"{of_b} is better or worse than that of A, or equal to it", reason)
    if is_decided and comparison.is_other_machine:
        yield Refused(
            f"{cell.name}: what is compared is the cause of the difference",
            "A and B were measured on different machines",
        )
