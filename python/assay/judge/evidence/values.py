"""The evidence by which a run is judged: its settings, its results, and how it ended."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import msgspec
from msgspec import Struct

from assay.contracts.deployment import Deployment
from assay.contracts.observation import Observation, Observed, StepReport
from assay.experiment import Driving
from assay.judge.check.answers import Check
from assay.load.dataset_facts import DatasetFacts
from assay.load.existing_data import ExistingData


class Ceiling(Struct, frozen=True):
    """The highest rate of this many clients on this machine (`assay calibrate`)."""

    clients: int
    statements_per_s: float


class MachineFacts(msgspec.Struct, frozen=True):
    """What judging reads of the facts of a machine; None where it did not say."""

    processors: int | None = None
    processors_usable: int | None = None
    """By its affinity."""
    processors_limit: float | None = None
    """What the control groups around Assay allow."""
    memory_bytes: int | None = None
    memory_limit_bytes: int | None = None


class Evidence(Struct, frozen=True):
    """Of one run. A part is None where the run did not get so far."""

    state: str
    """How it ended: done, failed, exceeded, interrupted or refused; or its current stage."""
    reason: str
    system_label: str
    clients: int
    driving: Driving
    """How its clients were driven."""
    machine: MachineFacts
    deployment: Deployment | None = None
    dataset: DatasetFacts | None = None
    existing_data: ExistingData | None = None
    """Of a server or file by URL that Assay did not fill; None: it did, or an earlier Assay did not
    look."""
    observation: Observed | None = None
    reports: Sequence[StepReport] = ()
    """Of its steps that drove no clients."""
    checks: Sequence[Check] = ()
    ceiling: Ceiling | None = None
    """The nearest one that was calibrated; None where there is none."""
    run: int = 0
    """Its number in the record; 0: it has none."""
    of_repetition: int = 1
    """Of its cell, or the one in whose place it was measured, since other programs disturbed it."""

    @property
    def named_run(self) -> str:
        """``run 17 (SYSTEM, 8 clients)``, where one of several repetitions is meant."""
        return f"run {self.run} ({self.name})" if self.run else self.name

    @property
    def name(self) -> str:
        """``SYSTEM, 8 clients``."""
        return f"{self.system_label}, {self.clients} client{'' if self.clients == 1 else 's'}"

    @property
    def driven(self) -> Observation | None:
        """The observation, where clients were driven."""
        return self.observation if isinstance(self.observation, Observation) else None

    @property
    def may_commit(self) -> bool:
        """Whether what it measured may have committed something: queries need no durability."""
        return self.is_measured and (self.driven is None or self.driven.commits != 0)

    @property
    def is_embedded(self) -> bool:
        """Whether the system worked in the client's own process."""
        return self.deployment is None or self.deployment.is_embedded

    @property
    def is_measured(self) -> bool:
        """Whether it was measured to its end, right or wrong. An observation that was cut short
        does not count: its clients did not do the planned work."""
        if self.observation is None or self.state not in OBSERVED_STATES:
            return False
        return self.driven is None or self.driven.ended_by == "stop"


EXCEEDED: Literal["exceeded"] = "exceeded"
"""The state of a run that was ended since it was far beyond the limit of a goal."""
OBSERVED_STATES = ("checking", "done", "failed")
