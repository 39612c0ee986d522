"""Takes an experiment that varies settings of a system in a grid; gives for each test what each
factor changes over all of the grid, and which two change each other's effect.

Statistics: `assay.judge.statistics.estimate`. Cells that were not measured, or whose numbers do
not count, are left out, with the combinations of the other factors in which they would be needed.
"""

from __future__ import annotations

import itertools
import math
import statistics
from collections.abc import Iterable, Iterator, Mapping, Sequence

from msgspec import Struct
from msgspec.structs import replace

from assay.comparison import measured_cells, ratios
from assay.comparison.compare_sides import ComparisonOptions, compared_cell
from assay.comparison.measured_cells import Levels, RankedCell, SideCell
from assay.comparison.ratios import LEAST_REPETITIONS, holm, worst_word
from assay.comparison.sides import Difference, Side
from assay.contracts.metric import ReportColumn
from assay.experiment import Scalar
from assay.judge.run import RunVerdict
from assay.judge.statistics import estimate
from assay.judge.statistics.estimate import SIGNIFICANCE, Estimate
from assay.plan import cell_names
from assay.record import ExperimentRecord, Run
from assay.record.metrics import catalogue

_MOST_CELLS = 512
"""Of a larger grid each two cells take too long to compare."""
_SAID_ALONE = ("durability",)
"""Differences that are said beside an effect, since the setting causes them."""


class Change(Struct, frozen=True):
    factor: str
    level: Scalar
    compared_with: Scalar


class Effect(Struct, frozen=True):
    """What a factor changes; or, of two factors, how much the effect of the first depends on the
    level of the second."""

    of: tuple[Change, ...]
    """One change; two of an interaction."""
    ratio: float
    """The metric at ``level``, divided by that at ``compared_with``: the geometric mean over the
    combinations of the other factors. Of an interaction: that ratio at the second factor's
    ``level``, divided by the one at its ``compared_with``."""
    low: float | None
    high: float | None
    """Bounds of its 98 % confidence interval; None: there is none."""
    p_value: float | None
    adjusted_p: float | None
    """For all effects and interactions of the test (Holm)."""
    combinations: int
    """Of the other factors, in which all levels were measured."""
    reason: str = ""
    """Why nothing is decided; empty: the interval decides."""
    durability: tuple[str, str] = ("", "")
    """Of commits at ``level`` and ``compared_with``, where they differ."""

    @property
    def is_seen(self) -> bool:
        return not self.reason and self.adjusted_p is not None and self.adjusted_p <= SIGNIFICANCE

    @property
    def is_interaction(self) -> bool:
        return len(self.of) > 1

    @property
    def is_decided(self) -> bool:
        """Whether the runs say that there is an effect, or that none was seen."""
        return not self.reason and self.adjusted_p is not None


class SettingEffects(Struct, frozen=True):
    """Of a test, from all runs of its grid."""

    test: str
    """With its workload."""
    metric: ReportColumn
    effects: tuple[Effect, ...]
    """Of single factors, then interactions; those that are seen first, the greatest first."""
    cells: int
    """Of the grid."""
    runs: int
    """Behind the effects."""
    left_out: tuple[str, ...]
    """Cells that do not count, each with the reason."""
    reason: str
    """Why nothing at all is decided; empty: something is."""
    is_pooled: bool
    """Each cell was run once: the error is that of interactions of three and more factors."""
    runs_verdict: RunVerdict | None
    """The worst of the runs."""
    best: tuple[Levels, ...]
    """The levels of the best cell, or of the best two; empty: none stands apart."""


def effects(experiment: ExperimentRecord) -> tuple[SettingEffects, ...]:
    """Of each test in which two factors or more vary in a full grid, a setting or the machine among
    them."""
    by_test: dict[str, list[Run]] = {}
    for run in experiment.runs:
        by_test.setdefault(run.full_test_name, []).append(run)
    found = (_of_test(experiment, test, runs) for test, runs in by_test.items())
    return tuple(one for one in found if one is not None)


