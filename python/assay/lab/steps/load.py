"""Fills the system with the data set of the run, where they are not loaded already; or changes
some of the input, updates the rows to match, and compares them with a fresh load."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from assay.contracts.deployment import Deployment
from assay.contracts.dialects import Dialect
from assay.drive.prepare import may_change_data, sent_statements
from assay.errors import Bug, InputError, RunFailed, SystemDied
from assay.experiment import Scalar
from assay.judge.result_checks import is_not_run, wrong_answers
from assay.lab.pool import PooledSystem
from assay.lab.refusal import why_refused
from assay.lab.run_context.context import Context, RunState, broken_rules
from assay.load.dataset import Dataset
from assay.load.row_sources.protocol import Asked, DataRequest, UpdatesRows, request_of
from assay.plan import PlannedRun
from assay.plan.drives import parameters_of
from assay.workload.steps import Step


@dataclass(frozen=True)
class Load(Step):
    """Loads the data set of the run, counts its rows and runs its consistency checks."""

    do = "load"
    keys = ()
    needs = "tables"
    loads = True

    def take(self, state: RunState) -> None:
        """Raises `RunFailed` where a consistency check fails."""
        parameters = parameters_of(state.workload, state.planned, self)
        dataset = load(state, parameters, is_wanted_again=_is_loaded_again(state, self))
        keep(state, dataset)
        state.context.store.deployment_changed(state.up().deployment)


def keep(state: RunState, dataset: Dataset) -> None:
    """Records the data set that was loaded last."""
    state.context.store.loaded(dataset)
    state.request = dataset.request


def load(
    state: RunState, parameters: Mapping[str, Scalar], *, is_wanted_again: bool = False
) -> Dataset:
    """Loads the data of these parameters. ``is_wanted_again``: this run needs them again after it
    has changed them."""
    context, pooled = state.context, state.up()
    state.next_transaction, state.shared_numbers = 0, ()
    planned = replace(state.planned, cell=replace(state.planned.cell, parameters=parameters))
    context.events.stage("load")
    system = _RunSystem(context, planned, pooled)
    is_empty = state.test.data == "empty"
    request = request_of(context.workload, context.rows, Asked(parameters, system, is_empty))
    tables = context.workload.tables_for(parameters, system.dialect.language)
    again = is_wanted_again or _is_wanted_later(context, state.planned)
    try:
        dataset = pooled.load(tables, request, context.events, is_wanted_again=again)
    except InputError as error:
        if error.file:
            raise
        source = f"the source of rows {context.workload.data_source!r}"
        raise InputError(error.message, file=source, hint=error.hint) from error
    differs = context.known.same_data.difference(
        {"parameters": parameters, "is_empty": is_empty},
        pooled.deployment.label,
        system.dialect.language,
        dataset,
    )
    if differs is not None:
        raise RunFailed(
            f"{differs}: they cannot be compared",
            hint=f"the source of rows {context.workload.data_source!r} must make the same rows for "
            "every system",
        )
    if id(dataset) not in context.known.sound:
        rules = broken_rules(state, parameters)
        for check in filter(is_not_run, rules):
            raise SystemDied(f"after the load, the check {check['id']} was {check['note']}")
        wrong = [check for check in rules if check["ok"] is False]
        if wrong:
            state.checked(rules)  # those of a right load are checked, and kept, after the clients
            raise RunFailed(f"wrong after the load: {wrong_answers(wrong)}")
        context.known.sound[id(dataset)] = dataset
    return pooled.size_buffer(dataset, state.test.buffer_ratio(parameters))


def _is_loaded_again(state: RunState, step: Load) -> bool:
    """Whether this run loads the same data again after a step that may change them."""
    return any(isinstance(other, Load) for other in state.test.steps if other is not step)


def _is_wanted_later(context: Context, planned: PlannedRun) -> bool:
    """Whether a later run on the system may need the same data after another run may have changed
    them. Runs that are refused do neither."""
    return context.pool.needs_data_again(
        planned,
        lambda run: why_refused(context.compiled, run) is None,
        lambda run: may_change_data(context.compiled, run),
    )


@dataclass(frozen=True)
class _RunSystem:
    """The system of the run, as `assay.load.row_sources.protocol.RunSystem`."""

    context: Context
    planned: PlannedRun
    pooled: PooledSystem

    @property
    def dialect(self) -> Dialect:
        return self.pooled.system.dialect

    def load(self, request: DataRequest) -> Deployment:
        parameters = self.planned.cell.parameters
        tables = self.context.workload.tables_for(parameters, self.dialect.language)
        self.pooled.load(tables, request, self.context.events)
        return self.pooled.deployment

    def statements(self) -> list[str]:
        return [text for _, text in sent_statements(self.context.workload, self.planned)]


@dataclass(frozen=True)
class Update(Step):
    """Changes some input files, updates the rows to match, and compares them with a fresh load."""

    do = "update"
    keys = ()
    changes_data = True
    loads = True
    updates_rows = True

    def take(self, state: RunState) -> None:
        """Keeps the time of the update, and whether the rows equal those of a fresh load."""
        context, pooled, planned = state.context, state.up(), state.planned
        rows = context.rows
        if not isinstance(rows, UpdatesRows):
            raise Bug(f"the rows of {state.workload.name} cannot be updated")
        context.events.stage("update")
        pooled.forget()  # from here on its data differ from what was loaded
        observation = rows.update(
            pooled.deployment,
            pooled.system,
            state.workload.tables,
            planned.cell.parameters,
            planned.seed,
        )
        state.observed(self.label, observation)
