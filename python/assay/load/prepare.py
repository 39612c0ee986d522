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
        if run.cell.system.url and workload.test(run.cell.test).buffer_ratio(run.cell.parameters):
            raise ArgumentError(
                f"{workload.full_name(run.cell.test)} starts its server again with a buffer made "
                f"for its data, and {run.cell.system.label} is not started by Assay",
                hint=_with_its_buffer(workload, run),
            )
    source.check(workload, [run.cell.parameters for run in runs])


def _with_its_buffer(workload: Workload, run: PlannedRun) -> str:
    ratio = workload.test(run.cell.test).data_to_buffer
    own = f"leave its buffer as it is (--set {ratio}=0), " if isinstance(ratio, str) else ""
    return f"{own}name the system instead of its URL, or another test"
