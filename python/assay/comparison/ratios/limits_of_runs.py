"""Takes runs; gives the worst verdict on them, and the reasons for it."""

from __future__ import annotations

from collections.abc import Iterable

from assay.judge.run import WORDS, Run, RunVerdict


def worst_word(words: Iterable[str]) -> RunVerdict:
    """``valid`` of none."""
    found = set(words)
    return next((word for word in reversed(WORDS) if word in found), WORDS[0])


def reasons_of(runs: Iterable[Run]) -> list[str]:
    """Each once."""
    return list(dict.fromkeys(reason.text for run in runs for reason in run.judged.reasons))
