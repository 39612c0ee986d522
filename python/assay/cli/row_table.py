"""Takes rows of texts and the width of a terminal; returns lines in which columns are aligned.

What does not fit is wrapped, columns of text first and the widest of them most; where that leaves
too little of a column, each row becomes a block with a line for each of its columns.
"""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Sequence

_BETWEEN = "  "
_LEAST_OF_TEXT = 10
"""A column is not wrapped to less than this."""
_BREAKS = "|,/._="
"""Behind these a word may be broken that is longer than its column."""


def lines(
    headings: Sequence[str],
    rows: Sequence[Sequence[str]],
    is_number: Sequence[bool],
    width: int | None,
) -> Iterator[str]:
    """``width`` None: as wide as it has to be."""
    widths = _widths(headings, rows, is_number, width)
    if widths is None:
        yield from _blocks(headings, rows, width or 0)
        return
    for row in (headings, *rows):
        yield from _row(row, widths, is_number)


def _widths(
    headings: Sequence[str],
    rows: Sequence[Sequence[str]],
    is_number: Sequence[bool],
    width: int | None,
) -> list[int] | None:
    """None where they cannot be made to fit."""
    widths = [max(map(len, column)) for column in zip(headings, *rows, strict=True)]
    if width is None:
        return widths
    too_much = sum(widths) + len(_BETWEEN) * (len(widths) - 1) - width
    least = [
        size if number else min(size, max(len(heading), _LEAST_OF_TEXT))
        for size, number, heading in zip(widths, is_number, headings, strict=True)
    ]
    if widths[0] <= width // 2:  # what a row is about stays whole
        least[0] = widths[0]
    while too_much > 0:
        room = [size - one for size, one in zip(widths, least, strict=True)]
        if not any(room):
            return None
        widest = max(range(len(widths)), key=lambda place: (bool(room[place]), widths[place]))
        widths[widest] -= 1
        too_much -= 1
    return widths


def _row(row: Sequence[str], widths: Sequence[int], is_number: Sequence[bool]) -> Iterator[str]:
    """As many lines as its longest cell needs; the others are empty below."""
    cells = [_wrapped(text, width) for text, width in zip(row, widths, strict=True)]
    for line in range(max(map(len, cells))):
        padded = [
            (cell[line] if line < len(cell) else "").rjust(width)
            if right
            else (cell[line] if line < len(cell) else "").ljust(width)
            for cell, width, right in zip(cells, widths, is_number, strict=True)
        ]
        yield _BETWEEN.join(padded).rstrip()


def _blocks(headings: Sequence[str], rows: Sequence[Sequence[str]], width: int) -> Iterator[str]:
    names = max(map(len, headings))
    for place, row in enumerate(rows):
        if place:
            yield ""
        for heading, text in zip(headings, row, strict=True):
            room = max(_LEAST_OF_TEXT, width - names - len(_BETWEEN))
            first, *others = _wrapped(text, room)
            yield f"{heading:<{names}}{_BETWEEN}{first}".rstrip()
            yield from (f"{'':<{names}}{_BETWEEN}{one}" for one in others)


def _wrapped(text: str, width: int) -> list[str]:
    if len(text) <= width:
        return [text]
    return _Wrapper(width, break_on_hyphens=False).wrap(text) or [""]


class _Wrapper(textwrap.TextWrapper):
    """Breaks a long word behind a sign, where it has one."""

    def _handle_long_word(
        self, reversed_chunks: list[str], cur_line: list[str], cur_len: int, width: int
    ) -> None:
        word, room = reversed_chunks[-1], width - cur_len
        cut = max(word.rfind(sign, 0, room) for sign in _BREAKS) + 1
        if not cut and cur_line:
            return
        cut = cut or room
        cur_line.append(word[:cut])
        reversed_chunks[-1] = word[cut:]
