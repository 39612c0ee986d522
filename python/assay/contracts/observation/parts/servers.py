"""The servers that answered the clients' sessions."""

from __future__ import annotations

from typing import Annotated

from assay.contracts.observation.parts.merged import merged, same
from assay.contracts.observation.parts.shape import Shape


class ServerReport(Shape, frozen=True):
    """One of the servers behind the address of a run."""

    version: Annotated[str, merged(same)]
    """As the server said it at login."""
    address: Annotated[str, merged(same)]
    """As the server knows itself; empty where it was not asked, or does not say."""
    role: Annotated[str, merged(same)]
    """``primary``, ``standby`` or ``read-only``; empty as the address."""
    is_behind_pooler: Annotated[bool, merged(same)]
    """Whether it knows its sessions by other ids than those given at login."""
    sessions: Annotated[int, merged(sum)]

    @property
    def described(self) -> str:
        """``VERSION, standby, at 10.0.0.7:5432``."""
        at = f"at {self.address}" if self.address else ""
        return ", ".join(word for word in (self.version, self.role, at) if word)
