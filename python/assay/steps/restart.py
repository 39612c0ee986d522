"""Stops the server and starts it again on its data, so that its buffer is cold."""

from __future__ import annotations

from assay.steps.context import RunState
from assay.workload.steps import Restart


def take(state: RunState, _step: Restart) -> None:
    """Raises `ArgumentError` where the server is not ours to stop."""
    state.context.progress.stage("restart")
    state.context.store.restarted(state.up().restart())
