"""Takes a function that starts a deployment; returns how many sessions it accepts, with its default
limit and with the limit raised.

Experiment B7 (Beebe 2011, section 6): one server refused already at 16 jobs and another soon after,
both with a default limit of 100; both limits were raised to 1000.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from contextlib import AbstractContextManager

from assay import _engine
from assay.observation import LimitReport
from assay.observation.other_reports import SessionsFound
from assay.observation.shape import read
from assay.provision import engine_calls
from assay.provision.deployment import Deployment
from assay.provision.session import raise_as_ours

DeploymentOpener = Callable[[int | None], AbstractContextManager[Deployment]]
"""Starts a fresh deployment with a limit for that many clients; None: with the system's default."""


def observe(open_deployment: DeploymentOpener, upto: int) -> LimitReport:
    """Opens sessions one by one, up to ``upto``, with the default limit and with it raised."""
    return LimitReport(
        upto, _probe(open_deployment, None, upto), _probe(open_deployment, upto, upto)
    )


def _probe(open_deployment: DeploymentOpener, connections: int | None, upto: int) -> SessionsFound:
    with open_deployment(connections) as deployment:
        try:
            found = json.loads(engine_calls.probe(deployment.address.for_engine(), upto))
        except _engine.EngineError as error:
            raise_as_ours(error)
        return read(SessionsFound, {"limit": deployment.connection_limit, **found}, "probe")
