"""Takes the steps of a run; returns the one whose numbers are those of the run: of the steps that
are in the record, and of those of a test, before they have begun.

It is the step that was declared to be the result; else the last one that measures.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from assay.record.runs.records import StepRecord
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


def gives_the_numbers(steps: Sequence[Step], step: Step) -> bool:
    """Whether ``step`` will be it, of the steps of its test."""
    results = [one for one in steps if isinstance(one, Drive) and one.is_result]
    measuring = [one for one in steps if one.has_clients or one.updates_rows]
    return any(one is step for one in results or measuring[-1:])
