"""Takes two sides that have no cell in common; gives the factor that would have to be set aside."""

from __future__ import annotations

from assay.comparison.sides import factors
from assay.comparison.sides.values import Side
from assay.record import Run


def between(a: Side, b: Side) -> str:
    """What ``--between`` may be given so that both have a cell: ``FACTOR``, of several levels
    ``FACTOR=LEVEL,LEVEL``; the narrowest factor where several would do, as a setting of a system.
    Empty: they differ in more than one."""
    of_a, of_b = _one_of_each_cell(a), _one_of_each_cell(b)
    for factor in reversed(factors.known_factors([*of_a, *of_b])):
        own = {factors.identity(run, factor): run for run in reversed(of_a)}
        pairs = [
            (own[identity], run)
            for run in of_b
            if (identity := factors.identity(run, factor)) in own
        ]
        if not pairs:
            continue
        default = factors.default_of([*of_a, *of_b], factor)
        first = [factors.level_of(run, factor, default) for run in pairs[0]]
        if None in first:
            continue
        counts = [len(factors.levels_of(runs, factor, default)) for runs in (of_a, of_b)]
        if max(counts) == 1:
            return factor
        if first[0] != first[1]:
            return f"{factor}={first[0]},{first[1]}"
    return ""


def _one_of_each_cell(side: Side) -> list[Run]:
    return list({run.cell_key: run for _, run in reversed(side.runs)}.values())[::-1]
