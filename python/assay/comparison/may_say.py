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
from assay.workload import ad_hoc_script

Row = Mapping[str, Any]


class Refused(Struct, frozen=True):
    """A sentence that may not be said."""

    claim: str
    reason: str


MAY_SAY = "sentences that the numbers carry, with their limits"
MAY_NOT_SAY = "claims that the numbers do not carry, each with the reason"


class Sayings(Struct, frozen=True):
    may_say: Annotated[list[str], Meta(description=MAY_SAY)]
    may_not_say: Annotated[list[Refused], Meta(description=MAY_NOT_SAY)]


_NAMED = ("system", "storage", "clients", "offered_rate_per_s")
"""Levels of a cell that each sentence about it names, where it has them."""
_UNRELIABLE = "the runs are unreliable"
_ELSEWHERE = Refused(
    "a result that holds on another machine, with other data, settings or numbers of clients",
    "only what is listed was measured",
)
"""Of every report and comparison."""


def of_report(
    questions: Sequence[Question],
    cells: Sequence[Row],
    goals: Iterable[Row],
    levels: Iterable[str],
) -> Sayings:
    """``cells`` and ``goals``: rows of these tables of tidy output; ``levels``: the columns that
    say which cell one is, beside its parameters."""
    shown = _shown_levels(cells, levels)
    found = [
        *(_of_cell(cell, shown) for cell in cells),
        *(_of_goal(goal, shown) for goal in goals),
        *(said for question in questions for said in _of_question(question)),
    ]
    return _sayings(found)


def _shown_levels(cells: Sequence[Row], levels: Iterable[str]) -> list[str]:
    """Those that all sentences name, and those in which the cells differ."""
    names = dict.fromkeys([*levels, *(name for cell in cells for name in cell)])
    known = set(levels) - {"experiment", "workload", "test"}  # said apart
    return [
        name
        for name in names
        if name in _NAMED
        or name.startswith("parameter_")
        or (name in known and len({cell.get(name) for cell in cells}) > 1)
    ]


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


def _placed(row: Row, shown: Iterable[str]) -> str:
    """``tpcb.strict: system NAME, storage here, clients 8``."""
    words = [
        f"{name.removeprefix('parameter_')} {row[name]}"
        for name in shown
        if row.get(name) is not None
    ]
    workload, test = row["workload"], row["test"]
    if test == ad_hoc_script.TEST:  # its scripts are its name
        name = workload
    else:
        name = test if test in workload.split(" + ") else f"{workload}.{test}"
    return f"{name}: {', '.join(words)}"


def _of_cell(cell: Row, shown: Iterable[str]) -> str | Refused:
    """The throughput of a cell; that of an invalid or unreliable one is no property of the
    system."""
    of_cell = _placed(cell, shown)
    rate = cell.get("throughput_per_s")
    word, reason = cell.get("verdict"), cell.get("verdict_reason")
    if rate is None:
        return Refused(f"{of_cell}: any throughput", reason or "it has no number")
    said = f"{of_cell}: {rate:.6g} transactions per second"
    if word != "valid":
        return Refused(said, f"{word}: {reason}")
    if cell["measured"] < 2:
        return f"{said}, measured once"
    least, most = cell["throughput_min_per_s"], cell["throughput_max_per_s"]
    return f"{said}, the median of {cell['measured']} repetitions ({least:.6g} to {most:.6g})"


def _of_goal(goal: Row, shown: Iterable[str]) -> str | Refused:
    place = _placed({**goal, "offered_rate_per_s": None}, shown)
    said = f"{place}: {goal['goal']}"
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
        names = [sentences.level_name(question.factor, level) for level in _levels(one)]
        level, other = (name.replace(sentences.TOGETHER, " ") for name in names)
        place = sentences.where(one.at).replace(sentences.TOGETHER, " ")
        better = (
            f"{question.test}: the {one.metric.label} of {level} is better or worse than that of "
            f"{other}{place}"
        )
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
            seen = f"{NO_DIFFERENCE} in the {metric}"
            yield f"{cell.name}: {seen}; that of {b} was {times} that of {a}"
            reason = _interval_words(*(found or (None, None)))
        yield Refused(f"{of_b} is better or worse than that of {a}, or equal to it", reason)
    if is_decided and comparison.is_other_machine:
        yield Refused(
            f"{cell.name}: what is compared is the cause of the difference",
            f"{a} and {b} were measured on different machines",
        )
