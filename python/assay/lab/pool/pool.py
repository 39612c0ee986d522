"""Takes planned runs; keeps the deployments they share for as long as a later run needs them.

A deployment is brought up when the first run needs it and stays until the last one has ended: with
interleaved repetitions several systems are up at once, of which one works and the others wait.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from contextlib import ExitStack
from dataclasses import astuple
from types import TracebackType
from typing import Self

from assay.errors import NotRemoved
from assay.lab.pool.pooled_system import PooledSystem
from assay.load.load_options import DEFAULT, Loading
from assay.plan import Plan, PlannedRun
from assay.provision.disk.full_storage import Space
from assay.provision.running_system import on_storage
from assay.text.reasons import with_more


class Pool:
    """All deployments of one experiment; those still up are taken down at the end of the block."""

    def __init__(
        self,
        plan: Plan,
        loading: Loading = DEFAULT,
        runs: Iterable[PlannedRun] | None = None,
        *,
        warning: Callable[[str], None] = lambda _: None,
    ) -> None:
        """``runs``: those of the plan that are executed; None: all. A server is started for the
        clients of the whole plan, so that it is the same whichever of them are executed now.
        ``warning`` gets a sentence where something of a deployment cannot be removed; the next
        command tries again."""
        self._plan = plan
        self._at: dict[str, dict[int, PlannedRun]] = {}
        """Place of a deployment → its runs by position; each place is asked for once a run."""
        for run in sorted(plan.runs if runs is None else runs, key=lambda run: run.position):
            self._at.setdefault(place_of(run), {})[run.position] = run
        self._ended: set[int] = set()
        """Positions. With a goal, runs are not executed in the order of their positions."""
        self._is_in_order = not plan.experiment.goal
        self._data_uses: dict[str, int] = {}
        """Place → position of the last run that may change data which a later one needs."""
        self._loading = loading
        self._up: dict[str, PooledSystem] = {}
        self._made: dict[str, PooledSystem] = {}
        """Whose storage is there, and which were not started yet."""
        self._warning = warning

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        with ExitStack() as all_of_them:
            for pooled in (*self._up.values(), *self._made.values()):
                all_of_them.callback(self._close, pooled)
            self._up.clear()
            self._made.clear()

    def made(self, planned: PlannedRun) -> PooledSystem:
        """The deployment of this run; if it is not up, its storage is made."""
        place = place_of(planned)
        if place in self._up:
            return self._up[place]
        cell = planned.cell
        with ExitStack() as stack:
            connections = self._plan.connections_needed(cell.system)
            on_its_storage = on_storage(cell.system, cell.storage, connections=connections)
            running = stack.enter_context(on_its_storage)
            self._made[place] = PooledSystem(running, stack.pop_all(), self._loading)
        return self._made[place]

    def start(self, planned: PlannedRun) -> None:
        """Brings the deployment up that was `made`; looks again at one that is up."""
        place = place_of(planned)
        if place in self._up:
            self._up[place].look_again()
            return
        pooled = self._made.pop(place)
        with ExitStack() as undo:
            undo.callback(self._close, pooled)
            pooled.start()
            undo.pop_all()
        self._up[place] = pooled

    def runs_with(self, planned: PlannedRun) -> list[PlannedRun]:
        """The runs that share its deployment, in order."""
        return list(self._at.get(place_of(planned), {}).values())

    def needs_data_again(
        self,
        planned: PlannedRun,
        is_executed: Callable[[PlannedRun], bool],
        may_change: Callable[[PlannedRun], bool],
    ) -> bool:
        """Whether a later run on the deployment of this one needs its data after this run, or one
        between them, may have changed them. The runs are looked at once, not once for each run."""
        place = place_of(planned)
        if place not in self._data_uses:
            executed = [run for run in self._at.get(place, {}).values() if is_executed(run)]
            last = executed[:-1] if self._is_in_order else executed
            changes = (run.position for run in last if may_change(run))
            self._data_uses[place] = max(changes, default=-1)
        if not self._is_in_order:
            return self._data_uses[place] >= 0 and self._is_needed_after(planned, planned.position)
        return planned.position <= self._data_uses[place]

    def _is_needed_after(self, planned: PlannedRun, position: int) -> bool:
        """Whether a run behind that position is on the deployment of this one; with a goal, any
        other that has not ended."""
        if not self._is_in_order:
            others = self._at.get(place_of(planned), {}).keys() - self._ended - {planned.position}
            return bool(others)
        return next(reversed(self._at.get(place_of(planned), {})), -1) > position

    def least_space(self, planned: PlannedRun) -> Space | None:
        """The least free space that the storage of this run had lately; None: not known."""
        pooled = self._up.get(place_of(planned))
        return None if pooled is None else pooled.least_space()

    def resource_failure(self, planned: PlannedRun) -> str | None:
        """Why the storage or the memory limit of this run's deployment has failed it, or None."""
        pooled = self._up.get(place_of(planned))
        return None if pooled is None else pooled.resource_failure()

    def release(self, planned: PlannedRun) -> None:
        """Takes the deployment down if no later run needs it."""
        self._ended.add(planned.position)
        if not self._is_needed_after(planned, planned.position):
            self.discard(planned)

    def spare(self, runs: Sequence[PlannedRun], position: int) -> None:
        """These runs will not be executed; ``position``: that of the last one which was. Takes down
        deployments that no later run needs."""
        for run in runs:
            place = place_of(run)
            self._at.get(place, {}).pop(run.position, None)
            self._data_uses.pop(place, None)
        for run in runs:
            if not self._is_needed_after(run, position):
                self.discard(run)

    def discard(self, planned: PlannedRun) -> None:
        """Takes the deployment down; a later run gets a fresh one."""
        place = place_of(planned)
        for pooled in (self._up.pop(place, None), self._made.pop(place, None)):
            if pooled is not None:
                self._close(pooled)

    def _close(self, pooled: PooledSystem) -> None:
        try:
            pooled.close()
        except NotRemoved as error:
            self._warning(with_more(error.message, error.hint or ""))


def place_of(run: PlannedRun) -> str:
    """Equal for runs that share a deployment."""
    return repr((astuple(run.cell.system), astuple(run.cell.storage)))
