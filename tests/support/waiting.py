"""Takes a condition, waits until it is true, and gives its value; only a hang reaches the limit."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TypeVar

HANG_S = 1000
"""Longer than anything takes beside compilers and stress on two cores: at a load of 30 a run of
seconds took five minutes."""
_PAUSE_S = 0.02
T = TypeVar("T")


def wait_until(
    condition: Callable[[], T], what: str, *, goes_on: Callable[[], object] = lambda: True
) -> T:
    """``goes_on`` says whether it can still come true: whether a program still runs, say."""
    deadline_s = time.monotonic() + HANG_S
    while not (found := condition()):
        assert goes_on(), f"it can no longer come true that {what}"
        assert time.monotonic() < deadline_s, f"waited {HANG_S} s in vain until {what}"
        time.sleep(_PAUSE_S)
    return found
