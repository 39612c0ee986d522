"""Fills the system with the data set of the run; what is there already is not loaded again."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import ClassVar

from assay.check.verdict import wrong_answers
from assay.dialects.protocol import Dialect
from assay.drive.prepare import statements_of
from assay.drive.read_only import may_change_data
from assay.errors import RunFailed
from assay.experiment import Scalar
from assay.load.dataset import Dataset
from assay.plan import PlannedRun
from assay.plan.drives import drives, parameters_of
from assay.pool import PooledSystem
from assay.provision.deployment import Deployment
from assay.row_sources.protocol import Asked
from assay.row_sources.request import DataRequest
from assay.steps.consistency import broken_rules
from assay.steps.context import Context, RunState
from assay.workload.steps import Step


@dataclass(frozen=True)
class Load(Step):
    """The system holds the data set of the run, counted, and its consistency checks pass."""

    do: ClassVar[str] = "load"
    needs: ClassVar[str] = "tables"
    loads: ClassVar[bool] = True

    def take(self, state: RunState) -> None:
        """Raises `RunFailed` where the workload's own rules find the data wrong."""
        parameters = parameters_of(state.workload, state.planned, self)
        dataset = load(state, parameters, is_wanted_again=_is_loaded_again(state, self))
        keep(state, dataset)
        state.context.store.restarted(state.up().deployment)


def keep(state: RunState, dataset: Dataset) -> None:
    """Puts what was loaded last on record."""
    state.context.store.loaded(dataset.for_record())
    state.request = dataset.request


def load(
    state: RunState, parameters: Mapping[str, Scalar], *, is_wanted_again: bool = False
) -> Dataset:
    """The data of these parameters in the system. ``is_wanted_again``: by this run, after it has
    changed them."""
    context, pooled = state.context, state.up()
    planned = replace(state.planned, cell=replace(state.planned.cell, parameters=parameters))
    context.progress.stage("load")
    system = _RunSystem(context, planned, pooled)
    is_empty = state.test.data == "empty"
    request = context.rows.request(Asked(parameters, system, is_empty))
    tables = context.workload.tables_for(parameters)
    again = is_wanted_again or _is_wanted_later(context, state.planned)
    dataset = pooled.load(tables, request, context.progress, is_wanted_again=again)
    if all(dataset is not one for one in context.known.sound):
        rules = broken_rules(state, parameters)
        wrong = [check for check in rules if check["ok"] is False]
        if wrong:
            raise RunFailed(f"after the load, {wrong_answers(wrong)}")
        context.known.sound.append(dataset)
    return pooled.size_buffer(dataset, _data_to_buffer(state, parameters))


def _is_loaded_again(state: RunState, step: Load) -> bool:
    """Whether this run loads the same data again behind a step that may change them."""
    return any(isinstance(one, Load) for one in state.test.steps if one is not step)


def _is_wanted_later(context: Context, planned: PlannedRun) -> bool:
    """Whether the system has a later run that may want the same data, after one that may change
    them."""
    later = context.pool.later(planned)
    before = [planned, *later[:-1]] if later else []
    return any(may_change_data(context.workload, run) for run in before)


def _data_to_buffer(state: RunState, parameters: Mapping[str, Scalar]) -> float | None:
    """How many times the size of the buffer the data of this run must have."""
    asked = state.test.data_to_buffer
    value = parameters[asked] if isinstance(asked, str) else asked
    return None if value is None else float(value)


@dataclass(frozen=True)
class _RunSystem:
    """The system of the run, as `assay.row_sources.protocol.RunSystem`."""

    context: Context
    planned: PlannedRun
    pooled: PooledSystem

    @property
    def dialect(self) -> Dialect:
        return self.pooled.system.dialect

    def load(self, request: DataRequest) -> Deployment:
        tables = self.context.workload.tables_for(self.planned.cell.parameters)
        self.pooled.load(tables, request, self.context.progress)
        return self.pooled.deployment

    def statements(self) -> list[str]:
        workload = self.context.workload
        return [
            text
            for drive in drives(workload, self.planned)
            for text in statements_of(workload, drive, self.dialect)
        ]
