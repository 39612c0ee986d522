"""Takes texts; returns lines of Markdown: the one place where tables of this form are made."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence


def table_lines(
    headings: Sequence[str],
    rows: Iterable[Sequence[str]],
    is_number: Sequence[bool] | None = None,
) -> Iterator[str]:
    """A line of headings, one that aligns the columns, and one for each row. ``is_number``: for
    each column; None: none is aligned."""
    yield _row_line(headings)
    if is_number is None:
        yield f"|{'---|' * len(headings)}"
    else:
        yield _row_line(["---:" if right else "---" for right in is_number])
    yield from map(_row_line, rows)


def _row_line(cells: Sequence[str]) -> str:
    """A line of a table."""
    return f"| {' | '.join(map(escaped, cells))} |"


def escaped(text: str) -> str:
    """Escapes what would end a cell, begin a tag or strike text out (``~``)."""
    for sign in "\\|<~":
        text = text.replace(sign, f"\\{sign}")
    return text.replace("\n", "<br>")
