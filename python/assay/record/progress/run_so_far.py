"""Takes what a run hands over to the record, stage by stage; gives the evidence by which it is
judged. It is made of these values: nothing is read back from the record.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from msgspec import Struct, field
from msgspec.structs import replace

from assay.contracts.observation import Observation, Observed
from assay.contracts.recorded import Machine
from assay.judge import EndedRun, Evidence, RunWarning, Verdict
from assay.load.existing_data import ExistingData, ExistingTable
from assay.plan import PlannedRun
from assay.probe import Probe
from assay.record.file.json_text import json_text, storable
from assay.record.runs import calibrations, typed
from assay.record.runs.records import CalibrationRecord, StepRecord
from assay.record.runs.run_ends import EndState
from assay.record.runs.step_of_numbers import step_of_numbers
from assay.text.secrets import without_secrets


class RunSoFar(Struct):
    """The run that is under way."""

    id: int
    planned: PlannedRun
    machine: Machine
    calibrated: Sequence[CalibrationRecord]
    """Before it, on this machine with this build."""
    deployment: object = None
    """As the record keeps it."""
    dataset: object = None
    """The last one; as the record keeps it."""
    existing_data: ExistingData | None = None
    probe: Probe | None = None
    """The last one of its storage."""
    steps: list[StepRecord] = field(default_factory=list)

    def begin_step(self, position: int, do: str, name: str, state: str) -> None:
        self.steps.append(StepRecord(position, do, name, state))

    def add(self, **values: Any) -> None:
        """What the current step found, by the fields of its record."""
        self.steps[-1] = replace(self.steps[-1], **values)

    def amended(self, observation: Observed) -> None:
        """The last observation of clients, with what a later step says of it."""
        for place in reversed(range(len(self.steps))):
            if isinstance(self.steps[place].observation, Observation):
                self.steps[place] = replace(self.steps[place], observation=observation)
                return

    def existed(self, tables: Sequence[ExistingTable], *, is_after: bool) -> None:
        """What the tables of a server hold that Assay did not fill."""
        if tables:
            known = self.existing_data or ExistingData()
            changed = {"after" if is_after else "before": tuple(tables)}
            self.existing_data = replace(known, **changed)

    def evidence(self, state: EndState, reason: str) -> Evidence:
        """By which it is judged if it ends in this state."""
        cell = self.planned.cell
        measured = step_of_numbers(self.steps)
        observation = measured.observation if measured else None
        facts = typed.run_facts(
            _as_kept(self.deployment), _as_kept(self.dataset), self.machine, f"run {self.id}"
        )
        nearest = calibrations.nearest_to(self.calibrated, facts.deployment, observation, None)
        return Evidence(
            state=state,
            reason=reason,
            system_label=storable(without_secrets(cell.system_label)),
            clients=cell.clients,
            driving=cell.driving,
            machine=facts.machine,
            deployment=facts.deployment,
            dataset=facts.dataset,
            existing_data=self.existing_data,
            observation=observation,
            reports=tuple(step.reported for step in self.steps if step.reported is not None),
            checks=tuple(check for step in self.steps for check in step.checks),
            ceiling=None if nearest is None else nearest.ceiling,
            run=self.id,
            of_repetition=self.planned.of_repetition,
        )

    def ended(
        self, state: EndState, reason: str, verdict: Verdict, warnings: Sequence[RunWarning]
    ) -> EndedRun:
        """As metrics read it."""
        parameters = self.planned.cell.parameters
        return EndedRun(self.evidence(state, reason), verdict, warnings, self.probe, parameters)


def _as_kept(document: object) -> Any:
    """As JSON has it, without passwords."""
    return None if document is None else json.loads(json_text(document))
