"""The progress that `lab` reports while it works. A terminal implements it; `Silent` ignores it."""

from __future__ import annotations

from typing import Protocol

from assay.contracts.engine.drive import DriveProgress
from assay.contracts.engine.load import CopyProgress, LoadProgress
from assay.plan import PlannedRun
from assay.plan.forecast import NOT_KNOWN, TimeNeeded


class Progress(Protocol):
    def stage(self, name: str) -> None:
        """A stage begins: ``load``."""

    def run(
        self,
        planned: PlannedRun,
        of: int,
        own: TimeNeeded = NOT_KNOWN,
        after: TimeNeeded = NOT_KNOWN,
    ) -> None:
        """A run begins; ``of`` is the number of all runs. ``own``: how long it is expected to take;
        ``after``: all that are still to be done after it."""

    def ended(self, planned: PlannedRun, reason: str | None) -> None:
        """A run ended; ``reason`` says why it failed."""

    def refused(self, planned: PlannedRun, reason: str) -> None:
        """A run is not started: its system lacks what its test needs."""

    def loading(self, report: LoadProgress | CopyProgress) -> None:
        """How far a load is, or a copy of files in its place."""

    def driving(self, report: DriveProgress) -> None:
        """How far the clients are."""

    def warning(self, message: str) -> None:
        """A warning that the user should see now and not only in the report."""


class Silent:
    """Ignores all progress."""

    def stage(self, name: str) -> None: ...

    def run(
        self,
        planned: PlannedRun,
        of: int,
        own: TimeNeeded = NOT_KNOWN,
        after: TimeNeeded = NOT_KNOWN,
    ) -> None: ...

    def ended(self, planned: PlannedRun, reason: str | None) -> None: ...

    def refused(self, planned: PlannedRun, reason: str) -> None: ...

    def loading(self, report: LoadProgress | CopyProgress) -> None: ...

    def driving(self, report: DriveProgress) -> None: ...

    def warning(self, message: str) -> None: ...
