"""The durability class of a system on a storage, and the figures from which it was found."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from msgspec import Struct

MEANINGS: Mapping[str, str] = MappingProxyType(
    {
        "D3": "flushed before every answer",
        "D2": "flushed within a known time after the answer",
        "D1": "written, not flushed",
        "D0": "nothing left the process",
    }
)
"""Class → how far a commit had come, from the strongest to the weakest."""


NOT_MEASURED, CONTRADICTED = "not measured", "contradicted"
"""In place of a class."""


class SessionSettings(Struct, frozen=True):
    """Statements by which the sessions of a run set themselves up, as ``SET synchronous_commit =
    off``: a session may commit less durably than its server does by its own settings."""

    before_begin: tuple[str, ...] = ()
    after_begin: tuple[str, ...] = ()
    """Those that stand within transactions."""
    why_unknown: str = ""
    """Why they are not known before the run; empty: they are."""

    @property
    def statements(self) -> tuple[str, ...]:
        return (*self.before_begin, *self.after_begin)


NO_SETTINGS = SessionSettings()


class Durability(Struct, frozen=True):
    """How far the commits of one client had come by the time of their answers, on a storage whose
    device nothing else uses.

    A class is an upper bound: a flush that ended before the answer was seen to follow a write of
    the size of the commit, but not what it wrote.
    """

    durability_class: str | None
    """One of `MEANINGS`; None: not measured."""
    reason: str = ""
    """Why it was not measured."""
    commits: int = 0
    flushed_before_answer: int = 0
    """Of the commits: those with a write of their size and a flush after it, both ended before
    the answer."""
    longest_delay_ns: int | None = None
    """From an answer to the end of the flush, of the commits that were followed up; None: one of
    them was not flushed within `limit_s`, or all were flushed before the answer."""
    limit_s: float = 0.0
    """How long a flush was waited for."""
    payload_bytes: int = 0
    """Of all commits together: what had to be written at least."""
    written_bytes: int = 0
    """By the device, until the file system was synced at the end."""
    idle_s: float = 0.0
    """How long the device was watched without commits; 0: all were flushed before the answer."""
    idle_flushes: int = 0
    idle_written_bytes: int = 0
    file_system_flushes: str = ""
    """How the flushes of the file system itself were kept apart from those of the system."""
    session_statements: tuple[str, ...] = ()
    """What its sessions executed besides, as those of the run do: `SessionSettings`."""
    is_contradicted: bool = False
    """It was measured, and then a run flushed too seldom for it: there is no class."""

    @property
    def meaning(self) -> str:
        """The class in words; the reason where there is none."""
        if self.durability_class is None:
            return self.reason
        if self.longest_delay_ns is not None:
            return f"flushed within {self.longest_delay_ns / 1e9:.2f} s of the answer"
        return MEANINGS[self.durability_class]

    @property
    def described(self) -> str:
        """``D1 (written, not flushed)``; ``not measured (…)``."""
        word = self.durability_class or (CONTRADICTED if self.is_contradicted else NOT_MEASURED)
        return f"{word} ({self.meaning})" if self.meaning else word


def not_measured(reason: str) -> Durability:
    return Durability(None, reason)
