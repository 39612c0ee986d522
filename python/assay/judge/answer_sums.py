"""Takes the runs of two sides that asked the same in other statements, as systems of other
languages do; returns the transaction types of which all answers together differ.

Runs are compared by pairs that have one seed and ended as many transactions of the type.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from assay.contracts.observation import AnswerSumReport
from assay.judge.differing_statements import AnsweringRun, DifferingStatement
from assay.text import units

_DIGITS = 8
"""Of a digest, as it is shown."""


def differing(
    a: Sequence[AnsweringRun], b: Sequence[AnsweringRun]
) -> tuple[DifferingStatement, ...]:
    """Each type once, by the first pair of runs that differ."""
    found: dict[str, DifferingStatement] = {}
    for one, other in _pairs(a, b):
        if (one.rows, one.digest) != (other.rows, other.digest):
            shown = _shown(one), _shown(other)
            found.setdefault(one.transaction, DifferingStatement(one.transaction, *shown))
    return tuple(found.values())


def agreement(a: Sequence[AnsweringRun], b: Sequence[AnsweringRun]) -> str:
    """How far they agree, where nothing differs: ``all answers of 2 scripts``; empty: no answers
    were compared."""
    compared = {one.transaction for one, _ in _pairs(a, b)}
    return f"all answers of {units.counted(len(compared), 'script')}" if compared else ""


def _pairs(
    a: Sequence[AnsweringRun], b: Sequence[AnsweringRun]
) -> Iterator[tuple[AnswerSumReport, AnswerSumReport]]:
    there = {
        (run.seed, one.transaction, one.transactions): one
        for run in b
        for one in run.observation.answer_sums
    }
    for run in a:
        for one in run.observation.answer_sums:
            if (other := there.get((run.seed, one.transaction, one.transactions))) is not None:
                yield one, other


def _shown(summed: AnswerSumReport) -> str:
    return f"{units.counted(summed.rows, 'row')} ({summed.digest[:_DIGITS]})"
