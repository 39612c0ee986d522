"""How each client's work ended, and what was given up."""

from __future__ import annotations

from typing import Literal

from assay.contracts.observation.parts.shape import Shape

ClientState = Literal["done", "lost", "failed", "refused", "interrupted"]
EndedBy = Literal["stop", "interrupted", "refused", "lost", "all clients failed"]
"""Why a run ended; ``stop``: as asked."""


class ClientEnd(Shape, frozen=True):
    """The end of one client's work."""

    client: int
    group: str
    elapsed_ns: int
    passes: int
    transactions: int
    state: ClientState


class Unfinished(Shape, frozen=True):
    """Transactions that were given up because they did not end."""

    transactions: int
    cancelled: int
    limit_s: float
    responds: bool | None = None
    """Whether the system opened another session afterwards; found out by `assay.drive.watched`."""

    @property
    def is_deaf(self) -> bool:
        """Whether the system opened no further session behind them."""
        return self.responds is False
