"""Takes an experiment; returns its quick version, for a laptop: parameters have the quick values
that the workload declares, and all else is as ``[quick]`` of the experiment file says."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from assay.errors import ArgumentError
from assay.experiment.values import Experiment
from assay.workload.values import Workload


def version_of(
    experiment: Experiment, workload: Workload, said: Mapping[str, Any] | None = None
) -> Experiment:
    """``said``: fields of `Experiment` as ``[quick]`` sets them. Raises `ArgumentError` where
    nothing is declared, so that nothing would be quicker."""
    declared = {
        parameter.name: (parameter.quick,)
        for parameter in workload.parameters.values()
        if parameter.quick is not None
        and (not parameter.tests or set(parameter.tests) & set(experiment.tests))
    }
    changes = dict(said or {})
    if not declared and not changes:
        raise ArgumentError(
            f"{workload.name} declares no quick values, so --quick would change nothing",
            hint="name them in an experiment file, [quick.parameters] or [quick.drive], or leave "
            "--quick out",
        )
    parameters = {**experiment.parameters, **declared, **changes.pop("parameters", {})}
    driving = {**experiment.driving, **changes.pop("driving", {})}
    return replace(experiment, parameters=parameters, driving=driving, is_quick=True, **changes)
