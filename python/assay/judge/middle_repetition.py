"""Takes the observations of a cell's repetitions; gives the one that is shown where a single run is
taken apart: its transaction types, statements, seconds. Numbers of the cell are medians.
"""

from __future__ import annotations

from collections.abc import Sequence

from assay.contracts.observation import Observation


def middle(observations: Sequence[Observation | None]) -> int | None:
    """The place of the one with the median throughput; of an even number, of the faster of the
    middle two. None where no clients were driven."""
    timed = [
        (one.elapsed_ns / max(1, one.of_clients.outcomes.ok), place)
        for place, one in enumerate(observations)
        if one is not None
    ]
    timed.sort(key=lambda timed_run: timed_run[0])
    return timed[(len(timed) - 1) // 2][1] if timed else None
