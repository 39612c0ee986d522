"""Compares two dumps: they must hold the same rows in the same order."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Annotated, ClassVar

from msgspec.structs import replace

from assay.contracts.observation import ReferenceReport
from assay.judge.check.dumps import check_dumps
from assay.lab.run_context.context import RunState
from assay.lab.steps.dump import Dump
from assay.text.files.keys import TEXT, in_file
from assay.workload.steps import Step
from assay.workload.tests.step_keys import earlier


@dataclass(frozen=True)
class Compare(Step):
    """Two dumps must hold the same rows in the same order."""

    do: ClassVar[str] = "compare"
    expected: Annotated[
        str, in_file(TEXT, "The dump with the rows that are expected.", earlier("dump"))
    ] = field(kw_only=True)
    found: Annotated[str, in_file(TEXT, "The dump that is compared.", earlier("dump"))] = field(
        kw_only=True
    )

    def take(self, state: RunState) -> None:
        """Keeps a check for each answer; sets ``reference`` of the last observation, which counts
        the equal ones."""
        dump = next(
            step for step in state.test.steps if isinstance(step, Dump) and step.label == self.found
        )
        expected, found = state.dumps[self.expected], state.dumps[self.found]
        checks = check_dumps(
            expected.answers,
            found.answers,
            list(zip(expected.own, found.own, strict=False)),
            dump.each or self.found,
            state.workload.scripts[dump.script].title,
        )
        state.checked(checks)
        verdicts = [check["ok"] for check in checks]
        counts = {"equal_dumps": verdicts.count(True), "overtaken": verdicts.count(None)}
        if state.observation is not None:
            reference = state.observation.reference or ReferenceReport()
            state.add(reference=replace(reference, **counts))
