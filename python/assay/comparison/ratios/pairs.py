"""Takes the runs of a cell on two sides; gives them in pairs where they were interleaved: the same
repetition of both ran one after the other, before or after all other pairs.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from assay.comparison.sides.values import PlacedRun
from assay.judge.run import Run

Pairs = list[tuple[Run, Run]]
_FEW = 4
"""So many pairs may begin with the same side by chance."""


def interleaved(a: Sequence[PlacedRun], b: Sequence[PlacedRun]) -> Pairs | None:
    """The pairs, of equal places and repetitions; of a repetition that was measured again, the last
    run of each side. None where they overlap in time, as those of two experiments that ran one
    after the other do, or where there are fewer than two."""
    ours, theirs = ({(place, run.of_repetition): run for place, run in side} for side in (a, b))
    found = [(run, theirs[key]) for key, run in ours.items() if key in theirs]
    spans = []
    for left, right in found:
        begun = [left.begun_unix_ns, right.begun_unix_ns]
        ended = [left.ended_unix_ns, right.ended_unix_ns]
        known = [one for one in (*begun, *ended) if one is not None]
        if len(known) < 4:
            return None
        spans.append((min(known), max(known)))
    spans.sort()
    if len(found) < 2 or any(one[1] > other[0] for one, other in pairwise(spans)):
        return None
    return found


def always_first(pairs: Pairs) -> bool:
    """Whether the same side ran first in each of several pairs."""
    first = {(left.begun_unix_ns or 0) < (right.begun_unix_ns or 0) for left, right in pairs}
    return len(pairs) > _FEW and len(first) == 1
