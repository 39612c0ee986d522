"""Takes a run whose clients are about to work; measures meanwhile how stale the replicas are at
which they read, where the data are Assay's own."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from typing import Any

from assay.contracts.engine.drive import DriveDocument
from assay.contracts.observation import Observation
from assay.drive.staleness import meter
from assay.lab.run_context.context import RunState

Findings = Callable[[Observation], dict[str, Any]]
"""What an observation is to say of it."""


@contextlib.contextmanager
def measured(state: RunState, document: DriveDocument) -> Iterator[Findings]:
    """A block in which the clients work."""
    pooled = state.up()
    with meter.measured(
        pooled.deployment,
        pooled.system.dialect,
        document,
        state.context.events.emit,
        may_write=state.test.loads,
        is_first=not any(isinstance(one, Observation) for one in state.reports.values()),
    ) as found:
        yield lambda observation: {
            "staleness": meter.reports(found.names, found.findings, observation),
            "why_no_staleness": found.why_not,
        }
