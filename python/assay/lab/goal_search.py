"""Takes an experiment with a goal and its planned runs, one for each offered rate that may be tried
and each repetition; says which of them is executed next, until the highest rate that meets the goal
is known.

Every combination of the other factors is a search of its own. The rate in the middle of those that
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
from assay.comparison.goals import Answer, Probe
from assay.experiment import Experiment
from assay.plan import PlannedRun


@dataclass
class _Search:
    runs: dict[float, list[PlannedRun]] = field(default_factory=dict)
    """Of each rate its repetitions that are left."""
    ended: dict[float, list[Probe]] = field(default_factory=dict)


class GoalSearch:
    """The runs of an experiment with a goal, as far as they are needed."""

    def __init__(
        self,
        experiment: Experiment,
        runs: Sequence[PlannedRun],
        read: Callable[[int, Condition], Probe],
        spare: Callable[[Sequence[PlannedRun], int], None],
    ) -> None:
        """``runs``: all that may be executed, and those that have ended before. ``read``: what the
        run at a position, which has ended, showed of the goal. ``spare``: gets runs that are not
        needed, and the position of the last one that has ended."""
        self._condition = goals.goal(experiment.goal)
        self._most, self._is_sequential = experiment.goal_probes, experiment.order == "sequential"
        self._read, self._on_spared = read, spare
        self._last = -1
        self._groups: dict[object, dict[str, _Search]] = {}
        """Those that take turns → each search."""
        for run in runs:
            search = self._of(run)
            search.runs.setdefault(rate_of(run), []).append(run)

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
                    rate_per_s = self._next(search)
                    if rate_per_s is None:
                        searches.remove(search)
                        self._spare([run for left in search.runs.values() for run in left])
                    else:
                        yield from self._probe(search, rate_per_s)

    def is_certain(self, _run: PlannedRun) -> bool:
        """Whether it takes place in any case."""
        return False

    def too_short_budget(self) -> str:
        """A search has none."""
        return ""

    def _of(self, run: PlannedRun) -> _Search:
        cell = run.cell
        key = without_rate(run)
        turns: object = key
        if not self._is_sequential:
            turns = repr((cell.test, cell.scripts, sorted(cell.parameters.items())))
        return self._groups.setdefault(turns, {}).setdefault(key, _Search())

    def _probe(self, search: _Search, rate_per_s: float) -> Iterator[PlannedRun]:
        """The repetitions of that rate, as far as they are needed; then spares what its answer
        leaves unneeded."""
        while search.runs.get(rate_per_s) and not self._is_decided(search, rate_per_s):
            run = search.runs[rate_per_s][0]
            yield run
            self._last = run.position
            self._ended(run)
        self._spare(search.runs.pop(rate_per_s, []))
        wanted = {*self._found(search).left(search.runs)}
        for rate in [*search.runs]:
            if rate not in wanted:
                self._spare(search.runs.pop(rate))

    def _next(self, search: _Search) -> float | None:
        """The rate to try: one whose repetitions have not all ended, or the middle one."""
        for rate in search.ended:
            if search.runs.get(rate) and not self._is_decided(search, rate):
                return rate
        tried = self._found(search)
        left = [rate for rate in tried.left(search.runs) if rate not in search.ended]
        if not left or len(tried.probes) >= self._most:
            return None
        return _middle(left)

    def _is_decided(self, search: _Search, rate_per_s: float) -> bool:
        """Whether further repetitions would not let it meet the goal."""
        ended = search.ended.get(rate_per_s, [])
        return bool(ended) and goals.together(ended).answer is not Answer.MET

    def _found(self, search: _Search) -> goals.Found:
        return goals.found(self._condition, map(goals.together, search.ended.values()))

    def _ended(self, run: PlannedRun) -> None:
        search, rate_per_s = self._of(run), rate_of(run)
        left = search.runs.get(rate_per_s, [])
        search.runs[rate_per_s] = [one for one in left if one.position != run.position]
        search.ended.setdefault(rate_per_s, []).append(self._read(run.position, self._condition))

    def _spare(self, runs: Sequence[PlannedRun]) -> None:
        if runs:
            self._on_spared(runs, self._last)


def first_probes(runs: Sequence[PlannedRun]) -> set[int]:
    """Positions of the first run of each search."""
    of_searches: dict[str, dict[float, int]] = {}
    for run in runs:
        if run.repetition == 1:
            of_searches.setdefault(without_rate(run), {})[rate_of(run)] = run.position
    return {positions[_middle(sorted(positions))] for positions in of_searches.values()}


def _middle(rates_per_s: Sequence[float]) -> float:
    """Of rates by size, the lower one of two."""
    return rates_per_s[(len(rates_per_s) - 1) // 2]


def rate_of(run: PlannedRun) -> float:
    return float(run.cell.driving.offered_rate_per_s or 0.0)


def without_rate(run: PlannedRun) -> str:
    """Equal for the runs of one search."""
    driving = replace(run.cell.driving, offered_rate_per_s=None)
    return repr(replace(run.cell, driving=driving, fingerprint=""))
