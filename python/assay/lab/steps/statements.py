"""Runs the statements of a script once, outside any measurement; asks the system for the plan of
each statement of the test's scripts, and compares it with that of the step before of this kind."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Annotated

from assay import registry
from assay.contracts.dialects import Explains
from assay.contracts.observation import PlansReport, StatementPlan
from assay.contracts.systems.abilities import SpreadsSchema
from assay.drive import query
from assay.drive.prepare import statements_of
from assay.errors import AssayError
from assay.experiment import Scalar
from assay.lab.run_context.context import RunState
from assay.plan import PlannedRun
from assay.plan.drives import drives, parameters_of
from assay.text.keys import TEXT, in_file
from assay.workload import steps
from assay.workload.steps import Step
from assay.workload.values import Script

_EXPLAINED = frozenset(("select", "with", "insert", "update", "delete", "values", "replace"))
_ESTIMATES = frozenset(("id", "parent", "notused", "rows", "filtered", "partitions"))
"""Columns of an answer that change with the data, or only number it."""
_ESTIMATED = re.compile(r"\s*\(?(cost|rows|loops)=[^)\s]*\)?|~?[\d,.]+ rows?\b", re.IGNORECASE)
_FRAME = re.compile(r"[\s│┌┐└┘├┤┬┴─╭╮╰╯]+")


@dataclass(frozen=True)
class Plans(Step):
    """The plan of each statement, before a drive or after it."""

    do = "plans"
    keys = ()

    def why_refused(self, run: PlannedRun) -> str | None:
        choice = run.cell.system
        if isinstance(registry.system(choice.name).dialect, Explains):
            return None
        return f"{choice.label} does not say how it executes a statement"

    def take(self, state: RunState) -> None:
        state.context.events.stage("ask for plans")
        earlier = [one for one in state.reports.values() if isinstance(one, PlansReport)]
        before = {
            (one.transaction, one.statement): one.fingerprint
            for report in earlier[-1:]
            for one in report.statements
        }
        found = tuple(
            StatementPlan(
                transaction=transaction,
                statement=" ".join(statement.split()),
                plan=plan,
                fingerprint=None if plan is None else _fingerprint(plan),
                before=before.get((transaction, " ".join(statement.split()))),
            )
            for transaction, statement, plan in _plans(state)
        )
        state.observed(self.label, PlansReport(statements=found))


def _plans(state: RunState) -> Iterator[tuple[str, str, str | None]]:
    """(transaction, statement, plan) of each statement of all drives, once."""
    seen: set[tuple[str, str]] = set()
    workload, dialect = state.workload, state.up().system.dialect
    for drive in drives(workload, state.planned):
        variables = workload.with_defaults(drive.run.cell.parameters)
        for transaction, statement in statements_of(workload, drive, dialect):
            words = statement.lower().split()
            if (transaction, statement) in seen or not words or words[0] not in _EXPLAINED:
                continue
            seen.add((transaction, statement))
            script = workload.script_for(transaction, dialect)
            yield transaction, statement, _plan(state, script, statement, variables)


def _plan(
    state: RunState, script: Script, statement: str, variables: Mapping[str, Scalar]
) -> str | None:
    """None where the system, or the script's values, do not allow it."""
    pooled = state.up()
    sets = [line for line in script.text.splitlines() if line.lstrip().startswith("\\set ")]
    dialect = pooled.system.dialect
    assert isinstance(dialect, Explains), "other systems are refused before"
    explained = f"{dialect.explain}{statement};"
    asked = Script(script.name, script.path, "\n".join([*sets, explained]) + "\n")
    try:
        answer = query.ask(
            pooled.deployment,
            asked,
            variables,
            state.workload.identifiers_for(state.planned.cell.parameters),
        )
    except AssayError:
        return None
    return _without_estimates(answer.columns, answer.rows)


def _without_estimates(columns: Sequence[str], rows: Sequence[Sequence[str | None]]) -> str:
    kept = [at for at, name in enumerate(columns) if name.lower() not in _ESTIMATES]
    texts = (value for row in rows for at in kept if (value := row[at]) is not None)
    lines = (_ESTIMATED.sub("", line) for text in texts for line in text.splitlines())
    stripped = (_FRAME.sub(" ", line).strip() for line in lines)
    return "; ".join(line for line in stripped if line)


def _fingerprint(plan: str) -> str:
    return hashlib.sha256(plan.encode()).hexdigest()[:12]


@dataclass(frozen=True)
class Ddl(Step):
    """The statements of a script, once, outside any measurement."""

    do = "ddl"
    changes_data = True
    script: Annotated[str, in_file(TEXT, "The script file that is run.", steps.script_of_key)] = (
        field(kw_only=True)
    )

    @property
    def scripts_run_once(self) -> tuple[str, ...]:
        return (self.script,)

    def take(self, state: RunState) -> None:
        """Raises `SystemRefused` with the statement's error. No other run uses the system, because
        the changes of the script remain."""
        workload, pooled = state.workload, state.up()
        script = workload.script_for(self.script, pooled.system.dialect)
        parameters = parameters_of(workload, state.planned, self)
        state.context.events.stage(f"ddl {script.path}")
        pooled.forget()
        state.must_be_discarded = True
        query.ask(
            pooled.deployment,
            script,
            workload.with_defaults(parameters),
            workload.identifiers_for(parameters),
        )
        if isinstance(pooled.system, SpreadsSchema):
            pooled.system.wait_for_schema(pooled.deployment)
