"""Keeps the rows that a query returns; compares two dumps, which must hold the same rows in the
same order."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Annotated

from msgspec.structs import replace

from assay.contracts.observation import ReferenceReport
from assay.drive import query
from assay.drive.query import StatementAnswer
from assay.experiment import Scalar
from assay.judge.result_checks import check_dumps
from assay.lab.run_context.context import Dumps, RunState
from assay.plan.drives import parameters_of
from assay.text.keys import TEXT, in_file
from assay.workload import steps
from assay.workload.steps import Step, earlier_of_key


@dataclass(frozen=True)
class Dump(Step):
    """Keeps the rows that a query returns, for a `Compare`."""

    do = "dump"
    found_as = "dump"
    script: Annotated[str, in_file(TEXT, "The script file that is run.", steps.script_of_key)] = (
        field(kw_only=True)
    )
    own: Annotated[
        str,
        in_file(
            TEXT, "The script that reads what no other client can change.", steps.script_of_key
        ),
    ] = ""
    """The script that reads the part of a client's rows that other clients cannot change; empty:
    none. Where dumps differ and this part does not, clients overtook one another and no update was
    lost."""
    each: Annotated[
        str,
        in_file(TEXT, "The variable that numbers the dumps, from 0; otherwise there is one dump."),
    ] = ""
    """Up to the number of clients; empty: one dump."""

    @property
    def scripts_run_once(self) -> tuple[str, ...]:
        return (self.script, self.own) if self.own else (self.script,)

    @property
    def own_variables(self) -> Mapping[str, int]:
        return {self.each: 0} if self.each else {}

    def take(self, state: RunState) -> None:
        """One answer for each client, or a single one. Raises as `query.ask` does."""
        parameters = parameters_of(state.workload, state.planned, self)
        own = _answers(state, self, self.own, parameters) if self.own else ()
        state.dumps[self.label] = Dumps(_answers(state, self, self.script, parameters), own)


def _answers(
    state: RunState, step: Dump, name: str, parameters: Mapping[str, Scalar]
) -> tuple[StatementAnswer, ...]:
    workload, pooled = state.workload, state.up()
    script = workload.script_for(name, pooled.system.dialect)
    variables = workload.with_defaults(parameters)
    numbers = range(state.planned.cell.clients if step.each else 1)
    return tuple(
        query.ask_for_all(
            pooled.deployment,
            script,
            {**variables, **({step.each: number} if step.each else {})},
            workload.identifiers_for(parameters),
        )
        for number in numbers
    )


@dataclass(frozen=True)
class Compare(Step):
    """Two dumps must hold the same rows in the same order."""

    do = "compare"
    expected: Annotated[
        str, in_file(TEXT, "The dump with the rows that are expected.", earlier_of_key("dump"))
    ] = field(kw_only=True)
    found: Annotated[str, in_file(TEXT, "The dump that is compared.", earlier_of_key("dump"))] = (
        field(kw_only=True)
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
