"""Takes an experiment and its workload; returns the quick version of both, for a laptop: parameters
and tests as the workload declares them for it, and all else as ``[quick]`` of the experiment file
says."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from assay.errors import ArgumentError
from assay.experiment.values import Experiment
from assay.workload.values import Quick, Workload


def version_of(
    experiment: Experiment, workload: Workload, said: Mapping[str, Any] | None = None
) -> tuple[Experiment, Workload]:
    """``said``: fields of `Experiment` as ``[quick]`` sets them. What the workload declares comes
    before what the file says elsewhere. Raises `ArgumentError` where nothing is declared, so that
    nothing would be quicker."""
    declared = {
        parameter.name: (parameter.quick,)
        for parameter in workload.parameters.values()
        if parameter.quick is not None
        and (not parameter.tests or set(parameter.tests) & set(experiment.tests))
    }
    tests = [workload.test(name).quick for name in experiment.tests]
    changes = dict(said or {})
    if not declared and not changes and all(quick == Quick() for quick in tests):
        raise ArgumentError(
            f"{workload.name} declares no quick values, so --quick would change nothing",
            hint="name them in an experiment file, [quick.parameters] or [quick.drive], or leave "
            "--quick out",
        )
    parameters = {**experiment.parameters, **declared, **changes.pop("parameters", {})}
    of_tests = {name for quick in tests for name in quick.driving}
    driving = {name: level for name, level in experiment.driving.items() if name not in of_tests}
    driving |= changes.pop("driving", {})
    if any(quick.clients for quick in tests):
        changes = {"clients": (), **changes}
    quickly = replace(experiment, parameters=parameters, driving=driving, is_quick=True, **changes)
    return quickly, workload.quickly()
