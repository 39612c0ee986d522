"""Takes a count that grows while clients progress; ends the run when the server no longer responds.

A run that ends by counts has no other limit: with a stopped server it would never end. Long
transactions do not end it, because the server still opens sessions.
"""

from __future__ import annotations

import threading
import time

from assay.contracts.deployment import Deployment
from assay.contracts.events import Sink, Warned
from assay.errors import SystemDied
from assay.provision.engine.session import responds

QUIET_S = 60.0
"""How long the count may stand still before a session is opened as a test, and between tests."""
MOST_UNANSWERED = 2


class SilentServer:
    """``no_progress``: that the count stands still, in words."""

    def __init__(
        self,
        deployment: Deployment,
        emit: Sink,
        no_progress: str = "no transaction has ended",
    ) -> None:
        self._deployment = deployment
        self._emit = emit
        self._no_progress = no_progress
        self._count = -1
        self._since_s = self._asked_s = time.monotonic()
        self._unanswered = 0
        self._asking: threading.Thread | None = None

    def progressed(self, count: int) -> None:
        """Raises `SystemDied` where the count has stood still for long and no session can be
        opened."""
        now_s = time.monotonic()
        if count != self._count:
            self._count, self._unanswered = count, 0
            self._since_s = self._asked_s = now_s
        if self._deployment.is_embedded or (self._asking and self._asking.is_alive()):
            return
        quiet_s = now_s - self._since_s
        if self._unanswered >= MOST_UNANSWERED:
            raise SystemDied(
                f"{self._deployment.label} does not answer: {self._no_progress} for "
                f"{quiet_s:.0f} s, and it opens no session",
                hint="is the server stopped, or the network down?",
            )
        if now_s - self._asked_s >= QUIET_S:
            self._asked_s = now_s
            self._emit(Warned(f"{self._no_progress} for {quiet_s:.0f} s"))
            # In a thread: the clients wait for this function to return.
            self._asking = threading.Thread(target=self._ask, name="silent server", daemon=True)
            self._asking.start()

    def _ask(self) -> None:
        self._unanswered = 0 if responds(self._deployment.address) else self._unanswered + 1
