"""Takes planned runs; keeps the deployments they share for as long as a later run needs them.

A deployment is brought up when the first run needs it and stays until the last one has ended: with
interleaved repetitions several systems are up at once, of which one works and the others wait.
"""

from __future__ import annotations

import itertools
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


class _DataUses:
    """Of the runs left on a deployment, which of them may change its data."""

    def __init__(self, positions: Iterable[int], changing: set[int]) -> None:
        self._positions = dict.fromkeys(positions)
        self._changing = changing

    def are_needed_again(self, position: int) -> bool:
        """Whether a run is left behind the one at this position that may change them, or behind
        another: the last one of the others is taken to have none."""
        others = [one for one in itertools.islice(reversed(self._positions), 2) if one != position]
        if not others:
            return False
        return not self._changing <= {others[0]}

    def drop(self, position: int) -> None:
        self._positions.pop(position, None)
        self._changing.discard(position)


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
        self._left: dict[str, dict[int, PlannedRun]] = {}
        """Place of a deployment → its runs that have not ended, by position; each place is asked
        for once a run. Which of them is next is not known: a goal decides it."""
        for run in sorted(plan.runs if runs is None else runs, key=lambda run: run.position):
            self._left.setdefault(place_of(run), {})[run.position] = run
        self._data_uses: dict[str, _DataUses] = {}
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

    def add(self, run: PlannedRun) -> None:
        """One that the plan did not have is executed as well."""
        place = place_of(run)
        self._left.setdefault(place, {})[run.position] = run
        self._data_uses.pop(place, None)  # which runs need the data again is looked at anew

    def runs_with(self, planned: PlannedRun) -> list[PlannedRun]:
        """The runs that share its deployment and have not ended, itself too."""
        return list(self._left.get(place_of(planned), {}).values())

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
            executed = [run for run in self._left.get(place, {}).values() if is_executed(run)]
            changing = {run.position for run in executed if may_change(run)}
            self._data_uses[place] = _DataUses([run.position for run in executed], changing)
        return self._data_uses[place].are_needed_again(planned.position)

    def least_space(self, planned: PlannedRun) -> Space | None:
        """The least free space that the storage of this run had lately; None: not known."""
        pooled = self._up.get(place_of(planned))
        return None if pooled is None else pooled.least_space()

    def resource_failure(self, planned: PlannedRun) -> str | None:
        """Why the storage or the memory limit of this run's deployment has failed it, or None."""
        pooled = self._up.get(place_of(planned))
        return None if pooled is None else pooled.resource_failure()

    def release(self, planned: PlannedRun) -> None:
        """It has ended: takes the deployment down if no other run needs it."""
        self.spare([planned])

    def spare(self, runs: Sequence[PlannedRun]) -> None:
        """These have ended, or will not be executed. Takes down deployments that no other run
        needs."""
        for run in runs:
            place = place_of(run)
            left = self._left.get(place, {})
            left.pop(run.position, None)
            if place in self._data_uses:
                self._data_uses[place].drop(run.position)
            if not left:
                self._discard(place)

    def discard(self, planned: PlannedRun) -> None:
        """Takes the deployment down; a later run gets a fresh one."""
        self._discard(place_of(planned))

    def _discard(self, place: str) -> None:
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
