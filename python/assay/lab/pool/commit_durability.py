"""Takes deployments that are up; measures the durability of the commits of their runs, once for
each kind of session, and returns that of a run."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from assay.contracts.deployment import Deployment
from assay.contracts.durability import NO_SETTINGS, Durability, SessionSettings, not_measured
from assay.lab.pool.pool import place_of
from assay.lab.pool.pooled_system import PooledSystem
from assay.plan import PlannedRun
from assay.probe.durability.measure import measure

_NOTHING_COMMITS = not_measured("no run on it commits anything")


class CommitDurability:
    """What is known of an experiment."""

    def __init__(
        self,
        *,
        is_measured: bool,
        may_commit: Callable[[PlannedRun], bool],
        session_settings: Callable[[PlannedRun], SessionSettings],
    ) -> None:
        """``may_commit``: whether a run may commit anything. ``session_settings``: what its
        sessions set."""
        self.is_measured = is_measured
        self._may_commit = may_commit
        self._session_settings = session_settings
        self._known: dict[tuple[str, SessionSettings], Durability] = {}
        self._complete: set[str] = set()
        """Deployments of which that of all runs is known."""

    def measure(
        self, pooled: PooledSystem, runs: Iterable[PlannedRun], stage: Callable[[str], None]
    ) -> None:
        """With the settings of the sessions of each of these runs, which share the deployment,
        before any of them has filled it: later, the commits would change what the next run finds.
        ``stage`` gets the name of what is being done."""
        deployment = pooled.deployment
        for run in runs:
            place = place_of(run)
            if place in self._complete:
                return
            settings = self._settings_of(run, deployment)
            if (place, settings) in self._known or not self._may_commit(run):
                continue
            if deployment.commit_storage.is_own_device:
                stage("measure the durability of its commits")
            self._known[place, settings] = measure(deployment, pooled.system, settings)
        self._complete.update(map(place_of, runs))

    def of(self, run: PlannedRun, deployment: Deployment) -> Durability:
        """That of the commits of its sessions."""
        settings = self._settings_of(run, deployment)
        return self._known.get((place_of(run), settings), _NOTHING_COMMITS)

    def _settings_of(self, run: PlannedRun, deployment: Deployment) -> SessionSettings:
        """`NO_SETTINGS` where no durability can be measured: the scripts are not searched then."""
        has_device = deployment.commit_storage.is_own_device
        return self._session_settings(run) if has_device else NO_SETTINGS
