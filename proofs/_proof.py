"""The result of a proof, and the list of proofs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

NAMES = tuple(
    sorted(
        path.stem for path in Path(__file__).parent.glob("*.py") if not path.stem.startswith("_")
    )
)

TIMEOUT_S = 10.0
"""The time limit of a case in a whole run."""

SHORT_TIMEOUT_S = 600.0
"""The time limit in a short run, on a machine that may be busy with other tests."""


@dataclass(frozen=True)
class Found:
    """The results of a proof."""

    cases: int
    outcomes: Mapping[str, int]
    """How cases ended (``assay plan, exit status 2``) → their number."""
    faults: Sequence[str]
    """One for each failed case: how to repeat it, and what was wrong."""
    sections: Sequence[str] = ()
    """What else the page shows."""
