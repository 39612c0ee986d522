"""Takes what is known of clients that started one after the other; says whether enough of them
were at work at once.
"""

from __future__ import annotations

from assay.check.answers import Check
from assay.observation import ReferenceReport


def check_together(report: ReferenceReport, wanted: int) -> Check:
    """Whether as many clients were at work at once as the test wants."""
    found = report.least_at_once or 0
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