def _of_test(experiment: ExperimentRecord, test: str, runs: Sequence[Run]) -> SettingEffects | None:
    cells = measured_cells.ranked_cells(runs)
    factors = list(dict.fromkeys(name for cell in cells for name in cell.levels))
    if not _is_grid(cells, factors) or not _has_setting(runs, factors):
        return None
    levels = [_in_order(cells, factor) for factor in factors]
    every_factor = [*zip(factors, levels, strict=True)]
    places = {
        tuple(of.index(cell.levels[factor]) for factor, of in every_factor): cell for cell in cells
    }
    metric = catalogue.primary([run for cell in cells for run in cell.measured])
    if metric.measured_once is not None:
        return None
    values = {place: _values(metric, cell) for place, cell in places.items()}
    most = max(map(len, values.values()))
    left_out = {
        place: why for place, cell in places.items() if (why := _why_not(cell, values[place], most))
    }
    counted = {place: cell for place, cell in places.items() if place not in left_out}
    if not counted:
        return None
    every = [run for cell in counted.values() for run in cell.measured]
    statistic = estimate.factorial(
        {place: values[place] for place in counted},
        in_blocks=experiment.experiment.order != "sequential" and not experiment.parts,
        least_deviation=metric.least_deviation,
    )
    reason = ratios.why_undecided(every) if metric.depends_on_machine else ""
    if not reason and not statistic.has_error:
        reason = "one repetition has no interval"
    fewest = min(len(of_cell) for of_cell in (values[place] for place in counted))
    found = [
        replace(effect, reason=effect.reason or reason)
        for effect in _effects(experiment, factors, levels, counted, statistic, metric)
    ]
    if not found:
        return None
    return SettingEffects(
        test,
        metric,
        tuple(_sorted(_adjusted(found, is_few=1 < fewest < LEAST_REPETITIONS))),
        cells=len(cells),
        runs=len(every),
        left_out=tuple(
            f"{_name(places[place], factors)}: {why}" for place, why in left_out.items()
        ),
        reason=reason,
        is_pooled=statistic.is_pooled,
        runs_verdict=worst_word(run.verdict for run in every),
        best=() if reason else best_cells(counted, values, metric),
    )


def _is_grid(cells: Sequence[RankedCell], factors: Sequence[str]) -> bool:
    """Whether each combination of the levels is one cell."""
    if len(factors) < 2 or not 4 <= len(cells) <= _MOST_CELLS:
        return False
    if any(factor not in cell.levels for cell in cells for factor in factors):
        return False
    whole = math.prod(len({cell.levels[factor] for cell in cells}) for factor in factors)
    return whole == len(cells) == len({tuple(cell.levels.items()) for cell in cells})


def _has_setting(runs: Sequence[Run], factors: Sequence[str]) -> bool:
    """Of a system, of the machine, or of what a system is given of it."""
    of_machine = cell_names.varying_machines(run.server_machine for run in runs)
    of_system = cell_names.varying_settings((run.cell for run in runs), set())
    names = {
        cell_names.MACHINE,
        *of_machine,
        *of_system,
        *(f"{runs[0].system}.{name}" for name in of_system),
    }
    return bool(names & set(factors))


def _in_order(cells: Sequence[RankedCell], factor: str) -> list[Scalar]:
    """Numbers by size, names as they were asked for."""
    levels = list(dict.fromkeys(cell.levels[factor] for cell in cells))
    return sorted(levels, key=float) if _is_numeric(levels) else levels


def _is_numeric(levels: Iterable[Scalar]) -> bool:
    return all(isinstance(one, int | float) and not isinstance(one, bool) for one in levels)


def _values(metric: ReportColumn, cell: RankedCell) -> list[float]:
    found = (metric.result(run) for run in cell.measured)
    return [float(value) for value in found if value is not None and math.isfinite(value)]


def _why_not(cell: RankedCell, values: Sequence[float], most: int) -> str:
    """Why a cell does not count; empty: it does. ``most``: repetitions of any cell."""
    if why := cell.why_not_ranked:
        return why
    if not values or min(values) <= 0:
        return "no value above 0"
    return "one repetition" if len(values) == 1 < most else ""


