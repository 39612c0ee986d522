"""Takes an observation of clients that started one after the other; says whether enough of them
were at work at once.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from assay.check.answers import Check


def check_together(observation: Mapping[str, Any], wanted: int) -> Check:
    """Whether as many clients were at work at once as the test wants."""
    found: int = observation["reference"]["least_at_once"]
    is_enough = found >= wanted
    note = "" if is_enough else f"clients started too far apart: {wanted} at once expected"
    return Check(
        id="at once",
        title="clients at work whenever one starts",
        expected=wanted,
        found=found,
        ok=is_enough,
        note=note,
    )
