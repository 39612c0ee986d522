"""The project does not declare more than it did: each count of `tools/house.py` has a limit."""

from __future__ import annotations

import pytest

from tools.house import counts

LIMITS = {
    "tracked files": 1950,
    "lines": 321_638,
    "lines of README.md": 90,
    "Python modules": 443,
    "pairs of classes that share their fields": 3,
    "classes that are a run": 4,
    "kinds of column": 1,
}
"""Lower them where a change allows it. One that needs more takes it from elsewhere."""
LEAST_MEDIAN_LINES = 240


@pytest.mark.slow
def test_no_count_is_above_its_limit() -> None:
    try:
        found = counts()
    except FileNotFoundError:
        pytest.skip("git is not here")
    assert found.pop("median lines of a module") >= LEAST_MEDIAN_LINES
    assert {what: count for what, count in found.items() if count > LIMITS[what]} == {}
