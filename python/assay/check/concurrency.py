"""Takes the report of clients that started one after another; returns the check of how many worked
at the same time.
"""

from __future__ import annotations

from assay.check.answers import Check
from assay.observation import ReferenceReport


def check_concurrency(report: ReferenceReport, expected: int) -> Check:
    """Whether as many clients worked at the same time as the test requires."""
    found = report.least_at_once or 0
    is_enough = found >= expected
    note = "" if is_enough else f"clients started too far apart: {expected} at once expected"
    return Check(
        id="at once",
        title="clients at work whenever one starts",
        expected=expected,
        found=found,
        ok=is_enough,
        note=note,
    )
