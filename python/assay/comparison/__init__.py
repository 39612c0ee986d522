"""Takes records of two sides, or of one cell over time; gives a `Comparison` (ratios with their
intervals, verdicts, what differs) or a `Trend`. Prints nothing.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from assay.comparison.compare_sides import compare
    from assay.comparison.sides import Comparison, Side, side

__all__ = ["Comparison", "Side", "compare", "side"]

_HOMES = {"Comparison": "sides", "Side": "sides", "compare": "compare_sides", "side": "sides"}


def __getattr__(name: str) -> Any:
    """Imports on first use: a run without a goal compares nothing."""
    if name in _HOMES:
        return getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
