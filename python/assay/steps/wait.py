"""Does nothing for a while."""

from __future__ import annotations

import time

from assay.steps.context import RunState
from assay.workload.steps import Wait


def take(state: RunState, step: Wait) -> None:
    state.context.progress.stage(f"wait {step.duration_s:g} s")
    time.sleep(step.duration_s)
