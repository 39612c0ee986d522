"""Takes the steps of a run; returns the one whose numbers are those of the run: of the steps that
are in the record, and of those of a test, before they have begun. It is the step that was declared
to be the result; else the last one that measures. Gives what the run has of its steps, too.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Final

from assay.judge.run import CalibrationRecord, Document, StepRecord
from assay.load.dataset_facts import dataset_facts
from assay.record.runs import calibrations, typed
from assay.workload.steps import Drive, Step

IS_RESULT: Final = "is_result"
"""In a drive document: its step was declared to be the result of the test."""


def step_of_numbers(steps: Sequence[StepRecord]) -> StepRecord | None:
    """The declared result counts where it has an observation; of the others, one with an
    observation that is shown for the run before one with a drive, and that before any other."""
    candidates = [
        *(step for step in steps if step.driven is not None and (step.drive or {}).get(IS_RESULT)),
        *(step for step in reversed(steps) if step.observation and not step.is_beside),
        *(step for step in reversed(steps) if step.drive is not None),
        *(step for step in reversed(steps) if step.observation is not None),
    ]
    return candidates[0] if candidates else None


def parts_of_run(
    steps: Sequence[StepRecord],
    deployment_document: Document | None,
    calibrated: Iterable[CalibrationRecord],
    name: str,
    ended_unix_ns: int | None = None,
) -> dict[str, Any]:
    """Fields of a run that follow from its steps and its deployment, by their names. ``name``: of
    the run, in messages; ``ended_unix_ns``: None, it is under way."""
    measured = step_of_numbers(steps) or _NO_STEP
    dataset = next((one.dataset for one in reversed(steps) if one.dataset is not None), None)
    deployment = typed.deployment(deployment_document, f"{name}: deployment")
    return {
        **{part: getattr(measured, part) for part in _OF_ONE_STEP},
        "steps": tuple(steps),
        "seconds": measured.driven.intervals if measured.driven else measured.seconds,
        "checks": tuple(check for step in steps for check in step.checks),
        "dataset": dataset,
        "deployment": deployment,
        "data": None if dataset is None else dataset_facts(dataset, f"{name}: data set"),
        "calibration": calibrations.nearest_to(
            calibrated, deployment, measured.observation, ended_unix_ns
        ),
    }


_NO_STEP = StepRecord(0, "", "", "")
_OF_ONE_STEP = (
    "drive", "scripts", "observation", "samples", "open_files", "storage_requests",
)  # fmt: skip


def gives_the_numbers(steps: Sequence[Step], step: Step) -> bool:
    """Whether ``step`` will be it, of the steps of its test."""
    results = [one for one in steps if isinstance(one, Drive) and one.is_result]
    measuring = [one for one in steps if one.has_clients or one.updates_rows]
    return any(one is step for one in results or measuring[-1:])
