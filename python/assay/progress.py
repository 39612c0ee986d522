"""What `lab` reports while it works. A terminal or a page implements it; `Silent` ignores it."""

from __future__ import annotations

from typing import Any, Protocol

from assay.plan import PlannedRun


class Progress(Protocol):
    def stage(self, name: str) -> None:
        """A stage begins: ``load``."""

    def run(self, planned: PlannedRun, of: int) -> None:
        """A run begins, one of so many."""

    def ended(self, planned: PlannedRun, reason: str | None) -> None:
        """A run ended; ``reason`` says why it failed."""

    def refused(self, planned: PlannedRun, reason: str) -> None:
        """A run was not begun: its system lacks what its test needs."""

    def loading(self, report: dict[str, Any]) -> None:
        """A `LoadProgress` of the engine."""

    def driving(self, report: dict[str, Any]) -> None:
        """A `DriveProgress` of the engine."""

    def warning(self, message: str) -> None:
        """Something the user should know now and not only in the report."""


class Silent:
    """Ignores all reports."""

    def stage(self, name: str) -> None: ...

    def run(self, planned: PlannedRun, of: int) -> None: ...

    def ended(self, planned: PlannedRun, reason: str | None) -> None: ...

    def refused(self, planned: PlannedRun, reason: str) -> None: ...

    def loading(self, report: dict[str, Any]) -> None: ...

    def driving(self, report: dict[str, Any]) -> None: ...

    def warning(self, message: str) -> None: ...
