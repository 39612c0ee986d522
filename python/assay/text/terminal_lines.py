"""Takes the cells of tables; returns lines of a terminal in which columns are aligned: the one
place where tables of this form are made.

How wide each column is, and what is done with a table that is too wide, is decided by those that
have it.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Sequence

from assay.text import display_width

BETWEEN = 2
"""Blanks between two columns."""

CellLines = Sequence[str]
"""The lines of a cell, none wider than its column."""


def table_lines(
    rows: Iterable[Sequence[CellLines]],
    widths: Sequence[int],
    is_right: Sequence[bool],
    between: int = BETWEEN,
) -> Iterator[str]:
    """For each row as many lines as its longest cell needs; the others are empty below.
    ``is_right``: of each column, whether its cells stand to the right, as numbers do."""
    fills = [_right if right else _left for right in is_right]
    gap = " " * between
    for cells in rows:
        for texts in itertools.zip_longest(*cells, fillvalue=""):
            filled = (
                fill(text, width) for fill, text, width in zip(fills, texts, widths, strict=True)
            )
            yield gap.join(filled).rstrip()


def whole(widths: Sequence[int], between: int = BETWEEN) -> int:
    """The width of a table whose columns are as wide."""
    return sum(widths) + between * (len(widths) - 1)


def _left(text: str, columns: int) -> str:
    return text + " " * (columns - display_width.width(text))


def _right(text: str, columns: int) -> str:
    return " " * (columns - display_width.width(text)) + text
