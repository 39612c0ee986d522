"""Takes every planned run; refuses what cannot be loaded, before anything is started."""

from __future__ import annotations

from collections.abc import Sequence

from assay.errors import ArgumentError
from assay.plan import PlannedRun
from assay.row_sources.protocol import row_source
from assay.workload.values import Workload


def check_rows(workload: Workload, runs: Sequence[PlannedRun]) -> None:
    """Raises `ExperimentError` where the tables of a run cannot be made with its parameters, and
    `ArgumentError` where the buffer of a server that is not ours is to be sized from them."""
    for run in runs:
        if workload.test(run.cell.test).data_to_buffer is not None and run.cell.system.url:
            raise ArgumentError(
                f"{workload.name}.{run.cell.test} starts its server again with a buffer made for "
                f"its data, and {run.cell.system.label} is not ours to start",
                hint="name the system instead of its URL, or another test",
            )
    row_source(workload).check(workload, [run.cell.parameters for run in runs])
