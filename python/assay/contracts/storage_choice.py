"""Where data directories are made, as chosen: a kind of storage with its options, and its name."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

BY_URL = "url"
"""The kind of a storage on which a server by URL is, by the word of the person who named it."""


@dataclass(frozen=True)
class StorageChoice:
    """Where data directories are made: ``kind`` is a name of the registry, or `BY_URL`."""

    name: str = "here"
    kind: str = "here"
    directory: str | None = None
    """Or the device of a kind that takes one."""
    options: Mapping[str, str] = field(default_factory=dict)
    """Those of its kind."""
    may_erase: bool = field(default=False, compare=False)
    """Whether what is on the device may be destroyed (``--erase``)."""
    rtt_s: float = 0.0
    """Round-trip time that is added between clients and a server on it, in place of the levels of
    ``--rtt``; 0: none of its own."""
    role: str = ""
    """What it is by the word of the person who chose it (``disk``, ``solid-state``, ``memory``);
    empty: what its model or the kernel says."""

    @property
    def names(self) -> tuple[str, ...]:
        return (self.name,)

    @property
    def name_alone(self) -> str:
        """Without the note behind it: ``disk`` of ``disk (modelled)``."""
        return self.name.partition(" (")[0]
