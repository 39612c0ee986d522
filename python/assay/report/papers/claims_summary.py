"""Takes judged claims; returns the lines that stand for them where a run ends."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from assay.report.papers.claim_case import JudgedClaim
from assay.report.papers.judgement import Outcome
from assay.text import units

_MOST_CONTRADICTED = 8
"""Claims that are named at the end of a run; the table has all."""
_MOST_REASONS = 2
"""Of open claims; the table has all."""


def summary(found: Sequence[JudgedClaim]) -> str:
    """``7 judgements: 3 confirmed, 1 contradicted, 3 open (2: one repetition; 1: no value)``."""
    outcomes = Counter(one.outcome for one in found)
    counts = ", ".join(f"{outcomes[one]} {one}" for one in Outcome if outcomes[one])
    why = Counter(one.reason for one in found if one.outcome is Outcome.OPEN).most_common()
    reasons = [f"{number}: {reason}" for reason, number in why[:_MOST_REASONS]]
    if others := sum(number for _, number in why[_MOST_REASONS:]):
        reasons.append(f"{others}: other reasons")
    behind = f" ({'; '.join(reasons)})" if reasons else ""
    return f"{units.counted(len(found), 'judgement')}: {counts}{behind}"


def contradicted(found: Sequence[JudgedClaim]) -> Iterator[str]:
    """``contradicted:  CLAIM; measured x 0.63 (0.58 to 0.69): reversed``: a line for each claim
    that these measurements contradict; of many the first."""
    against = [one for one in found if one.outcome is Outcome.CONTRADICTED]
    for one in against[:_MOST_CONTRADICTED]:
        of = f", {one.of}" if one.of else ""
        yield f"{one.outcome}:  {one.claim.shown}{of}; measured {one.measured}: {one.reason}"
    if len(against) > _MOST_CONTRADICTED:
        yield f"and {len(against) - _MOST_CONTRADICTED} more"
