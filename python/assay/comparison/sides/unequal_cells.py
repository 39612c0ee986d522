"""Takes the cells of two sides; gives those that only one side has, each with the nearest cell of
the other."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from assay.comparison.sides import differences, factors
from assay.comparison.sides.side_cells import SideCell
from assay.comparison.sides.values import UnequalCell


def unequal_cells(
    a: Mapping[str, SideCell], b: Mapping[str, SideCell], between: str
) -> tuple[UnequalCell, ...]:
    """Those of A first. Cells are given by their identity, apart from the factor ``between``."""
    return (*_alone(a, b, between), *_alone(b, a, between))


def _alone(
    own: Mapping[str, SideCell], other: Mapping[str, SideCell], between: str
) -> Iterator[UnequalCell]:
    alone = [cell for identity, cell in own.items() if identity not in other]
    every = [cell.first for cell in (*alone, *other.values())]
    named = factors.names(every, between)
    documents = [factors.identifying(run) for run in every]
    for place, cell in enumerate(alone):
        name = cell.side.name
        nearest, fewest = "", None
        for candidate in range(len(alone), len(every)):
            if factors.test_of(every[candidate], between) != factors.test_of(cell.first, between):
                continue
            both = (place, candidate) if name == "A" else (candidate, place)
            differing = differences.of_unequal_cells(*(documents[one] for one in both))
            if fewest is None or len(differing) < len(fewest):
                nearest, fewest = named[candidate], differing
        yield UnequalCell(name, named[place], nearest, fewest or ())
