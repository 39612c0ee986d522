"""Changes some of the input files, lets the rows follow, and compares with a fresh load."""

from __future__ import annotations

import tempfile
from pathlib import Path

from assay.bibsql import update
from assay.errors import ExperimentError
from assay.registry import WORKLOAD_FILE
from assay.steps.context import RunState
from assay.steps.load import bibliography, request_for
from assay.workload.steps import Update


def take(state: RunState, step: Update) -> None:
    """Keeps what the update took, and whether the rows are those of a fresh load."""
    rows_follow = state.workload.update
    if rows_follow is None:
        raise ExperimentError(
            f"the test {state.test.name} needs [data.update], which says how rows follow files",
            file=state.workload.folder / WORKLOAD_FILE,
        )
    context, pooled, planned = state.context, state.up(), state.planned
    parameters = planned.cell.parameters
    task = update.UpdateTask(int(parameters["changed"]), int(parameters["vanished"]), planned.seed)
    context.progress.stage("update")
    pooled.forget()  # from here on it holds something else than what was loaded
    with tempfile.TemporaryDirectory(prefix="assay-update-") as folder:
        observation = update.observe(
            pooled.deployment,
            pooled.system,
            state.workload.tables,
            rows_follow,
            bibliography(context).files,
            Path(folder),
            task,
            lambda files: request_for(context, planned, files),
        )
    state.observed(step.label, observation)
