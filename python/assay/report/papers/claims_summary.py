"""Takes judged claims; returns the lines that stand for them where a run ends."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from assay.report.papers.claim_case import JudgedClaim
from assay.report.papers.judgement import ClaimVerdict
from assay.text import units

_AGAINST = {
    ClaimVerdict.REVERSED,
    ClaimVerdict.PARTLY_REVERSED,
    ClaimVerdict.DIFFERENT,
    ClaimVerdict.GROWS_FASTER,
    ClaimVerdict.GROWS_SLOWER,
    ClaimVerdict.DOES_NOT_HOLD,
}
_MOST_CONTRADICTED = 8
"""Claims that are named at the end of a run; the table has all."""


def summary(found: Sequence[JudgedClaim]) -> str:
    """``7 judgements: 4 same order, 3 not comparable``."""
    words = Counter(one.word for one in found)
    counts = ", ".join(f"{number} {word}" for word, number in words.most_common())
    return f"{units.counted(len(found), 'judgement')}: {counts}"


def contradicted(found: Sequence[JudgedClaim]) -> Iterator[str]:
    """``reversed:  CLAIM; measured x 0.63 (0.58 to 0.69)``: a line for each claim that these
    measurements contradict; of many the first."""
    against = [one for one in found if one.word in _AGAINST]
    for one in against[:_MOST_CONTRADICTED]:
        of = f", {one.of}" if one.of else ""
        why = f" ({one.why})" if one.why else ""
        yield f"{one.word}:  {one.claim.shown}{of}; measured {one.measured}{why}"
    if len(against) > _MOST_CONTRADICTED:
        yield f"and {len(against) - _MOST_CONTRADICTED} more"
