"""How runs have ended, and the exit status that follows from them.

It is the same whether an experiment was executed in one process or continued, and
`assay.Result.is_ok` is true where it is 0.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal, NamedTuple

from assay.errors import RunFailed, SystemUnderTestError, YouError
from assay.judge.run import EXCEEDED, RunSummary

EndState = Literal["done", "failed", "exceeded", "interrupted", "refused"]
"""How a run has ended."""
REFUSED: Literal["refused"] = "refused"
ENDED = ("done", "failed", EXCEEDED, REFUSED)
"""States of runs that are not repeated when their experiment is continued."""

EXIT_STATUS = f"""coalesce(runs.exit_status, CASE
    WHEN runs.state <> 'failed' THEN 0
    WHEN EXISTS (SELECT 1 FROM observations WHERE run_id = runs.id) THEN {RunFailed.exit_code}
    ELSE {SystemUnderTestError.exit_code} END)"""
"""Of a row of ``runs``, in SQL; in an older record, which lacks it, it follows from the state and
the observation."""


class RunEnd(NamedTuple):
    """How a run has ended."""

    state: str
    exit_status: int = 0
    """1: it was measured and failed; 2: it cannot be done as asked; 3: it could not be measured
    because of the system under test or the machine; 0: neither. A run that was refused, or ended
    early since it was far beyond the limit of a goal, has 0 of its own."""

    @property
    def is_refused(self) -> bool:
        return self.state == REFUSED


def end_of(run: RunSummary) -> RunEnd:
    """How it has ended, if it has."""
    return RunEnd(run.state, run.exit_status)


def exit_status(ends: Iterable[RunEnd]) -> int:
    """Of an experiment: 1 if a run was measured and failed; otherwise 2 if one cannot be done as
    asked, or all were refused, so that nothing was measured; otherwise 3 if one could not be
    measured. A refused run beside others is no failure."""
    found = tuple(ends)
    statuses = {end.exit_status for end in found}
    if found and all(end.is_refused for end in found):
        statuses.add(YouError.exit_code)
    return min(statuses - {0}, default=0)
