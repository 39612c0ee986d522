"""Asks the system for the plan of each statement of the test's scripts; compares it with the plan
of the step before of this kind.

Values are those of the first transaction of a seed, so that both steps ask about the same ones.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar, Protocol, runtime_checkable

from assay import registry
from assay.contracts.metric import COUNT, Metric
from assay.contracts.observation import StepReport, StepTable
from assay.contracts.observation.shape import Shape
from assay.contracts.warning_text import WarningText
from assay.drive import query
from assay.drive.prepare import statements_of
from assay.errors import AssayError
from assay.experiment import Scalar
from assay.lab.steps.context import RunState
from assay.plan import PlannedRun
from assay.plan.drives import drives
from assay.workload.steps import Step
from assay.workload.values import Script


@runtime_checkable
class Explains(Protocol):
    """A dialect whose system says how it will execute a statement."""

    @property
    def explain(self) -> str:
        """What is written before the statement."""
        ...


_EXPLAINED = frozenset(("select", "with", "insert", "update", "delete", "values", "replace"))
_ESTIMATES = frozenset(("id", "parent", "notused", "rows", "filtered", "partitions"))
"""Columns of an answer that change with the data, or only number it."""
_ESTIMATED = re.compile(r"\s*\(?(cost|rows|loops)=[^)\s]*\)?|~?[\d,.]+ rows?\b", re.IGNORECASE)
_FRAME = re.compile(r"[\s│┌┐└┘├┤┬┴─╭╮╰╯]+")


class StatementPlan(Shape, frozen=True):
    transaction: str
    statement: str
    plan: str | None
    """Its lines, without estimates; None: the system did not say it."""
    fingerprint: str | None
    before: str | None = None
    """The fingerprint of the step before of this kind; None: there is none."""

    @property
    def is_changed(self) -> bool:
        return None not in (self.fingerprint, self.before) and self.fingerprint != self.before


class PlansReport(StepReport, frozen=True, tag_field="kind", tag="plans"):
    """The plan of each statement."""

    metrics: ClassVar[tuple[Metric, ...]] = (
        Metric(
            name="plans_changed",
            unit="count",
            meaning="statements with another plan after the drive than before",
            value=lambda report: sum(one.is_changed for one in report.statements),
            words=COUNT,
        ),
        Metric(
            name="plans_known",
            unit="count",
            meaning="statements whose plan the system said",
            value=lambda report: sum(one.plan is not None for one in report.statements),
        ),
    )
    warning_texts: ClassVar[Mapping[str, WarningText]] = {
        "plan-changed": WarningText(
            "a statement had another plan after the drive than before: its numbers are of both",
            'see both plans with --detail; `do = "analyze"` before the drive, or no change of '
            "indexes and statistics in it",
            limits=True,
        )
    }
    is_beside: ClassVar[bool] = True

    statements: tuple[StatementPlan, ...]

    def warnings(self) -> Iterable[tuple[str, str]]:
        for one in self.statements:
            if one.is_changed:
                yield "plan-changed", f"{one.transaction}: {one.before} became {one.fingerprint}"

    def shown(self) -> Iterable[StepTable]:
        rows = tuple(
            (one.transaction, one.statement, one.fingerprint, one.plan) for one in self.statements
        )
        yield StepTable("Plans", ("transaction", "statement", "fingerprint", "plan"), rows)


@dataclass(frozen=True)
class Plans(Step):
    """The plan of each statement, before a drive or after it."""

    do: ClassVar[str] = "plans"

    def why_refused(self, run: PlannedRun) -> str | None:
        choice = run.cell.system
        if isinstance(registry.system(choice.name).dialect, Explains):
            return None
        return f"{choice.label} does not say how it executes a statement"

    def take(self, state: RunState) -> None:
        state.context.progress.stage("ask for plans")
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
    explained = f"{pooled.system.dialect.explain}{statement};"  # type: ignore[attr-defined]
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
