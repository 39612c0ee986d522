"""What a server is among others, and which of them it is in a deployment of several."""

from __future__ import annotations

from msgspec import Struct

PRIMARY = "primary"
STANDBY = "standby"
REPLICA = "replica"
READ_ONLY = "read-only server"


class Role(Struct, frozen=True):
    """What a server is among others, as it says itself."""

    name: str
    """`PRIMARY` (also of a server that stands alone), `STANDBY`, `REPLICA`, `READ_ONLY`, or a word
    of a system's own."""
    follows: str = ""
    """``HOST:PORT`` of the server that it replicates from; empty: none, or it does not say."""
    why_read_only: str = ""
    """Why it takes no writes, as it says it (``read_only = ON``); empty: it takes them."""
    fix: str = ""
    """What to do where it takes no writes."""
    how_to_follow: str = ""
    """What to look at in a replica that does not apply the changes of its primary."""

    @property
    def described(self) -> str:
        """``standby of 10.0.0.7:5432 (pg_is_in_recovery() is true)``."""
        of = f" of {self.follows}" if self.follows else ""
        return f"{self.name}{of}" + (f" ({self.why_read_only})" if self.why_read_only else "")

    @property
    def is_replica(self) -> bool:
        """Whether it repeats what another server does."""
        return self.name in (STANDBY, REPLICA)


class ClusterMember(Struct, frozen=True):
    """One server of a cluster whose hosts a URL names."""

    name: str
    """``HOST:PORT``, or the path of its socket."""
    role: Role
