"""Takes the questions of an experiment with their conclusions; gives a sentence for each: which
level is how many times as fast, or what is not decided, and why.

Every face of the program has these sentences: the terminal, the page, Markdown, JSON.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from msgspec import Struct

from assay.comparison.conclusions import clauses
from assay.comparison.conclusions.clauses import MOST_PLACES, TOGETHER
from assay.comparison.conclusions.conclusions import Conclusion, Question
from assay.comparison.sides.ranked_cells import IN_MEMORY
from assay.contracts import factors
from assay.contracts.durability import MEANINGS, NOT_MEASURED
from assay.judge.evidence.durability import HIGHEST, MEMORY

_LONGEST_TITLE = 11
"""Characters beside which a sentence begins in the same column as others."""


class Answer(Struct, frozen=True):
    """A question of an experiment, answered in words."""

    question: Question
    test: str
    """Empty where all questions are about one test."""
    factor: str
    """As it is said."""
    said: str
    """Which level is better, and how much; or what was seen that is not decided."""
    limits: tuple[str, ...]
    """Why nothing is decided; what limits the conclusion: how durable the commits are, whether the
    runs are indicative."""
    other_work: str
    """What the levels write, flush or check otherwise for the same work, and the indexes that one
    alone has; empty: nothing is known."""

    @property
    def sentence(self) -> str:
        """With the limits; on one line."""
        return _joined(self.said, self.limits).replace(TOGETHER, " ")


DIFFERS = "differs"
"""In place of a factor: the line is what its levels do otherwise for the same work."""


class Line(NamedTuple):
    """An answer as it stands among others."""

    factor: str
    """Or `DIFFERS`, under the answer that it explains."""
    test: str
    """Empty where all answers are about one test."""
    text: str
    """With `TOGETHER` between the words at which no line is broken."""


def answers(questions: Sequence[Question], most_places: int = MOST_PLACES) -> tuple[Answer, ...]:
    """In their order. ``most_places``: combinations of the other factors that a sentence names; of
    more it counts the rest."""
    has_tests = len({question.test for question in questions}) > 1
    return tuple(
        Answer(
            question,
            question.test if has_tests else "",
            _title(question.factor),
            clauses.said(question, most_places),
            tuple(_limits(question)),
            clauses.other_work(question),
        )
        for question in questions
    )


def lines(questions: Sequence[Question], most_places: int = MOST_PLACES) -> list[Line]:
    """The answers, each with what explains it in a line of its own, and nothing twice: a sentence
    that answers all questions stands once, and limits of all behind the last one."""
    found = answers(questions, most_places)
    if len(found) > 1 and len({answer.sentence for answer in found}) == 1:
        other_work = dict.fromkeys(answer.other_work for answer in found if answer.other_work)
        said = [Line(_ANSWER, "", found[0].sentence)]
        return [*said, *(Line(DIFFERS, "", one) for one in other_work)]
    is_shared = len({answer.limits for answer in found}) == 1
    shown = []
    for place, answer in enumerate(found, 1):
        has_no_limits = is_shared and place < len(found)
        text = answer.said if has_no_limits else _joined(answer.said, answer.limits)
        shown.append(Line(answer.factor, answer.test, text))
        alike = [one for one in found if one.other_work == answer.other_work]
        if answer.other_work and answer is alike[-1]:
            test = answer.test if len(alike) == 1 else ""
            shown.append(Line(DIFFERS, test, answer.other_work))
    return shown


def _joined(said: str, limits: Sequence[str]) -> str:
    return "; ".join((said, *limits))


def _limits(question: Question) -> Iterator[str]:
    """Why nothing is decided; that scripts do not do the same; how durable the commits are, and
    whether the runs are indicative, of what is divided."""
    if question.factor == factors.SCRIPT.name:
        yield _OF_SCRIPTS
    if reason := clauses.shared_reason(question):
        yield reason
    divided = [one for one in question.conclusions if one.ratio is not None]
    classes = {name for one in divided for name in one.durability}
    if any(one.is_decided for one in divided) and classes - {""}:
        yield _durability(question, divided, classes)
    if any(one.is_decided and one.runs_verdict == "indicative" for one in divided):
        yield "the runs are indicative"


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
            clauses.name("storage", level)
            for one in divided
            for level, found in zip((one.level, one.compared_with), one.durability, strict=True)
            if found == IN_MEMORY
        ]
        return f"{', '.join(dict.fromkeys(names))}: {MEMORY}"
    known = sorted(classes - {"", IN_MEMORY})
    return f"durability {' or '.join(known)}" if known else f"durability {NOT_MEASURED}"


def _title(factor: str) -> str:
    """A name that is too long stands in the sentence alone."""
    title = factors.word(factor)
    return title if len(title) <= _LONGEST_TITLE else _ANSWER


_ANSWER = "answer"
_OF_SCRIPTS = "the scripts do different work, and their answers are not compared"
