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

from assay.contracts.deployment import Deployment
from assay.contracts.durability import NO_SETTINGS, Durability, SessionSettings, not_measured
from assay.errors import NotRemoved
from assay.lab.pool.pooled_system import PooledSystem
from assay.load.load_options import DEFAULT, Loading
from assay.plan import Plan, PlannedRun
from assay.probe.durability.measure import measure
from assay.provision.disk.full_storage import Space
from assay.provision.running_system import OnDirectory, RunningSystem, running_system
from assay.text.reasons import with_more

_NOTHING_COMMITS = not_measured("no run on it commits anything")


class Pool:
    """All deployments of one experiment; those still up are taken down at the end of the block."""

    def __init__(
        self,
        plan: Plan,
        loading: Loading = DEFAULT,
        runs: Iterable[PlannedRun] | None = None,
        *,
        measures_durability: bool = True,
        may_commit: Callable[[PlannedRun], bool] = lambda _: True,
        session_settings: Callable[[PlannedRun], SessionSettings] = lambda _: NO_SETTINGS,
        warning: Callable[[str], None] = lambda _: None,
    ) -> None:
        """``runs``: those of the plan that are executed; None: all. A server is started for the
        clients of the whole plan, so that it is the same whichever of them are executed now.
        ``may_commit``: whether a run may commit anything. ``session_settings``: what its sessions
        set. ``warning`` gets a sentence where
        something of a deployment cannot be removed; the next command tries again."""
        self._plan = plan
        self._at: dict[str, dict[int, PlannedRun]] = {}
        """Place of a deployment → its runs by position; each place is asked for once a run."""
        for run in sorted(plan.runs if runs is None else runs, key=lambda run: run.position):
            self._at.setdefault(_place(run), {})[run.position] = run
        self._data_uses: dict[str, int] = {}
        """Place → position of the last run that may change data which a later one needs."""
        self._loading = loading
        self._up: dict[str, PooledSystem] = {}
        self._measures_durability = measures_durability
        self._may_commit = may_commit
        self._warning = warning
        self._session_settings = session_settings
        self._durability: dict[tuple[str, SessionSettings], Durability] = {}

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        with ExitStack() as all_of_them:
            for pooled in self._up.values():
                all_of_them.callback(self._close, pooled)
            self._up.clear()

    def acquire(
        self,
        planned: PlannedRun,
        stage: Callable[[str], None],
        on_directory: OnDirectory | None = None,
    ) -> PooledSystem:
        """The deployment of this run. If it is not up, it is brought up; before that
        ``on_directory`` is called with a directory on its storage. The first time that a system is
        up on a storage, the durability of its commits is measured, with the settings of each run's
        sessions; ``stage`` gets the name of what
        is being done."""
        place = _place(planned)
        if place in self._up:
            self._up[place].look_again()
        else:
            cell = planned.cell
            with ExitStack() as stack:
                connections = self._plan.connections_needed(cell.system)
                made = stack.enter_context(
                    running_system(
                        cell.system,
                        cell.storage,
                        connections=connections,
                        on_directory=on_directory,
                    )
                )
                self._up[place] = PooledSystem(made, stack.pop_all(), self._loading)
            if self._measures_durability:
                self._measure_durability(place, made, stage)
        if self._measures_durability:
            settings = self._settings_of(planned, self._up[place].deployment)
            found = self._durability.get((place, settings), _NOTHING_COMMITS)
            self._up[place].note_durability(found)
        return self._up[place]

    def _measure_durability(
        self, place: str, made: RunningSystem, stage: Callable[[str], None]
    ) -> None:
        """With the settings of the sessions of each run, before any of them has filled it: later,
        the commits would change what the next run finds."""
        committing = filter(self._may_commit, self._at.get(place, {}).values())
        different = (self._settings_of(run, made.deployment) for run in committing)
        for settings in dict.fromkeys(different):
            if (place, settings) in self._durability:
                continue
            if made.deployment.commit_storage.is_own_device:
                stage("measure the durability of its commits")
            self._durability[place, settings] = measure(made.deployment, made.system, settings)

    def _settings_of(self, planned: PlannedRun, deployment: Deployment) -> SessionSettings:
        """`NO_SETTINGS` where no durability can be measured: the scripts are not searched then."""
        has_device = deployment.commit_storage.is_own_device
        return self._session_settings(planned) if has_device else NO_SETTINGS

    def needs_data_again(
        self,
        planned: PlannedRun,
        is_executed: Callable[[PlannedRun], bool],
        may_change: Callable[[PlannedRun], bool],
    ) -> bool:
        """Whether a later run on the deployment of this one needs its data after this run, or one
        between them, may have changed them. The runs are looked at once, not once for each run."""
        place = _place(planned)
        if place not in self._data_uses:
            executed = [run for run in self._at.get(place, {}).values() if is_executed(run)]
            changes = (run.position for run in executed[:-1] if may_change(run))
            self._data_uses[place] = max(changes, default=-1)
        return planned.position <= self._data_uses[place]

    def _is_needed_after(self, planned: PlannedRun, position: int) -> bool:
        """Whether a run behind that position is on the deployment of this one."""
        return next(reversed(self._at.get(_place(planned), {})), -1) > position

    def least_space(self, planned: PlannedRun) -> Space | None:
        """The least free space that the storage of this run had lately; None: not known."""
        pooled = self._up.get(_place(planned))
        return None if pooled is None else pooled.least_space()

    def resource_failure(self, planned: PlannedRun) -> str | None:
        """Why the storage or the memory limit of this run's deployment has failed it, or None."""
        pooled = self._up.get(_place(planned))
        return None if pooled is None else pooled.resource_failure()

    def release(self, planned: PlannedRun) -> None:
        """Takes the deployment down if no later run needs it."""
        if not self._is_needed_after(planned, planned.position):
            self.discard(planned)

    def spare(self, runs: Sequence[PlannedRun], position: int) -> None:
        """These runs will not be executed; ``position``: that of the last one which was. Takes down
        deployments that no later run needs."""
        for run in runs:
            place = _place(run)
            self._at.get(place, {}).pop(run.position, None)
            self._data_uses.pop(place, None)
        for run in runs:
            if not self._is_needed_after(run, position):
                self.discard(run)

    def discard(self, planned: PlannedRun) -> None:
        """Takes the deployment down; a later run gets a fresh one."""
        pooled = self._up.pop(_place(planned), None)
        if pooled is not None:
            self._close(pooled)

    def _close(self, pooled: PooledSystem) -> None:
        try:
            pooled.close()
        except NotRemoved as error:
            self._warning(with_more(error.message, error.hint or ""))


def _place(run: PlannedRun) -> str:
    return repr((astuple(run.cell.system), astuple(run.cell.storage)))
