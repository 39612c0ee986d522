"""Takes a run; returns its statement rate and the ceiling of its clients."""

from __future__ import annotations

from typing import NamedTuple

from assay.judge.run import CalibrationRecord, Run

CEILING_LIMIT = 0.70
"""Share of the ceiling beyond which the client's speed affects the numbers."""


class Headroom(NamedTuple):
    statements_per_s: float
    ceiling: CalibrationRecord

    @property
    def share(self) -> float:
        return self.statements_per_s / self.ceiling.statements_per_s


def of_run(run: Run) -> Headroom | None:
    """None where nothing was calibrated, or statements were not counted."""
    rate = statements_per_s(run)
    return None if run.calibration is None or rate is None else Headroom(rate, run.calibration)


def statements_per_s(run: Run) -> float | None:
    """None for a library that works in the client's own process: it is not the client's work."""
    driven = run.driven
    if driven is None or not driven.statements or not driven.elapsed_ns or run.is_embedded:
        return None
    return driven.statements / (driven.elapsed_ns / 1e9)
