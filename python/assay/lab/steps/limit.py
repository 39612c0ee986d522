"""Opens sessions until one is refused, with the system's default limit and with it raised.

Experiment B7 (Beebe 2011, section 6): one server refused already at 16 jobs and another soon after,
both with a default limit of 100; both limits were raised to 1000.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from typing import ClassVar

from assay import _engine
from assay.contracts.deployment import Deployment
from assay.contracts.observation import LimitReport
from assay.contracts.observation.parts.shape import read
from assay.contracts.observation.step_reports.other_reports import SessionsFound
from assay.lab.run_context.context import RunState
from assay.provision.engine import engine_calls
from assay.provision.engine.session import raise_as_ours
from assay.provision.provision import provision
from assay.text.files.keys import Key
from assay.workload.steps import Step

_DeploymentOpener = Callable[[int | None], AbstractContextManager[Deployment]]
"""Starts a fresh deployment with a limit for that many clients; None: with the system's default."""


@dataclass(frozen=True)
class Limit(Step):
    """Sessions are opened until one is refused, with the default limit and with it raised."""

    do: ClassVar[str] = "limit"
    keys: ClassVar[tuple[Key, ...] | None] = ()
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

        context.events.stage(f"provision {cell.system.label}")
        state.observed(self.label, _observe(open_deployment, cell.clients))


def _observe(open_deployment: _DeploymentOpener, upto: int) -> LimitReport:
    """Opens sessions one by one, up to ``upto``, with the default limit and with it raised."""
    return LimitReport(
        upto, _probe(open_deployment, None, upto), _probe(open_deployment, upto, upto)
    )


def _probe(open_deployment: _DeploymentOpener, connections: int | None, upto: int) -> SessionsFound:
    with open_deployment(connections) as deployment:
        try:
            report = json.loads(engine_calls.probe(deployment.address.for_engine(), upto))
        except _engine.EngineError as error:
            raise_as_ours(error)
        return read(SessionsFound, {"limit": deployment.connection_limit, **report}, "probe")
