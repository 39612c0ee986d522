"""Takes runs of many experiments; gives of each cell its `Trend`: a point for each experiment, in
the order of time, with ratios to the first and to the one before, and change points.

Where an experiment did other work than the one before (another script, other data, less durable),
the trend begins anew: ratios and change points do not reach over this place.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from msgspec import Struct
from msgspec.structs import replace
from numpy.typing import NDArray

from assay.comparison import differences, factors
from assay.comparison.ratios import benjamini_hochberg, reasons_of, worst_word
from assay.comparison.sides import Difference
from assay.contracts.metric import ReportColumn
from assay.judge import machine_load
from assay.judge.run import RunVerdict
from assay.judge.statistics.estimate import SIGNIFICANCE, Estimate, center, independent
from assay.judge.statistics.samples import UNREACHED
from assay.record import Run
from assay.record.metrics import catalogue
from assay.record.runs import run_names


class TrendPoint(Struct, frozen=True):
    """A cell in one experiment."""

    record: str
    """The record file."""
    experiment: int
    begun_unix_ns: int
    """Of its first run."""
    values: tuple[float, ...]
    """Of its repetitions."""
    value: float
    """Their geometric mean."""
    runs: tuple[int, ...]
    """Their numbers in the record file."""
    to_first: Estimate | None
    """To the first point that did the same work. None: of that point, and where a value is 0."""
    to_previous: Estimate | None
    adjusted_p: float | None
    """The p-value of a change point here, adjusted for the number of cells; None: it is none."""
    runs_verdict: RunVerdict
    """The worst of its runs."""
    runs_reasons: tuple[str, ...]
    differs: tuple[Difference, ...]
    """From the point before."""

    @property
    def is_first_of_its_work(self) -> bool:
        """Whether nothing before it can be compared with it."""
        return differences.leave_no_verdict(self.differs)


class Trend(Struct, frozen=True):
    name: str
    fingerprint: str
    workload: str
    test: str
    metric: ReportColumn
    points: tuple[TrendPoint, ...]
    left_out: int
    """Runs without a value that counts: not measured, invalid, disturbed by other programs, or
    without this metric, which may be a percentile that was not reached."""

    @property
    def stretches(self) -> list[tuple[int, int]]:
        """Of points that did the same work: the first place of each, and the place after it."""
        return _stretches(self.points)

    @property
    def is_long_enough(self) -> bool:
        return any(end - begin >= LEAST_VALUES for begin, end in self.stretches)

    @property
    def segment_means(self) -> tuple[float, ...]:
        """For each point the mean of all points between two changes."""
        values = [point.value for point in self.points]
        begins = [
            place
            for place, one in enumerate(self.points)
            if one.adjusted_p is not None or one.is_first_of_its_work
        ]
        spans = pairwise([0, *begins, len(values)])
        return tuple(
            mean for begin, end in spans for mean in [center(values[begin:end])] * (end - begin)
        )


Found = Sequence[tuple[str, Run]]
"""Runs, each with its record file."""


def trends(named_runs: Iterable[tuple[str, Run]], metric: str | None = None) -> list[Trend]:
    """Of each cell, in the order of its first run."""
    main = None if metric is None else catalogue.metric(metric)
    cells: dict[str, list[tuple[str, Run]]] = {}
    placed = sorted(named_runs, key=lambda named: named[1].begun_unix_ns or 0)
    runs_named = run_names.named([run for _, run in placed])
    of_identity: dict[str, str] = {}
    for (record, _), run in zip(placed, runs_named, strict=True):
        cells.setdefault(_place(run, of_identity), []).append((record, run))
    named = factors.names([runs[0][1] for runs in cells.values()])
    return _with_changes(
        [_trend(name, runs, main) for name, runs in zip(named, cells.values(), strict=True)]
    )


def _place(run: Run, of_identity: dict[str, str]) -> str:
    """The first fingerprint of its cell: an edited script goes on with the trend of what was at its
    path, where the point differs from the one before."""
    known_by = run.cell_fingerprint, f"at {factors.identity_by_paths(run, '')}"
    known = [of_identity[one] for one in known_by if one in of_identity]
    place = known[0] if known else run.cell_fingerprint
    for one in known_by:
        of_identity.setdefault(one, place)
    return place


def _trend(name: str, runs: Found, main: ReportColumn | None) -> Trend:
    counted = [one for one in runs if one[1].is_measured and one[1].verdict != "invalid"]
    chosen = main or catalogue.primary([run for _, run in counted])
    counted = [one for one in counted if chosen.result(one[1]) not in (None, UNREACHED)]
    of_experiments: dict[tuple[str, int], list[Run]] = {}
    seen = set()
    for record, run in counted:
        if run.identity not in seen:  # a file that was merged into another has the same runs
            seen.add(run.identity)
            of_experiments.setdefault((record, run.experiment_id), []).append(run)
    of_experiments = {
        place: machine_load.undisturbed_runs(
            several, lambda run: run, lambda run: run.key_of_repetition
        )
        for place, several in of_experiments.items()
    }
    points: list[TrendPoint] = []
    first_of_work: TrendPoint | None = None
    last: Run | None = None
    for (record, _), several in of_experiments.items():
        before = (first_of_work, points[-1]) if first_of_work else None
        point = _point(record, several, chosen, before, last)
        if before is None or point.is_first_of_its_work:
            first_of_work = point
        points.append(point)
        last = several[-1]
    first = runs[0][1]
    return Trend(
        name,
        first.cell_fingerprint,
        first.workload,
        first.test_name,
        chosen,
        tuple(points),
        len(runs) - len(counted) + len(seen) - sum(map(len, of_experiments.values())),
    )


def _point(
    record: str,
    runs: Sequence[Run],
    metric: ReportColumn,
    before: tuple[TrendPoint, TrendPoint] | None,
    previous: Run | None,
) -> TrendPoint:
    """``before``: the first point of the work before, and the last one; ``previous``: the last run
    of that."""
    differs = differences.of_following_runs(previous, runs[0]) if previous else ()
    comparable = None if differences.leave_no_verdict(differs) else before
    values = tuple(float(value) for run in runs if (value := metric.result(run)) is not None)
    return TrendPoint(
        record=record,
        experiment=runs[0].experiment_id,
        begun_unix_ns=min(run.begun_unix_ns or 0 for run in runs),
        values=values,
        value=center(values),
        runs=tuple(run.id for run in runs),
        to_first=_ratio(metric, comparable[0].values, values) if comparable else None,
        to_previous=_ratio(metric, comparable[-1].values, values) if comparable else None,
        adjusted_p=None,
        runs_verdict=worst_word(run.verdict for run in runs),
        runs_reasons=tuple(reasons_of(runs)),
        differs=differs,
    )


def _ratio(metric: ReportColumn, a: Sequence[float], b: Sequence[float]) -> Estimate | None:
    return independent(a, b, metric.least_deviation) if min(*a, *b) > 0 else None


def _stretches(points: Sequence[TrendPoint]) -> list[tuple[int, int]]:
    """`Trend.stretches`."""
    begins = [place for place, one in enumerate(points) if place and one.is_first_of_its_work]
    return list(pairwise([0, *begins, len(points)]))


def _with_changes(trends: Sequence[Trend]) -> list[Trend]:
    """The change points of all together: their p-values are adjusted for their number."""
    places = [
        (number, begin, end) for number, one in enumerate(trends) for begin, end in one.stretches
    ]
    series = [
        _searched([point.value for point in trends[number].points[begin:end]])
        for number, begin, end in places
    ]
    changes = {
        (number, begin + place): p
        for (number, begin, _), of_series in zip(places, change_points(series), strict=True)
        for place, p in of_series
    }
    return [
        replace(
            one,
            points=tuple(
                replace(point, adjusted_p=changes.get((number, place)))
                for place, point in enumerate(one.points)
            ),
        )
        for number, one in enumerate(trends)
    ]


def _searched(values: Sequence[float]) -> Sequence[float]:
    """In what changes are looked for: in logarithms, as ratios are; where a value is 0, which has
    none, in ranks."""
    if all(value > 0 for value in values):
        return [math.log(value) for value in values]
    from scipy.stats import rankdata  # here, so that the help of a command does without SciPy

    return [float(rank) for rank in rankdata(values)]


LEAST_VALUES = 9
"""With fewer no order of the values is rare enough: of 8, a change in the middle has 1/35."""
_LEAST_SIDE = 2
_LEAST_ORDERS = 4999
_ORDERS_PER_SERIES = 200
"""So that the smallest p-value, times the number of series, is far below the limit."""
_ENOUGH = 50
_MOST_AT_ONCE = 1000
_MOST_VALUES_AT_ONCE = 1_000_000
"""In memory, of the orders that are tried at a time."""
_SEED = 1
"""The same values always have the same change points."""

Floats = NDArray[np.float64]


class ChangePoint(NamedTuple):
    place: int
    """Of the first value after the change."""
    adjusted_p: float


class _Split(NamedTuple):
    """Of the values of one part, where the means differ most."""

    place: int
    p_value: float


def change_points(series: Sequence[Sequence[float]]) -> list[list[ChangePoint]]:
    """Of each series, in their order."""
    values = [np.asarray(one, dtype=np.float64) for one in series]
    orders = max(
        _LEAST_ORDERS, _ORDERS_PER_SERIES * sum(len(one) >= LEAST_VALUES for one in values)
    )
    known = [(place, split) for place, one in enumerate(values) if (split := _split(one, orders))]
    adjusted = benjamini_hochberg([split.p_value for _, split in known])
    changed = [(*one, p) for one, p in zip(known, adjusted, strict=True) if p <= SIGNIFICANCE]
    found: list[list[ChangePoint]] = [[] for _ in series]
    for place, split, p in changed:
        sides = _sides(values[place], split.place, 0, orders, len(known) / len(changed))
        found[place] = sorted([ChangePoint(split.place, p), *sides])
    return found


def _sides(
    values: Floats, middle: int, first: int, orders: int, adjustment: float
) -> list[ChangePoint]:
    """Change points on both sides of ``middle``; ``first`` is the place of the first value."""
    found = []
    for begin, part in ((0, values[:middle]), (middle, values[middle:])):
        split = _split(part, orders)
        if split is not None and (p := min(1.0, adjustment * split.p_value)) <= SIGNIFICANCE:
            found.append(ChangePoint(first + begin + split.place, p))
            found += _sides(part, split.place, first + begin, orders, adjustment)
    return found


def _split(values: Floats, orders: int) -> _Split | None:
    """None: there are too few values."""
    if len(values) < LEAST_VALUES:
        return None
    statistics = _statistics(values[np.newaxis, :])[0]
    place = int(np.argmax(statistics))
    # Sums in another order differ in their last digits.
    limit = float(statistics[place]) * (1 - 1e-9)
    return _Split(place + _LEAST_SIDE, _p_value(values, limit, orders))


def _p_value(values: Floats, limit: float, orders: int) -> float:
    """The share of random orders of the values whose statistic is as great as ``limit``."""
    chance = np.random.default_rng(_SEED)
    at_once = max(1, min(_MOST_AT_ONCE, _MOST_VALUES_AT_ONCE // len(values)))
    found = 0
    for begin in range(0, orders, at_once):
        rows = np.tile(values, (min(at_once, orders - begin), 1))
        (as_great,) = (_statistics(chance.permuted(rows, axis=1)).max(axis=1) >= limit).nonzero()
        if found + len(as_great) >= _ENOUGH:
            return _ENOUGH / (begin + int(as_great[_ENOUGH - found - 1]) + 1)
        found += len(as_great)
    return (1 + found) / (1 + orders)


def _statistics(rows: Floats) -> Floats:
    """Of each row, the statistic at every place that has enough values on both sides."""
    count = rows.shape[1]
    left = np.arange(_LEAST_SIDE, count - _LEAST_SIDE + 1)
    sums = np.cumsum(rows, axis=1)
    total = sums[:, -1:]
    before = sums[:, left - 1]
    difference = np.abs((total - before) / (count - left) - before / left)
    found: Floats = difference * np.sqrt(left * (count - left) / count)
    return found
