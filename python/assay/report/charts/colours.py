"""The colours of a chart, and the dashes and marks that tell its lines apart without them.

The colours are those of Okabe and Ito (2008), which people of every kind of colour vision tell
apart, without the yellow that is too pale for a line; the last two are darker, so that each has a
contrast of 3 to 1 with white. On a page each is a variable, so that a dark page has lighter ones.
"""

from __future__ import annotations

from collections.abc import Mapping

TEXT, GRID, AXIS, REFERENCE = "#1b1c1e", "#dddfe2", "#8b8f94", "#6b6f75"
SHADE = "#b02a00"
SERIES = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#c28500", "#3496d0")
DASHES = ([1, 0], [6, 3], [2, 2], [8, 3, 2, 3], [4, 2], [10, 3])
MARKS = ("circle", "square", "triangle-up", "diamond", "cross", "triangle-down")
REFERENCE_DASH = [3, 4]
REFERENCE_MARK = "triangle-right"

VARIABLES: Mapping[str, str] = {
    TEXT: "--text",
    GRID: "--grid",
    AXIS: "--axis",
    REFERENCE: "--reference",
    SHADE: "--bad",
    **{colour: f"--series-{place}" for place, colour in enumerate(SERIES, 1)},
}
"""Colour → the variable of a page that stands for it."""
