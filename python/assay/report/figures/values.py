"""What a chart shows, as plain numbers: its axes, and the series of points drawn on them.

`assay.charts` draws a `Figure`; a page has the same numbers as a table beside it.
"""

from __future__ import annotations

from dataclasses import dataclass

LINES, BARS = "lines", "bars"


@dataclass(frozen=True)
class Axis:
    title: str
    """With its unit."""
    scale: str = "linear"
    """``linear``; ``log``; ``percentiles``: in values of 1 / (1 - share), which a logarithm spreads
    evenly over 90 %, 99 %, 99.9 % …"""


@dataclass(frozen=True)
class Point:
    x: float | str
    """A text names the bars of a category."""
    y: float
    low: float | None = None
    high: float | None = None
    """The smallest and the largest value of the repetitions."""
    runs: tuple[int, ...] = ()
    """Numbers of the runs behind it."""


@dataclass(frozen=True)
class DataSeries:
    name: str
    points: tuple[Point, ...]
    is_reference: bool = False
    """Something to compare with: the ideal, a published number."""


@dataclass(frozen=True)
class Figure:
    name: str
    """For files; unique in the report."""
    title: str
    mark: str
    """`LINES` or `BARS`."""
    x: Axis
    y: Axis
    series: tuple[DataSeries, ...]
    base: float | None = None
    """Where bars begin on a logarithmic scale: 1 for ratios."""
    notes: tuple[str, ...] = ()
