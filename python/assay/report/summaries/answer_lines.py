"""Takes the questions of an experiment; returns the lines that answer them, in several versions,
each shorter than the one before, so that there is room for the cells that they compare."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from assay.comparison.conclusions import clauses, sentences
from assay.comparison.conclusions.conclusions import Question
from assay.report.summaries.named_line import named_line
from assay.text import units

_MOST_LINES = 5
_MOST_OF_ONE = 99
_MOST_EXPLAINED = 3
"""Of what the levels of a question do otherwise."""
_PLACES = (3, 2, 1)
"""Combinations of the other factors that a sentence names."""


class AnswerLines(NamedTuple):
    lines: list[str]
    quoted: frozenset[int]
    """Numbers of the runs behind what they compare."""
    is_whole: bool
    """Whether all questions are answered."""
    explained: int
    """How many of the lines say what the levels do otherwise for the same work: the answers have
    room beside them."""


def answers(questions: Sequence[Question], width: int) -> list[AnswerLines]:
    """A sentence for each, with fewer and fewer combinations, as far as there is room for all; then
    fewer and fewer questions, of which the others are counted. The first that has room, or one
    question."""
    if not questions:
        return [AnswerLines([], frozenset(), True, 0)]
    every = (
        _of(questions, number, most_places, width)
        for number in range(len(questions), 0, -1)
        for most_places in (_PLACES if number == len(questions) else _PLACES[-1:])
    )
    fitting = [one for one in every if len(one.lines) - one.explained <= _MOST_LINES]
    return fitting or [_of(questions, 1, _PLACES[-1], width)]


def _of(questions: Sequence[Question], number: int, most_places: int, width: int) -> AnswerLines:
    """The answers to so many of them."""
    asked = questions[:number]
    lines = []
    explained = 0
    for one in sentences.lines(asked, most_places):
        is_explained = one.factor == sentences.DIFFERS
        most = _MOST_EXPLAINED if is_explained else _MOST_OF_ONE
        text = f"{one.test}: {one.text}" if one.test else one.text
        shown = named_line(one.factor, text, width, most=most)
        explained += len(shown) if is_explained else 0
        lines += shown
    if left_out := len(questions) - number:
        more = units.counted(left_out, "more question")
        lines += named_line("and", f"{more}, in the details", width)
    return AnswerLines(lines, _quoted(asked, most_places), not left_out, explained)


def _quoted(questions: Sequence[Question], most_places: int) -> frozenset[int]:
    return frozenset(
        run
        for question in questions
        for conclusion in clauses.quoted(question, most_places)
        for runs in conclusion.runs
        for run in runs
    )
