"""Takes an experiment; gives its questions, one for each factor that varies in a test, with their
conclusions: ratios of its levels with their intervals, or why nothing is decided.

The levels of a named factor (systems, storages, settings) are compared with the best one, those of
a numeric factor (clients) the largest with the smallest, in each combination of the other factors.
Ratios and intervals are those of `assay compare`. The verdicts allow 2 % of false differences over
a question; since the best level is chosen by its numbers, all pairs of levels count.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence

from msgspec import Struct
from msgspec.structs import replace

from assay.comparison import measured_cells, ratios
from assay.comparison.compare_sides import ComparisonOptions, compared_cell
from assay.comparison.measured_cells import Levels, RankedCell, SideCell
from assay.comparison.ratios import Knee, with_verdicts
from assay.comparison.sides import ComparedCell, Difference, Direction, Side
from assay.contracts import factors
from assay.contracts.metric import ReportColumn
from assay.experiment import Scalar
from assay.judge import evidence
from assay.judge.run import RunVerdict
from assay.judge.statistics.estimate import Design
from assay.plan import cell_names
from assay.record import ExperimentRecord, Run
from assay.record.metrics import catalogue
from assay.record.metrics.clients import THROUGHPUT


class Conclusion(Struct, frozen=True):
    """What is known of two levels of a factor."""

    at: Levels
    """The levels of the other factors that vary in the test."""
    level: Scalar
    """The best one; of a numeric factor the largest."""
    compared_with: Scalar
    metric: ReportColumn
    ratio: float | None
    """The metric at ``level``, divided by that at ``compared_with``; None: they are not ranked."""
    low: float | None
    high: float | None
    """Bounds of its 98 % confidence interval; None: there is none."""
    direction: Direction
    reason: str = ""
    """Why nothing is decided; empty where something is, or no difference was seen."""
    durability: tuple[str, str] = ("", "")
    """Of commits at both levels: the class that was measured, ``not measured``, or `IN_MEMORY`;
    empty where nothing is committed."""
    runs_verdict: RunVerdict | None = None
    """The worst of the runs that were measured."""
    runs: tuple[tuple[int, ...], tuple[int, ...]] = ((), ())
    """Numbers of the runs at both levels."""
    other_work: tuple[Difference, ...] = ()
    """As `ComparedCell.other_work`; A: ``compared_with``, B: ``level``."""

    @property
    def is_decided(self) -> bool:
        """Whether one of them is better."""
        return self.direction in (Direction.BETTER, Direction.WORSE)


class Question(Struct, frozen=True):
    test: str
    """With its workload; of scripts that are compared, all of them."""
    factor: str
    is_numeric: bool
    """Whether its levels have an order of their own."""
    conclusions: tuple[Conclusion, ...]
    """In the order of the cells."""
    knees: tuple[tuple[Levels, Knee], ...] = ()
    """Of clients: in each combination of the other factors, where the repetitions decide it, from
    how many on the throughput no longer rises."""


def questions(experiment: ExperimentRecord) -> tuple[Question, ...]:
    """Of each test, in the order of its factors, then of the scripts that are compared; none where
    nothing varies."""
    by_test: dict[str, list[Run]] = {}
    for run in experiment.runs:
        by_test.setdefault(run.full_test_name, []).append(run)
    of_tests = (
        question
        for test, runs in by_test.items()
        for question in _of_test(experiment, test, measured_cells.ranked_cells(runs))
    )
    return (*of_tests, *_of_scripts(experiment))


def _of_scripts(experiment: ExperimentRecord) -> Iterator[Question]:
    """Which script is faster: each is a test of its own."""
    runs = [run for run in experiment.runs if run.is_ad_hoc]
    names = dict.fromkeys(run.full_test_name for run in runs)
    found = measured_cells.ranked_cells(runs) if len(names) > 1 else ()
    yield from _of_factor(experiment, " + ".join(names), factors.SCRIPT.name, found)


def _of_test(
    experiment: ExperimentRecord, test: str, cells: Sequence[RankedCell]
) -> Iterator[Question]:
    for factor in dict.fromkeys(name for cell in cells for name in cell.levels):
        yield from _of_factor(experiment, test, factor, cells)


def _of_factor(
    experiment: ExperimentRecord, test: str, factor: str, cells: Sequence[RankedCell]
) -> Iterator[Question]:
    """None where it does not vary."""
    is_numeric = all(
        isinstance(cell.levels[factor], int | float) and not isinstance(cell.levels[factor], bool)
        for cell in cells
        if factor in cell.levels
    )
    by_place: dict[tuple[tuple[str, Scalar], ...], list[RankedCell]] = {}
    for cell in cells:
        others = tuple((name, level) for name, level in cell.levels.items() if name != factor)
        if factor in cell.levels:
            by_place.setdefault(others, []).append(cell)
    conclusions = _conclusions(experiment, factor, by_place, is_numeric=is_numeric)
    if conclusions:
        found = _knees(by_place) if factor == "clients" else ()
        yield Question(test, factor, is_numeric, conclusions, tuple(found))


def _conclusions(
    experiment: ExperimentRecord,
    factor: str,
    by_place: Mapping[tuple[tuple[str, Scalar], ...], Sequence[RankedCell]],
    *,
    is_numeric: bool,
) -> tuple[Conclusion, ...]:
    pairs = [
        (place, first, second, is_shown)
        for place, cells in by_place.items()
        for first, second, is_shown in _pairs(cells, factor, is_numeric=is_numeric)
    ]
    every = [run for cells in by_place.values() for cell in cells for run in cell.measured]
    disturbed = ratios.why_undecided(every)
    changed = _changed_tables(factor, by_place)
    judged = with_verdicts(
        [_compared(experiment, factor, first, second, disturbed) for _, first, second, _ in pairs]
    )
    return tuple(
        _conclusion(factor, dict(place), first, second, compared, changed)
        for (place, first, second, is_shown), compared in zip(pairs, judged, strict=True)
        if is_shown
    )


def _knees(
    by_place: Mapping[tuple[tuple[str, Scalar], ...], Sequence[RankedCell]],
) -> Iterator[tuple[Levels, Knee]]:
    """Of the levels that are ranked, in a closed loop."""
    for place, cells in by_place.items():
        ranked = [cell for cell in cells if not cell.why_not_ranked]
        runs = [run for cell in ranked for run in cell.measured]
        if ratios.why_undecided(runs) or catalogue.primary(runs) is not THROUGHPUT:
            continue
        curve = [(int(cell.levels["clients"]), cell.measured) for cell in ranked]
        if (found := ratios.knee(curve)) is not None:
            yield dict(place), found


def _pairs(
    cells: Sequence[RankedCell], factor: str, *, is_numeric: bool
) -> Iterator[tuple[RankedCell, RankedCell, bool]]:
    """(what is compared, with what, whether it is a conclusion), each with a number if there are
    two that have one."""
    if len(cells) < 2:
        return
    if is_numeric:
        in_order = sorted(cells, key=lambda cell: float(cell.levels[factor]))
        measured = [cell for cell in in_order if cell.measured]
        ends = measured if len(measured) > 1 else in_order
        yield ends[-1], ends[0], True
        return
    best = measured_cells.best_cell(cells)
    others = [cell for cell in cells if cell is not best]
    yield from ((best, cell, True) for cell in others)
    yield from ((first, second, False) for first, second in itertools.combinations(others, 2))


def _compared(
    experiment: ExperimentRecord, factor: str, first: RankedCell, second: RankedCell, disturbed: str
) -> ComparedCell:
    """B: what is compared; A: with what. ``disturbed``: how other programs disturbed the runs of
    all cells, which is said of each pair that they disturbed, so that it is said once."""
    a, b = (
        SideCell(Side(str(cell.levels[factor]), "", experiment.each, placed), placed)
        for cell in (second, first)
        if (placed := tuple((experiment.place_of(run), run) for run in cell.runs))
    )
    compared = compared_cell("", a, b, ComparisonOptions(factor))
    is_apart = ratios.one_after_the_other(first.measured, second.measured)
    return replace(
        compared,
        not_comparable=first.why_no_number
        or second.why_no_number
        or compared.not_comparable
        or first.why_not_ranked
        or second.why_not_ranked,
        not_decided=disturbed
        if ratios.why_undecided([*first.measured, *second.measured])
        else compared.not_decided or (ratios.SEQUENTIAL if is_apart else ""),
    )


def _conclusion(
    factor: str,
    at: Levels,
    first: RankedCell,
    second: RankedCell,
    compared: ComparedCell,
    changed: Mapping[str, Sequence[str]],
) -> Conclusion:
    names = [cell_names.level_name(factor, cell.levels[factor]) for cell in (first, second)]
    reason = _why_apart(factor, (first, second), names, compared, changed)
    estimate = compared.primary.estimate if not reason else None
    interval = estimate.interval() if estimate else None
    return Conclusion(
        at=at,
        level=first.levels[factor],
        compared_with=second.levels[factor],
        metric=compared.primary.metric,
        ratio=estimate.ratio if estimate else None,
        low=interval[0] if interval else None,
        high=interval[1] if interval else None,
        direction=Direction.UNKNOWN if reason else compared.primary.direction,
        reason=reason or _why_undecided(compared),
        durability=(first.durability, second.durability),
        runs_verdict=compared.runs_verdict,
        runs=(compared.b_runs, compared.a_runs),
        other_work=compared.other_work,
    )


def _why_apart(
    factor: str,
    cells: Sequence[RankedCell],
    names: Sequence[str],
    compared: ComparedCell,
    changed: Mapping[str, Sequence[str]],
) -> str:
    """Why one is not divided by the other; empty: it is. The gravest reason alone: a cell has no
    number; their work is not the same; a number is not the rate of clients at work."""
    placed = [f"{factors.placed(factor)} {name}" for name in names]
    of_cells = list(zip(placed, cells, strict=True))
    no_number = (
        f"no valid number {at}: {cell.why_no_number}" for at, cell in of_cells if cell.why_no_number
    )
    unsteady = (f"{at}: {cell.why_not_ranked}" for at, cell in of_cells if cell.why_not_ranked)
    return next(no_number, "") or _why_not_the_same(names, compared, changed) or next(unsteady, "")


def _why_not_the_same(
    names: Sequence[str], compared: ComparedCell, changed: Mapping[str, Sequence[str]]
) -> str:
    said = []
    for one in compared.differences:
        if one.what not in compared.blocked_by:
            continue
        table = one.name.partition(" of ")[2] if one.what == "data" else ""
        others = " and ".join(level for level in changed.get(table, ()) if level not in names)
        said.append(
            f"{others} changed the data of {table}, which both read, between their runs: measure "
            f"{others} in an experiment of its own"
            if others
            else f"{_DIFFERING.get(one.name, f'different {one.name}')} "
            f"({names[0]}: {one.b or 'none'}; {names[1]}: {one.a or 'none'})"
        )
    return "; ".join(said)


def _changed_tables(
    factor: str, by_place: Mapping[tuple[tuple[str, Scalar], ...], Sequence[RankedCell]]
) -> dict[str, list[str]]:
    """Table → the levels whose runs left something else in it than they found."""
    found: dict[str, list[str]] = {}
    for cell in (cell for cells in by_place.values() for cell in cells):
        level = cell_names.level_name(factor, cell.levels[factor])
        for table in {one for run in cell.measured for one in evidence.changed_tables(run)}:
            if level not in found.setdefault(table, []):
                found[table].append(level)
    return found


_DIFFERING = dict.fromkeys(
    ("durability", "durability by settings"), "their commits are not equally durable"
)
"""What is not the same → in words."""


def _why_undecided(compared: ComparedCell) -> str:
    primary = compared.primary
    if primary.direction is not Direction.UNKNOWN:
        _, is_open, reason = primary.verdict.partition("not decided: ")
        return reason if is_open else ""
    if primary.estimate is None:
        return f"no {primary.metric.label}"
    if primary.estimate.design is Design.SINGLE:
        return "one repetition has no interval"
    return primary.verdict
