"""Takes an experiment with a goal and its planned runs, one for each offered rate, or level of a
parameter, that may be tried and each repetition; says which of them is executed next, until the
highest that meets the goal is known.

Every combination of the other factors is a search of its own. The one in the middle of those that
are left is tried, and with its answer half of them are not needed any more. A run that other
programs disturbed is measured again, at most three times at each level. At the end the two levels
between which the highest lies are measured again (`assay.comparison.goals`): where the runs
at a rate then differ, the search goes on below and above it.

Systems and storages take turns, unless the order is sequential; parameters do not, since other data
are loaded for them. All depends on the runs alone, so an experiment that is continued goes on as if
it had not been interrupted.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import replace

from msgspec import Struct, field, structs

from assay.comparison import goals
from assay.comparison.conditions import Condition
from assay.comparison.goals import CONFIRMED, Trial, TrialAnswer, confirmed
from assay.experiment import Experiment
from assay.judge.statistics.samples import UNREACHED
from assay.plan import PlannedRun

MOST_IN_PLACE = 3
"""Runs in the place of disturbed ones, at each level."""
_MOST_FURTHER = 6 * (CONFIRMED - 1)
"""Runs of a search that measure again what had been tried; two ends need a third of them."""


class _Search(Struct):
    planned: dict[float, PlannedRun] = field(default_factory=dict)
    """Of each level its first run."""
    runs: dict[float, list[PlannedRun]] = field(default_factory=dict)
    """Of each level its planned repetitions that are left."""
    ended: dict[float, list[tuple[PlannedRun, Trial]]] = field(default_factory=dict)
    """Of each level all runs that have ended, in the order of their repetitions."""
    further: int = 0
    """Runs that were not planned, without those in the place of others."""

    def at(self, level: float) -> list[Trial]:
        return [trial for _, trial in self.ended.get(level, ())]

    def in_place(self, level: float) -> int:
        """Runs there in the place of others."""
        return sum(run.in_place_of is not None for run, _ in self.ended.get(level, ()))


class GoalSearch:
    """The runs of an experiment with a goal, as far as they are needed."""

    def __init__(
        self,
        experiment: Experiment,
        runs: Sequence[PlannedRun],
        read: Callable[[int, Condition], Trial],
        spare: Callable[[Sequence[PlannedRun]], None],
        further: Callable[[PlannedRun], PlannedRun],
        in_place_of: Callable[[PlannedRun], PlannedRun] | None = None,
    ) -> None:
        """``runs``: all that may be executed, and those that have ended before. ``read``: what the
        run at a position, which has ended, showed of the goal. ``spare``: gets runs that are not
        needed. ``further``, ``in_place_of``: give one more repetition, or one in the place of a
        disturbed run; None: none is measured again."""
        self._condition = goals.goal(experiment.goal)
        self._experiment, self._over = experiment, experiment.goal_over
        self._most, self._is_sequential = experiment.goal_trials, experiment.order == "sequential"
        self._read, self._on_spared = read, spare
        self._further, self._in_place_of = further, in_place_of
        self._groups: dict[object, dict[str, _Search]] = {}
        """Those that take turns → each search."""
        for run in runs:
            if self._is_planned(run):
                search, level = self._of(run), level_of(run, self._over)
                search.runs.setdefault(level, []).append(run)
                search.planned.setdefault(level, run)
        self.most_runs = sum(
            self._most_runs(one) for group in self._groups.values() for one in group.values()
        )
        """If none is disturbed."""

    def _most_runs(self, search: _Search) -> int:
        trials = min(self._most, len(search.runs))
        return self._experiment.repetitions * trials + _MOST_FURTHER

    def _is_planned(self, run: PlannedRun) -> bool:
        return run.in_place_of is None and run.repetition <= self._experiment.repetitions

    def needed(
        self, runs: Sequence[PlannedRun], earlier: Collection[PlannedRun] = ()
    ) -> Iterator[PlannedRun]:
        """Those of ``runs`` that are needed, and further ones, each given after the one before has
        ended. ``earlier``: runs that ended in a process before."""
        for run in sorted(earlier, key=_in_time):
            self._ended(run)
        if not runs and not earlier:
            return
        for group in self._groups.values():
            searches = list(group.values())
            while searches:
                for search in list(searches):
                    trial = self._next(search)
                    if trial is None:
                        searches.remove(search)
                        self._spare([run for left in search.runs.values() for run in left])
                    else:
                        yield from trial

    def is_certain(self, _run: PlannedRun) -> bool:
        """Whether it takes place in any case."""
        return False

    def too_short_budget(self) -> str:
        """A search has none."""
        return ""

    def _of(self, run: PlannedRun) -> _Search:
        cell = run.cell
        key = search_of(run, self._experiment)
        turns: object = key
        if not self._is_sequential:
            others = {name: one for name, one in cell.parameters.items() if name != self._over}
            turns = repr((cell.test, cell.scripts, sorted(others.items())))
        return self._groups.setdefault(turns, {}).setdefault(key, _Search())

    def _next(self, search: _Search) -> Iterator[PlannedRun] | None:
        """The runs that are needed next: of a level whose repetitions have not all ended, of the
        middle one of those that are left, or of an end of the answer; None: it has ended."""
        for level in search.ended:
            if self._is_open(search, level):
                return self._trial(search, level)
        found = self._found(search)
        if found.failed is not None:
            return None
        is_contradicted = found.contradiction is not None
        if not is_contradicted and len(found.trials) < self._most:
            left = [one for one in found.left(search.runs) if one not in search.ended]
            if left:
                return self._trial(search, _middle(left))
        if search.further >= _MOST_FURTHER:
            return None
        ends = [one for one in found.ends if one.counted < confirmed(one)]
        if not ends or any(_is_hopeless(search.ended[one.level], self._is_planned) for one in ends):
            return None
        fewest = min(ends, key=lambda trial: trial.counted)
        return self._measured(search, self._further(search.planned[fewest.level]))

    def _is_open(self, search: _Search, level: float) -> bool:
        """Whether more runs are needed for the first answer of this level."""
        has_more = bool(search.runs.get(level)) and not self._is_decided(search, level)
        return has_more or self._may_be_repeated(search, level)

    def _trial(self, search: _Search, level: float) -> Iterator[PlannedRun]:
        """The repetitions of that level, as far as they are needed; then spares the others."""
        yield from self._repeated(search, level)
        while search.runs.get(level) and not self._is_decided(search, level):
            run = search.runs[level][0]
            yield from self._measured(search, run)
        self._spare(search.runs.pop(level, []))

    def _measured(self, search: _Search, run: PlannedRun) -> Iterator[PlannedRun]:
        """This run, and those in its place while other programs disturb it."""
        yield run
        self._ended(run)
        yield from self._repeated(search, level_of(run, self._over))

    def _repeated(self, search: _Search, level: float) -> Iterator[PlannedRun]:
        """In the place of the last run of this level, while that was disturbed."""
        while self._in_place_of is not None and self._may_be_repeated(search, level):
            again = self._in_place_of(search.ended[level][-1][0])
            yield again
            self._ended(again)

    def _may_be_repeated(self, search: _Search, level: float) -> bool:
        ended = search.ended.get(level, [])
        is_disturbed = bool(ended) and ended[-1][1].is_disturbed
        may_be = self._in_place_of is not None and search.in_place(level) < MOST_IN_PLACE
        return is_disturbed and may_be

    def _is_decided(self, search: _Search, level: float) -> bool:
        """Whether further repetitions would not let it meet the goal. Of a parameter the one in the
        middle is not known before, unless it is one of those that were ended early."""
        ended = [one for one in search.at(level) if not one.is_disturbed]
        answers = {one.answer for one in ended}
        if not self._over:
            return bool(answers - {TrialAnswer.MET})
        planned = len(ended) + len(search.runs.get(level, []))
        excessive = sum(one.value == UNREACHED for one in ended)
        return TrialAnswer.FAILED in answers or excessive > (planned - 1) // 2

    def _found(self, search: _Search) -> goals.SearchSoFar:
        trials = (goals.joined_trial(search.at(level), self._condition) for level in search.ended)
        return goals.search_so_far(self._condition, trials)

    def _ended(self, run: PlannedRun) -> None:
        search, level = self._of(run), level_of(run, self._over)
        if self._is_planned(run):
            left = search.runs.get(level, [])
            search.runs[level] = [one for one in left if one.position != run.position]
        elif run.in_place_of is None:
            search.further += 1
        trial = self._read(run.position, self._condition)
        search.ended.setdefault(level, []).append((run, trial))

    def _spare(self, runs: Sequence[PlannedRun]) -> None:
        if runs:
            self._on_spared(runs)


def _in_time(run: PlannedRun) -> tuple[int, int]:
    """A run in the place of another followed that at once."""
    return run.of_repetition, run.repetition


def _is_hopeless(
    ended: Sequence[tuple[PlannedRun, Trial]], is_planned: Callable[[PlannedRun], bool]
) -> bool:
    """Whether the last run at a level was to confirm it, and was disturbed with all that took its
    place."""
    last, trial = ended[-1]
    if last.in_place_of is not None:
        last = next(run for run, _ in ended if run.repetition == last.in_place_of)
    return trial.is_disturbed and not is_planned(last)


def first_trials(runs: Sequence[PlannedRun], experiment: Experiment) -> set[int]:
    """Positions of the first run of each search."""
    of_searches: dict[str, dict[float, int]] = {}
    for run in runs:
        if run.repetition == 1:
            search = of_searches.setdefault(search_of(run, experiment), {})
            search[level_of(run, experiment.goal_over)] = run.position
    return {positions[_middle(sorted(positions))] for positions in of_searches.values()}


def _middle(levels: Sequence[float]) -> float:
    """Of levels by size, the lower one of two."""
    return levels[(len(levels) - 1) // 2]


def level_of(run: PlannedRun, over: str = "") -> float:
    """The value of the parameter ``over``, or the offered rate."""
    if over:
        return float(run.cell.parameters[over])
    return float(run.cell.driving.offered_rate_per_s or 0.0)


def search_of(run: PlannedRun, experiment: Experiment) -> str:
    """Equal for the runs of one search. What a test derives from the parameter that is searched,
    such as transactions or clients, is no other search."""
    cell, over = run.cell, experiment.goal_over
    if not over:
        driving = structs.replace(cell.driving, offered_rate_per_s=None)
        return repr(replace(cell, driving=driving, fingerprint=""))
    others = {name: one for name, one in cell.parameters.items() if name != over}
    are_asked = experiment.clients or experiment.group_clients
    clients = (cell.clients, cell.group_clients) if are_asked else ()
    rate = cell.driving.offered_rate_per_s
    return repr(
        (cell.test, cell.system, cell.storage, cell.levels, cell.scripts, others, clients, rate)
    )
