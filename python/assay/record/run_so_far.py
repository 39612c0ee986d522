"""Takes what a run hands over to the record, stage by stage; gives the run as far as it is known,
by which it is judged. It is made of these values: nothing is read back from the record.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from msgspec.structs import replace

from assay.contracts.observation import Observation, Observed
from assay.contracts.recorded import Machine
from assay.judge.run import CalibrationRecord, Run, StepRecord
from assay.load.existing_data import ExistingData, ExistingTable
from assay.plan import PlannedRun
from assay.record.file.kept_texts import storable
from assay.record.runs.records import parts_of_run
from assay.text.secrets import without_secrets


def begun(run_id: int, experiment_id: int, planned: PlannedRun, machine: Machine) -> Run:
    cell = planned.cell
    return Run(
        id=run_id,
        experiment_id=experiment_id,
        planned=planned,
        workload=cell.workload,
        system_label=storable(without_secrets(cell.system_label)),
        storage=cell.storage_name,
        cell_fingerprint=cell.fingerprint,
        state="provisioning",
        machine=machine,
    )


def with_step(run: Run, position: int, do: str, name: str, state: str) -> Run:
    """A step has begun."""
    return replace(run, steps=(*run.steps, StepRecord(position, do, name, state)))


def added(run: Run, **values: Any) -> Run:
    """What the current step found, by the fields of its record."""
    *before, step = run.steps
    return replace(run, steps=(*before, replace(step, **values)))


def amended(run: Run, observation: Observed) -> Run:
    """The last observation of clients, with what a later step says of it."""
    steps = list(run.steps)
    for place in reversed(range(len(steps))):
        if isinstance(steps[place].observation, Observation):
            steps[place] = replace(steps[place], observation=observation)
            break
    return replace(run, steps=tuple(steps))


def existed(run: Run, tables: Sequence[ExistingTable], *, is_after: bool) -> Run:
    """What the tables of a server hold that Assay did not fill."""
    if not tables:
        return run
    changed = {"after" if is_after else "before": tuple(tables)}
    return replace(run, existing_data=replace(run.existing_data or ExistingData(), **changed))


def whole(run: Run, calibrated: Sequence[CalibrationRecord], state: str, reason: str) -> Run:
    """As it is if it ends in this state. ``calibrated``: before it, on this machine with this
    build."""
    parts = parts_of_run(run.steps, run.deployment, calibrated)
    return replace(run, state=state, reason=reason, **parts)
