"""Takes the evidence of a run; says how near it came to the most that its clients can do."""

from __future__ import annotations

from typing import NamedTuple

from assay.judge.evidence import Ceiling, Evidence
from assay.provision.deployment import was_embedded

CEILING_LIMIT = 0.70
"""Share of the client's ceiling beyond which the client's speed is part of the numbers."""


class Headroom(NamedTuple):
    statements_per_s: float
    ceiling: Ceiling

    @property
    def share(self) -> float:
        return self.statements_per_s / self.ceiling.statements_per_s


def of_run(run: Evidence) -> Headroom | None:
    """None where nothing was calibrated, or statements were not counted."""
    rate = statements_per_s(run)
    return None if run.ceiling is None or rate is None else Headroom(rate, run.ceiling)


def statements_per_s(run: Evidence) -> float | None:
    """None for a library that works in the client's own process: it is not the client's work."""
    observation, deployment = run.observation or {}, run.deployment or {}
    statements, elapsed_ns = observation.get("statements"), observation.get("elapsed_ns")
    if not statements or not elapsed_ns or was_embedded(deployment):
        return None
    return float(statements) / (float(elapsed_ns) / 1e9)
