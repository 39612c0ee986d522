"""What a proof gives, and which proofs there are."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

NAMES = tuple(
    sorted(
        path.stem for path in Path(__file__).parent.glob("*.py") if not path.stem.startswith("_")
    )
)

PATIENCE_S = 10.0
"""Longer than this no case may take in a whole run."""

SHORT_PATIENCE_S = 60.0
"""In a short run, whose machine may be busy with other tests."""


@dataclass(frozen=True)
class Found:
    """What a proof found."""

    cases: int
    outcomes: Mapping[str, int]
    """How cases ended (``assay plan, exit status 2``) → how many of them did."""
    faults: Sequence[str]
    """One for each case that broke the promise: how to see it, and what was wrong."""
