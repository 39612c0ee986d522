"""Restarts the server on its data, so that its buffer is cold."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from assay.steps.context import RunState
from assay.workload.steps import Step


@dataclass(frozen=True)
class Restart(Step):
    """Restarts the server on its data, so that its buffer is cold."""

    do: ClassVar[str] = "restart"
    needs: ClassVar[str] = "restart"

    def take(self, state: RunState) -> None:
        """Raises `ArgumentError` where Assay did not start the server."""
        state.context.progress.stage("restart")
        state.context.store.restarted(state.up().restart())
