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
_UNDECIDED = {ClaimVerdict.NO_ORDER, ClaimVerdict.NOT_DECIDED, ClaimVerdict.NOT_COMPARABLE}
_OPEN = "open"
_OUTCOMES = ("confirmed", "contradicted", _OPEN)
_MOST_CONTRADICTED = 8
"""Claims that are named at the end of a run; the table has all."""


def summary(found: Sequence[JudgedClaim]) -> str:
    """``7 judgements: 3 confirmed, 1 contradicted, 3 open (3 not comparable)``."""
    outcomes = Counter(map(_outcome, found))
    counts = ", ".join(
        f"{outcomes[outcome]} {outcome}" for outcome in _OUTCOMES if outcomes[outcome]
    )
    why = Counter(one.word for one in found if _outcome(one) == _OPEN)
    reasons = ", ".join(f"{number} {word}" for word, number in why.most_common())
    behind = f" ({reasons})" if reasons else ""
    return f"{units.counted(len(found), 'judgement')}: {counts}{behind}"


def _outcome(claim: JudgedClaim) -> str:
    """Confirmed, contradicted, or open."""
    if claim.word in _AGAINST:
        return "contradicted"
    return _OPEN if claim.word in _UNDECIDED else "confirmed"


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
