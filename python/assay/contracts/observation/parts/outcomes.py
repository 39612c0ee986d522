"""Transaction outcomes, in numbers that add up."""

from __future__ import annotations

from typing import Annotated, Literal

from assay.contracts.observation.parts.merged import merged, same
from assay.contracts.observation.parts.shape import Shape

Outcome = Literal["ok", "aborted", "failed", "unknown"]
"""How a transaction that was begun ended."""


OUTCOMES = ("ok", "aborted", "failed", "unknown", "skipped")
"""Every scheduled transaction has one of them."""


class Outcomes(Shape, frozen=True):
    """``scheduled = ok + aborted + failed + unknown + skipped`` and
    ``attempts = scheduled - skipped + retries``."""

    scheduled: Annotated[int, merged(sum)]
    ok: Annotated[int, merged(sum)]
    aborted: Annotated[int, merged(sum)]
    failed: Annotated[int, merged(sum)]
    unknown: Annotated[int, merged(sum)]
    skipped: Annotated[int, merged(sum)]
    late: Annotated[int, merged(sum)]
    retries: Annotated[int, merged(sum)]
    attempts: Annotated[int, merged(sum)]

    @property
    def ended(self) -> int:
        """All that have been begun and have ended."""
        return self.ok + self.aborted + self.failed + self.unknown

    @property
    def completed(self) -> int:
        """All that ended as the workload asked, whether they committed or were rolled back."""
        return self.ok + self.aborted

    @property
    def lost(self) -> int:
        """All that failed, or may have."""
        return self.failed + self.unknown


class WarmUpOutcomes(Shape, frozen=True):
    """Transactions of one type that began in the warm-up: with the measured ones they are all that
    may have changed the data."""

    name: Annotated[str, merged(same)]
    ok: Annotated[int, merged(sum)]
    unknown: Annotated[int, merged(sum)]


class TransactionOutcomes(Outcomes, frozen=True, kw_only=True):
    """The outcomes of one transaction type."""

    name: Annotated[str, merged(same)]
