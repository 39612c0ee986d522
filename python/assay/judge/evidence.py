"""What a run is judged by: what was asked of it, what it found, and how it ended."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

Document = Mapping[str, Any]


@dataclass(frozen=True)
class Ceiling:
    """The most that so many clients of this machine can do (`assay calibrate`)."""

    clients: int
    statements_per_s: float


@dataclass(frozen=True)
class Evidence:
    """Of one run. A document is None where the run did not get so far."""

    state: str
    """How it ended: done, failed, interrupted or refused; or the stage that it is in."""
    reason: str
    system_label: str
    clients: int
    driving: Document
    """How its clients were driven (`assay.experiment.Driving`)."""
    machine: Document
    deployment: Document | None = None
    dataset: Document | None = None
    observation: Document | None = None
    checks: Sequence[Document] = ()
    ceiling: Ceiling | None = None
    """The nearest one that was calibrated; None where there is none."""

    @property
    def name(self) -> str:
        """``SYSTEM, 8 clients``."""
        return f"{self.system_label}, {self.clients} client{'' if self.clients == 1 else 's'}"

    @property
    def is_measured(self) -> bool:
        """Whether it came to its end, rightly or wrongly. An observation that was cut short
        measures nothing: its clients did other work than asked."""
        if self.observation is None or self.state not in OBSERVED_STATES:
            return False
        return bool(self.observation.get("ended_by", "stop") == "stop")


OBSERVED_STATES = ("checking", "done", "failed")
