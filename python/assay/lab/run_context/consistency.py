"""Runs the consistency checks of a test: queries that must return no row; says why those of them
were not run that the system cannot express."""

from __future__ import annotations

from collections.abc import Mapping

from assay.experiment import Scalar
from assay.judge.check.answers import Check, not_run
from assay.judge.check.consistency import check_consistency, chosen
from assay.lab.run_context.context import RunState


def broken_rules(state: RunState, parameters: Mapping[str, Scalar]) -> list[Check]:
    """The result of each consistency check, run now; its ``:clients`` are those of the run."""
    workload, pooled = state.workload, state.up()
    known = workload.checks_for(pooled.system.dialect)
    found = check_consistency(
        pooled.deployment,
        chosen(known, state.test.checks),
        {"clients": state.planned.cell.clients, **workload.with_defaults(parameters)},
        workload.identifiers_for(parameters),
        pooled.system.dialect,
        workload.folder,
    )
    for check in found:
        check["title"] = workload.checks[check["id"]].title
    return found


def not_expressible(state: RunState) -> list[Check]:
    """The checks of the test that have no text in the system's language, each with the reason."""
    workload, dialect = state.workload, state.up().system.dialect
    return [
        not_run(
            check.name,
            check.title,
            workload.why_not_expressible(check.name, dialect)
            or f"it has no text in {dialect.language}",
        )
        for check in chosen(workload.checks.values(), state.test.checks)
        if not workload.is_spoken(check.name, dialect)
    ]
