"""Takes the runs of two cells; gives why no verdict may be decided from them: other programs used
the machine meanwhile, or one cell was measured after the other, so that their difference includes
what changed on the machine between them, or what a cell was measured on changed between its
repetitions."""

from __future__ import annotations

import statistics
from collections.abc import Iterable, Sequence

from assay.judge.run import CellKey, Run
from assay.judge.warnings import cell_changes, kinds, machine_load

_MOST_OF_OTHERS = 0.9
"""Beyond this share of the processors a bound says nothing."""
SEQUENTIAL = 'measured one after the other, not interleaved (order = "interleaved")'


def why_undecided(runs: Iterable[Run]) -> str:
    """Of cells of one experiment: that their repetitions differ, or that they were disturbed."""
    runs = list(runs)
    return why_changed(runs) or why_disturbed(runs)


def why_disturbed(runs: Iterable[Run]) -> str:
    """``other programs used 23 % of the processors``; empty where no warning forbids deciding."""
    disturbed = [
        (machine_load.other_programs(run) or 0.0, warning.detail.rpartition(": ")[2])
        for run in runs
        for warning in run.warnings
        if warning.name in kinds.undeciding()
    ]
    if not disturbed:
        return ""
    _, worst = max(disturbed, key=lambda pair: pair[0])
    return worst + (f" in the worst of {len(disturbed)} such runs" if len(disturbed) > 1 else "")


def factor_of_others(a: Sequence[Run], b: Sequence[Run]) -> float | None:
    """The greatest factor between two cells that other programs can explain; None: not bounded, as
    they took nearly all processors, or as something else forbids deciding, too. With a share *s* of
    the processors used by others, a run did at least 1 - *s* of what it could; the square of that
    allows as much again for waiting behind them. A cell is compared by the geometric mean of its
    runs, and so is the factor of those that were disturbed."""
    names = {warning.name for run in (*a, *b) for warning in run.warnings}
    if names & kinds.undeciding() != {kinds.WarningKind.OTHER_PROGRAMS.id}:
        return None
    factors = [_mean_factor(side) for side in (a, b)]
    known = [one for one in factors if one is not None]
    return max(known) if len(known) == len(factors) and max(known) > 1 else None


def _mean_factor(runs: Sequence[Run]) -> float | None:
    """Of one side."""
    shares = [
        machine_load.other_programs(run) or 0.0
        if any(one.name == kinds.WarningKind.OTHER_PROGRAMS.id for one in run.warnings)
        else 0.0
        for run in runs
    ]
    if not shares or max(shares) > _MOST_OF_OTHERS:
        return None
    return statistics.geometric_mean([(1 - share) ** -2 for share in shares])


def why_changed(runs: Iterable[Run]) -> str:
    """``repetitions differ: version 15.18 in runs 1-2, 18.6 in run 3``; empty where all repetitions
    of each cell found the same."""
    of_cells: dict[CellKey, list[Run]] = {}
    for run in runs:
        if run.is_measured:
            of_cells.setdefault(run.cell_key, []).append(run)
    changed = filter(None, map(cell_changes.changes, of_cells.values()))
    return next((f"repetitions differ: {what}" for what in changed), "")


def one_after_the_other(a: Sequence[Run], b: Sequence[Run]) -> bool:
    """Whether all runs of one cell ended before the first of the other began, on one machine: what
    changes on a machine changes nothing on another. Of a cell that was run once, nothing is decided
    anyway."""
    if not {run.machine_name for run in a} & {run.machine_name for run in b}:
        return False
    spans = [_span(runs) for runs in (a, b)]
    if min(len(a), len(b)) < 2 or None in spans:
        return False
    (first_begun, first_ended), (other_begun, other_ended) = filter(None, spans)
    return first_ended <= other_begun or other_ended <= first_begun


def _span(runs: Sequence[Run]) -> tuple[int, int] | None:
    """From the first begin to the last end; None where one of them is not known."""
    times = [(run.begun_unix_ns, run.ended_unix_ns) for run in runs]
    begun = [one for one, _ in times if one is not None]
    ended = [one for _, one in times if one is not None]
    if not times or len(begun) < len(times) or len(ended) < len(times):
        return None
    return min(begun), max(ended)
