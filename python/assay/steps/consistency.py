"""Runs the consistency checks of a test: queries that must return no row."""

from __future__ import annotations

from collections.abc import Mapping

from assay.check.answers import Check
from assay.check.consistency import check_consistency, chosen
from assay.experiment import Scalar
from assay.steps.context import RunState


def broken_rules(state: RunState, parameters: Mapping[str, Scalar]) -> list[Check]:
    """The result of each consistency check, run now; its ``:clients`` are those of the run."""
    workload, pooled = state.workload, state.up()
    known = workload.checks_for(pooled.system.dialect)
    return check_consistency(
        pooled.deployment,
        chosen(known, state.test.checks),
        {"clients": state.planned.cell.clients, **workload.with_defaults(parameters)},
        workload.identifiers_for(parameters),
        pooled.system.dialect,
        workload.folder,
    )