def _effects(
    experiment: ExperimentRecord,
    factors: Sequence[str],
    levels: Sequence[Sequence[Scalar]],
    counted: dict[estimate.Place, RankedCell],
    statistic: estimate.Factorial,
    metric: ReportColumn,
) -> Iterator[Effect]:
    """Named levels are compared with the first, of numbers the largest with the smallest; the
    better one of two named levels stands first."""
    sides: dict[tuple[int, int, int], str] = {}
    for factor, of_factor in enumerate(levels):
        last = len(of_factor) - 1
        chosen = [last] if _is_numeric(of_factor) else range(1, last + 1)
        for level in chosen:
            side = (factor, level, 0)
            if (found := estimate.effect(statistic, *side)) is None:
                continue
            is_better = (found[0].log_ratio > 0) == metric.is_more_better
            if last == 1 and not _is_numeric(of_factor) and not is_better:
                side = (factor, 0, 1)
                found = estimate.effect(statistic, *side) or found
            change = Change(factors[factor], of_factor[side[1]], of_factor[side[2]])
            sides[side], durability = _apart(experiment, counted, side, change.factor)
            yield replace(_effect((change,), *found), reason=sides[side], durability=durability)
    for first, second in itertools.combinations(sides, 2):
        if first[0] == second[0]:
            continue
        if (found := estimate.interaction(statistic, first, second)) is not None:
            changes = tuple(
                Change(factors[factor], levels[factor][level], levels[factor][other])
                for factor, level, other in (first, second)
            )
            reason = sides[first] or sides[second]
            yield replace(_effect(changes, *found), reason=reason)


def _effect(of: tuple[Change, ...], estimate: Estimate, combinations: int) -> Effect:
    interval = estimate.interval()
    low, high = interval if interval else (None, None)
    return Effect(of, estimate.ratio, low, high, estimate.p_value, None, combinations)


def _adjusted(effects: Sequence[Effect], *, is_few: bool) -> list[Effect]:
    """With p-values for all of them; with two repetitions that none was seen says nothing."""
    known = [one for one in effects if one.p_value is not None and not one.reason]
    values = iter(holm([one.p_value or 0.0 for one in known]))
    adjusted = [
        replace(one, adjusted_p=next(values)) if one.p_value is not None and not one.reason else one
        for one in effects
    ]
    if not is_few:
        return adjusted
    few = f"2 repetitions are too few for {len(effects)} effects"
    return [one if one.is_seen or one.reason else replace(one, reason=few) for one in adjusted]


def _sorted(effects: Sequence[Effect]) -> list[Effect]:
    return sorted(
        effects,
        key=lambda effect: (
            effect.is_interaction,
            not effect.is_seen,
            -abs(math.log(effect.ratio)),
        ),
    )


def _apart(
    experiment: ExperimentRecord,
    counted: dict[estimate.Place, RankedCell],
    side: tuple[int, int, int],
    factor: str,
) -> tuple[str, tuple[str, str]]:
    """Why the levels are not compared: at one of them the work or the answers are others. And how
    durable commits are at both, where they are not equally durable."""
    durability = ("", "")
    for first, second in _pairs(counted, side):
        a, b = (
            SideCell(Side(str(cell.levels[factor]), "", experiment.each, placed), placed)
            for cell in (second, first)
            if (placed := tuple((experiment.place_of(run), run) for run in cell.runs))
        )
        compared = compared_cell("", a, b, ComparisonOptions(factor, despite=_SAID_ALONE))
        if not any(durability):
            durability = _durability(first, second, compared.differences)
        if compared.not_comparable:
            return compared.not_comparable, durability
        if experiment.parts and ratios.one_after_the_other(first.measured, second.measured):
            return ratios.SEQUENTIAL, durability
    return "", durability


def _pairs(
    counted: dict[estimate.Place, RankedCell], side: tuple[int, int, int]
) -> Iterator[tuple[RankedCell, RankedCell]]:
    factor, level, compared_with = side
    for place, cell in counted.items():
        if place[factor] == level:
            other = counted.get((*place[:factor], compared_with, *place[factor + 1 :]))
            if other is not None:
                yield cell, other


def _durability(
    cell: RankedCell, compared_with: RankedCell, differences: Sequence[Difference]
) -> tuple[str, str]:
    """The classes, or where these are not known, what the settings say."""
    if cell.durability != compared_with.durability:
        return cell.durability, compared_with.durability
    by_settings = ((found.b, found.a) for found in differences if found.what in _SAID_ALONE)
    return next(by_settings, ("", ""))


def _name(cell: RankedCell, factors: Sequence[str]) -> str:
    return ", ".join(cell_names.level_name(factor, cell.levels[factor]) for factor in factors)


# Takes the cells of a grid and their values; returns the one that is better than all others, or
# the two that are.

_MOST = 2
"""Where more cells are alike, the sentences of the factors that do not matter say so."""


def best_cells(
    cells: Mapping[estimate.Place, RankedCell],
    values: Mapping[estimate.Place, Sequence[float]],
    metric: ReportColumn,
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
