"""What a warning says: its cause, its fix, and what it means for the verdict on its run."""

from __future__ import annotations

from collections.abc import Iterable

from msgspec import Struct

from assay.text.mentions import phrase

_LONGER = {
    "duration_s": phrase("a longer {--duration}"),
    "transactions": phrase("more {--transactions}"),
    "passes": "more passes",
    "queue": "a longer queue",
}
"""Limit of a run → how to measure for longer."""


class WarningText(Struct, frozen=True):
    """What every report with the warning says of it."""

    cause: str
    """In which way a number may mislead."""
    fix: str
    """A template of `assay.text.mentions`; ``{longer}``: what lets this run measure for longer."""
    limits: bool = False
    """Whether it makes the verdict of its run indicative."""
    is_of_other_work: bool = False
    """Whether the numbers are of other or less work than was asked for: said before all others."""
    is_unsteady: bool = False
    """Whether its throughput is not the rate of clients at work: nothing is derived from it."""
    forbids_deciding: bool = False
    """Whether no verdict, claim or rank is decided from its run: it measured something else as
    well. What is said in their place is the last part of the detail."""

    def fix_of(self, limits: Iterable[str]) -> str:
        """The fix for runs that end by these limits (fields of `Driving`)."""
        ways = dict.fromkeys(_LONGER[limit] for limit in limits if limit in _LONGER)
        longer = phrase(" or ".join("{}" for _ in ways), *ways) if ways else "a longer run"
        return phrase(self.fix, longer=longer)
