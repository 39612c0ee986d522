"""Fills the system with the data set of the run; what is there already is not loaded again."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from assay.bibsql.bibliography import Bibliography
from assay.bibsql.reported import reported_entries
from assay.check.verdict import wrong_answers
from assay.drive.document import document_of, scripts_of
from assay.drive.read_only import may_change_data
from assay.errors import Bug, RunFailed
from assay.experiment import Scalar
from assay.load.dataset import Dataset
from assay.plan import PlannedRun
from assay.plan.drives import drives, parameters_of
from assay.row_sources.generated import request_of
from assay.row_sources.request import DataRequest
from assay.steps.consistency import broken_rules
from assay.steps.context import Context, RunState
from assay.workload.steps import Load


def take(state: RunState, step: Load) -> None:
    """Raises `RunFailed` where the workload's own rules find the data wrong."""
    parameters = parameters_of(state.workload, state.planned, step)
    dataset = load(state, parameters, is_wanted_again=_is_loaded_again(state, step))
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
    if parameters.get("variant") == "clean" and int(parameters.get("replicas", 1)) > 1:
        _find_reported(state, planned)
    request = request_for(context, planned)
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


def request_for(
    context: Context, planned: PlannedRun, files: Sequence[Path] | None = None
) -> DataRequest:
    """The data of this run; with ``files``, the same taken from these instead."""
    parameters, workload = planned.cell.parameters, context.workload
    if workload.data_source == "generated":
        is_empty = workload.test(planned.cell.test).data == "empty"
        return request_of(workload, parameters, is_empty=is_empty)
    given = bibliography(context)
    source = given if files is None else given.of_files(files)
    return source.request(
        replicas=int(parameters.get("replicas", 1)),
        variant=str(parameters.get("variant", "full")),
        seed=int(parameters.get("data_seed", 1)),
        reported=context.known.reported or [],
    )


def bibliography(context: Context) -> Bibliography:
    if context.bibliography is None:
        name = context.workload.name
        raise Bug(f"{name} was to be loaded with bibliographies, and none was read")
    return context.bibliography


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


def _find_reported(state: RunState, planned: PlannedRun) -> None:
    """Loads the plain data and asks the checks which entries they report; once per experiment."""
    context, pooled = state.context, state.up()
    workload, dialect = context.workload, pooled.system.dialect
    if context.known.reported is None and workload.update is not None:
        plain = bibliography(context).request(replicas=1)
        pooled.load(workload.tables, plain, context.progress)
        drive = drives(workload, planned)[0]
        document = document_of(workload, drive, dialect, scripts_of(workload, drive, dialect))
        context.known.reported = reported_entries(
            pooled.deployment, dialect, document, workload.update
        )
