"""Opens sessions until one is refused; computes the cost of a session, the difference between
clients that open one per transaction and clients that keep theirs."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field
from typing import Annotated

from assay import _engine
from assay.contracts.deployment import Deployment
from assay.contracts.documents import read_shape
from assay.contracts.observation import ConnectReport, LimitReport, Observation
from assay.contracts.observation.step_reports import SessionsFound
from assay.drive.observe import first_error
from assay.errors import RunFailed
from assay.lab.run_context.context import RunState
from assay.provision.engine import engine_calls
from assay.provision.engine.engine_calls import raise_as_ours
from assay.provision.running_system import provision
from assay.text.keys import TEXT, in_file
from assay.workload.steps import Step, earlier_of_key

_DeploymentOpener = Callable[[int | None], AbstractContextManager[Deployment]]
"""Starts a fresh deployment with a limit for that many clients; None: with the system's default."""


@dataclass(frozen=True)
class Limit(Step):
    """Sessions are opened until one is refused, with the default limit and with it raised."""

    do = "limit"
    keys = ()
    has_clients = True
    needs_system = False

    def take(self, state: RunState) -> None:
        """Keeps the number of sessions; each limit has its own deployment."""
        cell, context = state.planned.cell, state.context

        @contextmanager
        def open_deployment(connections: int | None) -> Iterator[Deployment]:
            with provision(cell.system, cell.storage, connections=connections) as deployment:
                if connections is None:
                    context.store.provisioned(deployment)
                yield deployment

        context.events.stage(f"start {cell.system.label}")
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
        return read_shape(SessionsFound, {"limit": deployment.connection_limit, **report}, "probe")


@dataclass(frozen=True)
class SessionCost(Step):
    """The cost of a session: the difference between two drives."""

    do = "session_cost"
    kept: Annotated[
        str, in_file(TEXT, "The drive whose clients keep their session.", earlier_of_key("drive"))
    ] = field(kw_only=True)
    per_transaction: Annotated[
        str,
        in_file(
            TEXT,
            "The drive whose clients open a session for each transaction.",
            earlier_of_key("drive"),
        ),
    ] = field(kw_only=True)

    def take(self, state: RunState) -> None:
        """Sets ``connect`` of the last observation: the time per transaction of both drives, and
        their difference."""
        outside_ns = _round_ns(state.driven(self.kept))
        inside_ns = _round_ns(state.driven(self.per_transaction))
        state.add(connect=ConnectReport(inside_ns, outside_ns, inside_ns - outside_ns))


def _round_ns(observation: Observation) -> int:
    """The time of one transaction of one client, with the overhead of the loop around it."""
    ended = observation.outcomes.ok
    if not ended or ended < observation.outcomes.scheduled:
        raise RunFailed(f"a transaction of the loop failed{first_error(observation)}")
    return round(observation.elapsed_ns / (ended // observation.clients))
