"""Takes the progress of clients; ends their work when the system under test has died.

Clients of a system of several processes may keep their sessions although the process behind them is
gone: without this they would go on to the end of the run, and every transaction would fail.
"""

from __future__ import annotations

import time

from assay.provision.deployment import Deployment
from assay.systems.abilities import CrashReport
from assay.systems.protocol import System

ASK_EVERY_S = 0.5


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
        if now_s - self._asked_s >= ASK_EVERY_S and isinstance(self._system, CrashReport):
            self._asked_s = now_s
            self.reason = self._system.why_it_died(self._deployment)
        return self.reason is None
