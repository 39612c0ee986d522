"""Takes the progress of clients; ends their work when the system under test has died.

Clients of a system of several processes may keep their sessions although the process behind them is
gone: without this they would go on to the end of the run, and every transaction would fail.
"""

from __future__ import annotations

import time

from assay.provision import process
from assay.provision.deployment import Deployment
from assay.systems.abilities import CrashReport
from assay.systems.protocol import System

ASK_EVERY_S = 0.5


def why_it_died(deployment: Deployment, system: System) -> str | None:
    """None as far as it lives. A server that has lost one process for want of memory may go on with
    the others, and is none that can be measured."""
    if (ended := process.why_out_of_memory(deployment)) is not None:
        return ended
    return system.why_it_died(deployment) if isinstance(system, CrashReport) else None


class DeathWatch:
    def __init__(self, deployment: Deployment, system: System) -> None:
        self._deployment = deployment
        self._system = system
        self._asked_s = time.monotonic()
        self.reason: str | None = None
        """Why the system died; None as far as it lives."""

    def is_alive(self) -> bool:
        """Asks the system now and then."""
        now_s = time.monotonic()
        if now_s - self._asked_s >= ASK_EVERY_S:
            self._asked_s = now_s
            self.reason = why_it_died(self._deployment, self._system)
        return self.reason is None
