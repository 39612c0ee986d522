"""Compares two dumps: they must hold the same rows in the same order."""

from __future__ import annotations

from msgspec.structs import replace

from assay.check.dumps import check_dumps
from assay.observation import ReferenceReport
from assay.steps.context import RunState
from assay.workload.steps import Compare, Dump


def take(state: RunState, step: Compare) -> None:
    """A check for each answer; the last observation gets ``reference``, in which the equal ones are
    counted."""
    dump = next(
        one for one in state.test.steps if isinstance(one, Dump) and one.label == step.found
    )
    expected, found = state.dumps[step.expected], state.dumps[step.found]
    checks = check_dumps(
        expected.answers,
        found.answers,
        list(zip(expected.own, found.own, strict=False)),
        dump.each or step.found,
        state.workload.scripts[dump.script].title,
    )
    state.checked(checks)
    verdicts = [check["ok"] for check in checks]
    counts = {"equal_dumps": verdicts.count(True), "overtaken": verdicts.count(None)}
    if state.observation is not None:
        reference = state.observation.reference or ReferenceReport()
        state.add(reference=replace(reference, **counts))
