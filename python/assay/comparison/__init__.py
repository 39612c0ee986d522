"""Takes records of two sides, or of one cell over time; gives a `Comparison` (ratios with their
intervals, verdicts, what differs) or a `Trend`. Prints nothing.
"""

from __future__ import annotations

from assay.comparison.compare_sides import compare
from assay.comparison.sides.sides import side
from assay.comparison.sides.values import Comparison, Side

__all__ = ["Comparison", "Side", "compare", "side"]
