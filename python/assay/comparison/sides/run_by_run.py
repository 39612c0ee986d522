"""Takes the runs of two sides, and what is read of each run; gives a difference where that is not
the same run by run."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TypeVar

from assay.comparison.sides.values import Difference, joined
from assay.record import ExperimentRecord, RunRecord

_R = TypeVar("_R", RunRecord, ExperimentRecord)


def differing(
    what: str,
    name: str,
    a: Sequence[RunRecord],
    b: Sequence[RunRecord],
    read: Callable[[RunRecord], str],
) -> Iterator[Difference]:
    """Where the sides have other values, or a repetition has several: then both may hold the same
    set of values, and no run of one did the work of its partner on the other."""
    values = each(a, b, read)
    of_repetitions: dict[int, set[str]] = {}
    for run in (*a, *b):
        if value := read(run):
            of_repetitions.setdefault(run.of_repetition, set()).add(value)
    if values[0] != values[1] or any(len(found) > 1 for found in of_repetitions.values()):
        yield Difference(what, name, *values)


def each(a: Sequence[_R], b: Sequence[_R], read: Callable[[_R], str]) -> tuple[str, str]:
    """What is read of the runs or experiments of each side, each value once."""
    return joined(map(read, a)), joined(map(read, b))
