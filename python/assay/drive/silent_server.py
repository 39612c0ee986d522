"""Takes the progress of clients; ends the run when the server no longer responds.

A run that ends by counts has no other limit: with a stopped server it would never end. Long
transactions do not end it, because the server still opens sessions.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping
from typing import Any

from assay.errors import SystemDied
from assay.provision.deployment import Deployment
from assay.provision.session import responds

QUIET_S = 60.0
"""How long no transaction may end before a session is opened as a test, and between such tests."""
MOST_UNANSWERED = 2


class SilentServer:
    def __init__(self, deployment: Deployment, warn: Callable[[str], None]) -> None:
        self._deployment = deployment
        self._warn = warn
        self._ended = -1
        self._since_s = self._asked_s = time.monotonic()
        self._unanswered = 0
        self._asking: threading.Thread | None = None

    def progressed(self, report: Mapping[str, Any]) -> None:
        """Raises `SystemDied` where no transaction has ended for long and no session can be
        opened."""
        ended, now_s = report["done"] + report["failed"], time.monotonic()
        if ended != self._ended:
            self._ended, self._unanswered = ended, 0
            self._since_s = self._asked_s = now_s
        if self._deployment.is_embedded or (self._asking and self._asking.is_alive()):
            return
        quiet_s = now_s - self._since_s
        if self._unanswered >= MOST_UNANSWERED:
            raise SystemDied(
                f"{self._deployment.label} does not answer: no transaction has ended for "
                f"{quiet_s:.0f} s, and it opens no session",
                hint="is the server stopped, or the network down?",
            )
        if now_s - self._asked_s >= QUIET_S:
            self._asked_s = now_s
            self._warn(f"no transaction has ended for {quiet_s:.0f} s")
            # In a thread: the engine waits for this function to return.
            self._asking = threading.Thread(target=self._ask, name="silent server", daemon=True)
            self._asking.start()

    def _ask(self) -> None:
        self._unanswered = 0 if responds(self._deployment.address) else self._unanswered + 1
