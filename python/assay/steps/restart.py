"""Stops the server and starts it again on its data, so that its buffer is cold."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from assay.steps.context import RunState
from assay.workload.steps import Step


@dataclass(frozen=True)
class Restart(Step):
    """The server is stopped, and started again on its data: its buffer is cold."""

    do: ClassVar[str] = "restart"
    needs: ClassVar[str] = "restart"

    def take(self, state: RunState) -> None:
        """Raises `ArgumentError` where the server is not ours to stop."""
        state.context.progress.stage("restart")
        state.context.store.restarted(state.up().restart())
