"""Takes the runs of a cell; gives those by which it is judged.

Runs that other programs disturbed are left out where at least half of the cell's repetitions, and
two of several, were measured without that: also by runs that were measured again in their place.
Else the last run of each repetition counts, and what is said of the cell includes the disturbance.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from typing import TypeVar

from assay.judge.run import Run
from assay.judge.warnings import machine_load

LEAST = 2
"""Of several: without them nothing is known of how repetitions vary."""
T = TypeVar("T")


def counted(
    runs: Sequence[T], evidence: Callable[[T], Run], repetition: Callable[[T], Hashable]
) -> list[T]:
    """``runs``: those of one cell that were measured, in the order in which they ran;
    ``repetition``: the one that a run was, or in whose place it was measured."""
    undisturbed = [run for run in runs if not machine_load.is_disturbed(evidence(run))]
    last_of = {repetition(run): run for run in runs}
    is_enough = len(undisturbed) >= max(min(LEAST, len(last_of)), len(last_of) / 2)
    return undisturbed if is_enough else [*last_of.values()]
