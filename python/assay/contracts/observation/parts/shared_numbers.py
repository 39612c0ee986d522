"""How far the numbers have come that all clients share (``\\next``)."""

from __future__ import annotations

from collections.abc import Iterable

from assay.contracts.observation.parts.shape import Shape


class SharedNumbersDocument(Shape, frozen=True):
    """The numbers of one name; the next clients on the same data go on from here."""

    name: str
    """The variable of ``\\next``."""
    taken: int
    """Above every number that was taken."""
    acknowledged: int
    """All numbers below it are of transactions that ended ``ok``."""


def numbers_of_all(
    parts: Iterable[Iterable[SharedNumbersDocument]],
) -> tuple[SharedNumbersDocument, ...]:
    """Those of several drives; where they share a name, the last."""
    return tuple({one.name: one for part in parts for one in part}.values())
