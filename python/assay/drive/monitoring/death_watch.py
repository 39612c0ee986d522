"""Takes the progress of clients; ends their work when the system or its storage has died.

Clients of a system of several processes may keep their sessions although the process behind them is
gone: without this they would go on to the end of the run, and every transaction would fail.
"""

from __future__ import annotations

import time
from collections.abc import Callable

ASK_EVERY_S = 0.5


class DeathWatch:
    def __init__(self, why_it_died: Callable[[], str | None]) -> None:
        self._why_it_died = why_it_died
        self._asked_s = time.monotonic()
        self.reason: str | None = None
        """Why it died; None as far as it lives."""

    def is_alive(self) -> bool:
        """Asks now and then."""
        now_s = time.monotonic()
        if now_s - self._asked_s >= ASK_EVERY_S:
            self._asked_s = now_s
            self.reason = self._why_it_died()
        return self.reason is None
