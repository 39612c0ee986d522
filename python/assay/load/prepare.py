"""Takes every planned run; refuses data that cannot be loaded, before anything is started."""

from __future__ import annotations

from collections.abc import Sequence

from assay.errors import ArgumentError, ExperimentError
from assay.plan import PlannedRun
from assay.registry import WORKLOAD_FILE
from assay.row_sources.protocol import row_source
from assay.workload.values import Workload


def check_rows(workload: Workload, runs: Sequence[PlannedRun]) -> None:
    """Raises `ExperimentError` where the tables of a run cannot be made with its parameters or not
    be updated as its test requires, and `ArgumentError` where the test sizes the buffer of a server
    by URL."""
    source = row_source(workload)
    for run in runs:
        steps = workload.test(run.cell.test).steps
        why = source.refuse_update(workload) if any(step.updates_rows for step in steps) else None
        if why is not None:
            raise ExperimentError(
                f"the test {run.cell.test} updates its rows: {why}",
                file=workload.folder / WORKLOAD_FILE,
                hint="leave the step update out",
            )
        if workload.test(run.cell.test).data_to_buffer is not None and run.cell.system.url:
            raise ArgumentError(
                f"{workload.full_name(run.cell.test)} starts its server again with a buffer made "
                f"for its data, and {run.cell.system.label} is not started by Assay",
                hint="name the system instead of its URL, or another test",
            )
    source.check(workload, [run.cell.parameters for run in runs])
