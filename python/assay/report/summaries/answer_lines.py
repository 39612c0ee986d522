"""Takes the questions of an experiment; returns the lines that answer them, in ever fewer words, so
that there is room for the cells that they compare."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from assay.comparison import clauses, sentences
from assay.comparison.conclusions import Question
from assay.report.summaries.named_line import named_line
from assay.text import units

_MOST_LINES = 5
_PLACES = (3, 2, 1)
"""Combinations of the other factors that a sentence names."""


class Answers(NamedTuple):
    lines: list[str]
    quoted: frozenset[int]
    """Numbers of the runs behind what they compare."""


def answers(questions: Sequence[Question], width: int) -> list[Answers]:
    """A sentence for each, with fewer and fewer combinations, as far as there is room for all;
    where there is none, the questions that are left out are counted."""
    fitting = []
    for most_places in _PLACES:
        of_each = [
            named_line(one.factor, f"{one.test}: {one.text}" if one.test else one.text, width)
            for one in sentences.lines(questions, most_places)
        ]
        if sum(map(len, of_each)) <= _MOST_LINES:
            lines = [line for lines in of_each for line in lines]
            fitting.append(Answers(lines, _quoted(questions, most_places)))
    if fitting:
        return fitting
    shown: list[str] = []
    for place, lines in enumerate(of_each):
        if len(shown) + len(lines) >= _MOST_LINES:
            left_out = units.counted(len(of_each) - place, "more question")
            more = named_line("and", f"{left_out}, in the details", width)
            return [Answers([*shown, *more], _quoted(questions[:place], most_places))]
        shown += lines
    return [Answers(shown, _quoted(questions, most_places))]


def _quoted(questions: Sequence[Question], most_places: int) -> frozenset[int]:
    return frozenset(
        run
        for question in questions
        for conclusion in clauses.quoted(question, most_places)
        for runs in conclusion.runs
        for run in runs
    )
