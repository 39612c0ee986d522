"""Takes the cells of a grid and their values; returns the one that is better than all others, or
the two that are."""

from __future__ import annotations

import statistics
from collections.abc import Mapping, Sequence

from assay.comparison.sides.ranked_cells import Levels, RankedCell
from assay.contracts.metric import Metric
from assay.judge.statistics import factorial

_MOST = 2
"""Where more cells are alike, the sentences of the factors that do not matter say so."""


def best_cells(
    cells: Mapping[factorial.Place, RankedCell],
    values: Mapping[factorial.Place, Sequence[float]],
    metric: Metric,
) -> tuple[Levels, ...]:
    """Their levels, the better median first; empty where no two cells stand apart: no repetition
    of another one may be as good as the least good of these."""
    sign = 1 if metric.is_more_better else -1
    of_cells = {place: [sign * value for value in values[place]] for place in cells}
    order = sorted(cells, key=lambda place: statistics.median(of_cells[place]), reverse=True)
    for count in range(1, min(_MOST, len(order) - 1) + 1):
        best, others = order[:count], order[count:]
        least = min(min(of_cells[place]) for place in best)
        if all(max(of_cells[place]) < least for place in others):
            return tuple(cells[place].levels for place in best)
    return ()
