"""Opens sessions until one is refused, with the system's default limit and with it raised."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import ClassVar

from assay.drive import limit
from assay.provision.deployment import Deployment
from assay.provision.stage import provision
from assay.steps.context import RunState
from assay.workload.steps import Step


@dataclass(frozen=True)
class Limit(Step):
    """Sessions are opened until one is refused, with the default limit and with it raised."""

    do: ClassVar[str] = "limit"
    has_clients: ClassVar[bool] = True
    needs_system: ClassVar[bool] = False

    def take(self, state: RunState) -> None:
        """Keeps the number of sessions; each limit has its own deployment."""
        cell, context = state.planned.cell, state.context

        @contextmanager
        def open_deployment(connections: int | None) -> Iterator[Deployment]:
            with provision(cell.system, cell.storage, connections=connections) as deployment:
                if connections is None:
                    context.store.provisioned(deployment)
                yield deployment

        context.progress.stage(f"provision {cell.system.label}")
        state.observed(self.label, limit.observe(open_deployment, cell.clients))
