"""Takes rows of fields or cells; returns lines of a table for the terminal, as CSV or as Markdown:
the one place where each form is made."""

from __future__ import annotations

import csv
import io
import itertools
from collections.abc import Iterable, Iterator, Sequence
from typing import TextIO

from assay.text import terminal
from assay.text.terminal import for_terminal

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


def whole_table(widths: Sequence[int], between: int = BETWEEN) -> int:
    """The width of a table whose columns are as wide."""
    return sum(widths) + between * (len(widths) - 1)


def _left(text: str, columns: int) -> str:
    return text + " " * (columns - terminal.display_width(text))


def _right(text: str, columns: int) -> str:
    return " " * (columns - terminal.display_width(text)) + text


def write_csv(stream: TextIO, names: Iterable[str], rows: Iterable[Iterable[object]]) -> None:
    """A line of names, and one for each row. None is an empty field."""
    writer = csv.writer(for_terminal(stream), lineterminator="\n")
    writer.writerow(names)
    writer.writerows(rows)


def csv_line(fields: Iterable[object]) -> str:
    """The fields on one line, without its end: one with a comma or a quote stands in quotes."""
    stream = io.StringIO()
    csv.writer(stream, lineterminator="").writerow(fields)
    return stream.getvalue()


def markdown_lines(
    headings: Sequence[str], rows: Iterable[Sequence[str]], is_number: Sequence[bool] | None = None
) -> Iterator[str]:
    """A line of headings, one that aligns the columns, and one for each row. ``is_number``: for
    each column; None: none is aligned."""
    yield _markdown_row(headings)
    if is_number is None:
        yield f"|{'---|' * len(headings)}"
    else:
        yield _markdown_row(["---:" if right else "---" for right in is_number])
    yield from map(_markdown_row, rows)


def _markdown_row(cells: Sequence[str]) -> str:
    """A line of a table."""
    return f"| {' | '.join(map(markdown_escaped, cells))} |"


def markdown_escaped(text: str) -> str:
    """Escapes what would end a cell, begin a tag or strike text out (``~``)."""
    for sign in "\\|<~":
        text = text.replace(sign, f"\\{sign}")
    return text.replace("\n", "<br>")
