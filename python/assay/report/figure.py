"""What a chart shows, as plain numbers: its axes, and the series of points drawn on them.

`assay.report.charts` draws a `Figure`; a page has the same numbers as a table beside it.
"""

from __future__ import annotations

from collections.abc import Iterable
from enum import Enum, auto

from msgspec import Struct
from msgspec.structs import replace

from assay.text import pattern

_OTHER_CHARACTERS = pattern(r"[^A-Za-z0-9._-]+")


LIMITED = {"unreliable": "~", "invalid": "x"}
"""Verdict → the sign of its bars."""


class Mark(Enum):
    """What the points of a series are drawn as."""

    LINES = auto()
    BARS = auto()
    POINTS = auto()
    """One in each category: on a logarithmic scale the length of a bar would mean nothing."""


class Scale(Enum):
    """How values are spread along an axis."""

    LINEAR = auto()
    LOG = auto()
    PERCENTILES = auto()
    """In values of 1 / (1 - share), which a logarithm spreads evenly over 90 %, 99 %, 99.9 % …"""


class Axis(Struct, frozen=True):
    title: str
    """With its unit."""
    scale: Scale = Scale.LINEAR
    span: tuple[float, float] | None = None
    """Least and greatest value, where several charts have the same; None: those of this chart."""

    @property
    def heading(self) -> str:
        """The title; on a logarithmic scale it says so."""
        return (
            f"{self.title} (logarithmic)" if self.title and self.scale is Scale.LOG else self.title
        )


class Point(Struct, frozen=True):
    x: float | str
    """A text names the bars of a category."""
    y: float
    low: float | None = None
    high: float | None = None
    """The smallest and the largest value of the repetitions."""
    runs: tuple[int, ...] = ()
    """Numbers of the runs behind it."""
    verdict: str = ""
    """``valid``, ``unreliable``, ``invalid``; empty: it is no measurement."""

    @property
    def is_limited(self) -> bool:
        """Whether it carries a mark."""
        return self.verdict in LIMITED

    @property
    def has_range(self) -> bool:
        return self.low is not None and self.low != self.high


class DataSeries(Struct, frozen=True):
    name: str
    """Series of one name are parts of a line with a gap between them."""
    points: tuple[Point, ...]
    is_reference: bool = False
    """Something to compare with: the ideal, a published number."""


class Figure(Struct, frozen=True):
    name: str
    """For files; unique in the report."""
    title: str
    mark: Mark
    x: Axis
    y: Axis
    series: tuple[DataSeries, ...]
    base: float | None = None
    """A value to compare with: 1 for ratios."""
    notes: tuple[str, ...] = ()
    shaded: tuple[tuple[float, float], ...] = ()
    """From where to where along its x axis the chart is shaded."""
    expected: int | None = None
    """How many points its lines will have; None: no more come."""
    source: str = ""
    """Experiment, test and date; for a file of its own."""

    @property
    def legend(self) -> str:
        """What the marks of points mean whose verdict is not valid; empty where all are."""
        there = [word for word in LIMITED if any(one.verdict == word for one in self.points)]
        if self.has_categories:
            look = "pale" if self.mark is Mark.BARS else "hollow"
            return "; ".join(f"{look} with {LIMITED[word]}: {word}" for word in there)
        shapes = {"unreliable": "hollow", "invalid": "hollow with x"}
        return "; ".join(f"{shapes[word]} points: {word}" for word in there)

    @property
    def has_categories(self) -> bool:
        """Whether names, not numbers, stand along its x axis."""
        return self.mark is not Mark.LINES

    @property
    def points(self) -> list[Point]:
        """Of all series."""
        return [point for one in self.series for point in one.points]

    @property
    def y_values(self) -> list[float]:
        """With the ends of ranges."""
        return [
            value
            for point in self.points
            for value in (point.y, point.low, point.high)
            if value is not None
        ]

    @property
    def has_ranges(self) -> bool:
        return any(point.has_range for point in self.points)

    @property
    def file_name(self) -> str:
        """Its name with no other characters than a file or a link may have everywhere."""
        return _OTHER_CHARACTERS.sub("-", self.name)


def on_one_scale(figures: Iterable[Figure]) -> tuple[Figure, ...]:
    """Charts that stand side by side, with the same values on their y axes."""
    found = tuple(figures)
    values = [value for figure in found for value in figure.y_values]
    if not values:
        return found
    span = (min(values), max(values))
    is_linear = any(figure.y.scale is Scale.LINEAR for figure in found)
    return tuple(
        replace(
            figure,
            y=replace(figure.y, span=span, scale=Scale.LINEAR if is_linear else figure.y.scale),
        )
        for figure in found
    )
