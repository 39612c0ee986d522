"""Takes every planned run; refuses what cannot be loaded, before anything is started."""

from __future__ import annotations

from collections.abc import Iterable

from assay.errors import ArgumentError
from assay.plan import PlannedRun
from assay.workload.values import Workload


def check_rows(workload: Workload, runs: Iterable[PlannedRun]) -> None:
    """Raises `ExperimentError` where the tables of a run cannot be made with its parameters, and
    `ArgumentError` where the buffer of a server that is not ours is to be sized from them."""
    if workload.data_source != "generated":
        return
    seen = set()
    for run in runs:
        if workload.test(run.cell.test).data_to_buffer is not None and run.cell.system.url:
            raise ArgumentError(
                f"{workload.name}.{run.cell.test} starts its server again with a buffer made for "
                f"its data, and {run.cell.system.label} is not ours to start",
                hint="name the system instead of its URL, or another test",
            )
        parameters = workload.with_defaults(run.cell.parameters)
        levels = tuple(parameters[name] for name in workload.schema.used(parameters))
        if levels not in seen:
            seen.add(levels)
            workload.schema.check(parameters)
