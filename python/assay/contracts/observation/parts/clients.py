"""How each client's work ended, and what was given up."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Literal

from assay.contracts.observation.parts.merged import merged, none
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


def end_of_all(parts: Sequence[EndedBy]) -> EndedBy:
    """Refused or interrupted if one part was; clients are lost only if all are."""
    words = set(parts)
    for word in ("refused", "interrupted"):
        if word in words:
            return "refused" if word == "refused" else "interrupted"
    if "stop" in words:
        return "stop"
    return words.pop() if len(words) == 1 else "all clients failed"


class Unfinished(Shape, frozen=True):
    """Transactions that were given up because they did not end."""

    transactions: Annotated[int, merged(sum)]
    cancelled: Annotated[int, merged(sum)]
    limit_s: Annotated[float, merged(max)]
    responds: Annotated[bool | None, merged(none)] = None
    """Whether the system opened another session afterwards; found out by `assay.drive.watched`."""

    @property
    def is_deaf(self) -> bool:
        """Whether the system opened no further session behind them."""
        return self.responds is False
