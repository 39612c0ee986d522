"""Takes runs; gives the worst verdict on them, and the reasons for it."""

from __future__ import annotations

from collections.abc import Iterable

from assay.judge.verdict import WORDS, Word
from assay.record import RunRecord


def worst_word(words: Iterable[str]) -> Word:
    """``valid`` of none."""
    found = set(words)
    return next((word for word in reversed(WORDS) if word in found), WORDS[0])


def reasons_of(runs: Iterable[RunRecord]) -> list[str]:
    """Each once; of runs that are invalid, the reason is one text."""
    found: dict[str, None] = {}
    for run in runs:
        if run.verdict == "indicative":
            found |= dict.fromkeys(run.verdict_reason.split("; "))
        elif run.verdict == "invalid":
            found[run.verdict_reason] = None
    return list(found)
