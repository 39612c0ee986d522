"""Takes a figure; returns the rows of data that its specification draws."""

from __future__ import annotations

import re
from typing import Any

from assay.report.figure import LIMITED, Figure, Point

_MOST_MARKS = 16
"""On a line; a longer one has a mark at every second, third … point."""
_LABEL_LENGTH = 28


def rows(figure: Figure) -> list[dict[str, Any]]:
    return [
        row(figure, one.name, point, part, place, marked_every(figure, len(one.points)))
        for part, one in enumerate(figure.series)
        for place, point in enumerate(one.points)
    ]


def row(
    figure: Figure, series: str, point: Point, part: int, place: int, every: int
) -> dict[str, Any]:
    """``part``: of all series, which one; ``place``: of its points, which one; ``every``: which of
    these have a mark."""
    return {
        "series": series,
        "x": in_lines(point.x) if isinstance(point.x, str) else point.x,
        "y": point.y,
        "low": point.y if point.low is None else point.low,
        "high": point.y if point.high is None else point.high,
        "isBeyond": point.y >= (figure.base or 0),
        "part": part,
        "isMarked": point.is_limited or place % every == 0,
        "isLimited": point.is_limited,
        "isInvalid": point.verdict == "invalid",
        "shown": _shown(point),
    }


def marked_every(figure: Figure, points: int) -> int:
    """Of a line of so many points, or as many as are expected."""
    return max(1, -(-max(points, figure.expected or 0) // _MOST_MARKS))


def shaded_rows(figure: Figure) -> list[dict[str, float]]:
    return [{"from": low, "to": high} for low, high in figure.shaded]


def _shown(point: Point) -> str:
    """The number beside a bar, with the sign of its verdict."""
    number = f"{point.y:.3g}" if point.y < 1000 else f"{point.y:,.0f}".replace(",", " ")
    return f"{number} {LIMITED.get(point.verdict, '')}".rstrip()


def in_lines(category: str) -> str:
    """A long name in two lines, broken behind a comma or a colon near its middle."""
    breaks = [found.end() for found in re.finditer(r"[,:] ", category)]
    if len(category) <= _LABEL_LENGTH or not breaks:
        return category
    at = min(breaks, key=lambda place: abs(place - len(category) / 2))
    return f"{category[:at].rstrip()}\n{category[at:]}"
