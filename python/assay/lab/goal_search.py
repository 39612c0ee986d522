"""Takes an experiment with a goal and its planned runs, one for each offered rate, or level of a
parameter, that may be tried and each repetition; says which of them is executed next, until the
highest that meets the goal is known.

Every combination of the other factors is a search of its own. The one in the middle of those that
are left is tried, and with its answer half of them are not needed any more. Systems and storages
take turns, unless the order is sequential; parameters do not, since other data are loaded for them.
All depends on the runs alone, so an experiment that is continued goes on as if it had not been
interrupted.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, field, replace

from assay.comparison import goals
from assay.comparison.conditions import Condition
from assay.comparison.goals import Trial, TrialAnswer
from assay.experiment import Experiment
from assay.judge.statistics.samples import UNREACHED
from assay.plan import PlannedRun


@dataclass
class _Search:
    runs: dict[float, list[PlannedRun]] = field(default_factory=dict)
    """Of each level its repetitions that are left."""
    ended: dict[float, list[Trial]] = field(default_factory=dict)


class GoalSearch:
    """The runs of an experiment with a goal, as far as they are needed."""

    def __init__(
        self,
        experiment: Experiment,
        runs: Sequence[PlannedRun],
        read: Callable[[int, Condition], Trial],
        spare: Callable[[Sequence[PlannedRun]], None],
    ) -> None:
        """``runs``: all that may be executed, and those that have ended before. ``read``: what the
        run at a position, which has ended, showed of the goal. ``spare``: gets runs that are not
        needed."""
        self._condition = goals.goal(experiment.goal)
        self._experiment, self._over = experiment, experiment.goal_over
        self._most, self._is_sequential = experiment.goal_trials, experiment.order == "sequential"
        self._read, self._on_spared = read, spare
        self._groups: dict[object, dict[str, _Search]] = {}
        """Those that take turns → each search."""
        for run in runs:
            search = self._of(run)
            search.runs.setdefault(level_of(run, self._over), []).append(run)
        searches = [one for group in self._groups.values() for one in group.values()]
        self.most_runs = experiment.repetitions * sum(
            min(self._most, len(one.runs).bit_length()) for one in searches
        )
        """Bisection needs no more of them."""

    def needed(
        self, runs: Sequence[PlannedRun], earlier: Collection[PlannedRun] = ()
    ) -> Iterator[PlannedRun]:
        """Those of ``runs`` that are needed, each given after the one before has ended.
        ``earlier``: runs that ended in a process before."""
        for run in earlier:
            self._ended(run)
        if not runs:
            return
        for group in self._groups.values():
            searches = list(group.values())
            while searches:
                for search in list(searches):
                    level = self._next(search)
                    if level is None:
                        searches.remove(search)
                        self._spare([run for left in search.runs.values() for run in left])
                    else:
                        yield from self._trial(search, level)

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

    def _trial(self, search: _Search, level: float) -> Iterator[PlannedRun]:
        """The repetitions of that level, as far as they are needed; then spares what its answer
        leaves unneeded."""
        while search.runs.get(level) and not self._is_decided(search, level):
            run = search.runs[level][0]
            yield run
            self._ended(run)
        self._spare(search.runs.pop(level, []))
        wanted = {*self._found(search).left(search.runs)}
        for other in [*search.runs]:
            if other not in wanted:
                self._spare(search.runs.pop(other))

    def _next(self, search: _Search) -> float | None:
        """The level to try: one whose repetitions have not all ended, or the middle one."""
        for level in search.ended:
            if search.runs.get(level) and not self._is_decided(search, level):
                return level
        tried = self._found(search)
        left = [one for one in tried.left(search.runs) if one not in search.ended]
        if not left or len(tried.trials) >= self._most:
            return None
        return _middle(left)

    def _is_decided(self, search: _Search, level: float) -> bool:
        """Whether further repetitions would not let it meet the goal. Of a parameter the one in the
        middle is not known before, unless it is one of those that were ended early."""
        ended = search.ended.get(level, [])
        answers = {one.answer for one in ended}
        if not self._over:
            return bool(answers - {TrialAnswer.MET})
        planned = len(ended) + len(search.runs.get(level, []))
        excessive = sum(one.value == UNREACHED for one in ended)
        return TrialAnswer.FAILED in answers or excessive > (planned - 1) // 2

    def _found(self, search: _Search) -> goals.SearchSoFar:
        trials = (goals.together(ended, self._condition) for ended in search.ended.values())
        return goals.search(self._condition, trials)

    def _ended(self, run: PlannedRun) -> None:
        search, level = self._of(run), level_of(run, self._over)
        left = search.runs.get(level, [])
        search.runs[level] = [one for one in left if one.position != run.position]
        search.ended.setdefault(level, []).append(self._read(run.position, self._condition))

    def _spare(self, runs: Sequence[PlannedRun]) -> None:
        if runs:
            self._on_spared(runs)


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
        driving = replace(cell.driving, offered_rate_per_s=None)
        return repr(replace(cell, driving=driving, fingerprint=""))
    others = {name: one for name, one in cell.parameters.items() if name != over}
    are_asked = experiment.clients or experiment.group_clients
    clients = (cell.clients, cell.group_clients) if are_asked else ()
    rate = cell.driving.offered_rate_per_s
    return repr(
        (cell.test, cell.system, cell.storage, cell.levels, cell.scripts, others, clients, rate)
    )
