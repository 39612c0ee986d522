"""Takes rows of texts and the width of a terminal; returns lines in which columns are aligned.

Where they do not fit, what all rows share is said once above them; then cells are wrapped between
words, then columns are left out that the caller can do without, then words are broken behind signs;
where even that is too wide, each row becomes a block with a line for each of its columns.
"""

from __future__ import annotations

import re
import textwrap
from collections.abc import Collection, Iterator, Sequence

from assay.text import display_width, terminal_lines
from assay.text.terminal_lines import BETWEEN, whole

_LEAST_OF_TEXT = 10
"""A column is not wrapped to less than this."""
_BREAKS = ("|,=", "-/._")
"""Behind these a word may be broken that is longer than its column: the first of them first."""
_LONGEST_PART = 24
"""What is longer without such a sign, a digest for example, may be broken anywhere."""
_WORDS = re.compile(r"\s+")
_PARTS = re.compile(rf"\s+|(?<=[{re.escape(''.join(_BREAKS))}])")
_PARTS_OF_A_HEADING = re.compile(r"\s+|(?<=_)")

Columns = list[tuple[str, list[str], bool]]
"""(heading, cells, whether they are numbers) of each."""


def lines(
    headings: Sequence[str],
    rows: Sequence[Sequence[str]],
    is_number: Sequence[bool],
    width: int | None,
    *,
    optional: Collection[str] = (),
) -> Iterator[str]:
    """``width`` None: as wide as it has to be. ``optional``: headings of columns that may be left
    out, in this order."""
    cells = [list(column) for column in zip(*rows, strict=True)] or [[] for _ in headings]
    columns = list(zip(headings, cells, is_number, strict=True))
    full = [_size(column) for column in columns]
    if width is None or not rows or whole(full) <= width:
        yield from _table(columns, full)
        return
    shared, columns = _apart(columns, len(rows))
    if shared:
        yield from textwrap.wrap(f"in all rows: {'; '.join(shared)}", width, break_on_hyphens=False)
        yield ""
    for ends in (_WORDS, _PARTS):
        for number in range(len(optional) + 1):
            left_out = list(optional)[:number]
            kept = [column for column in columns if column[0] not in left_out]
            if (widths := _widths(kept, width, ends)) is not None:
                yield from _table(kept, widths)
                return
    names = [heading for heading, _, _ in columns]
    yield from _blocks(names, [*zip(*(cells for _, cells, _ in columns), strict=True)], width)


def _apart(columns: Columns, rows: int) -> tuple[list[str], Columns]:
    """What several rows share, and the columns in which they differ; the first always stays."""
    first, *others = columns
    same = [column for column in others if rows > 1 and len(set(column[1])) == 1]
    shared = [f"{heading} {cells[0]}" for heading, cells, _ in same if cells[0]]
    return shared, [first, *(column for column in others if column not in same)]


def _size(column: tuple[str, list[str], bool]) -> int:
    return max(map(display_width.width, (column[0], *column[1])))


def _widths(columns: Columns, width: int, ends: re.Pattern[str]) -> list[int] | None:
    """Texts may be wrapped at ``ends``. None where they cannot be made to fit."""
    widths = [_size(column) for column in columns]
    least = [_least(column, ends) for column in columns]
    if _size(columns[0]) <= width // 2:  # what a row is about stays whole
        least[0] = widths[0]
    while whole(widths) > width:
        room = [size - one for size, one in zip(widths, least, strict=True)]
        if not any(room):
            return None
        widest = max(range(len(widths)), key=lambda place: (bool(room[place]), widths[place]))
        widths[widest] -= 1
    return widths


def _least(column: tuple[str, list[str], bool], ends: re.Pattern[str]) -> int:
    heading, cells, is_number = column
    # A single row with broken headings is harder to read than a block.
    head = max(map(len, _PARTS_OF_A_HEADING.split(heading) if len(cells) > 1 else [heading]))
    if is_number:
        return max(head, *map(display_width.width, cells))
    longest = max(display_width.width(part) for cell in cells for part in ends.split(cell))
    if ends is _PARTS:
        longest = min(longest, _LONGEST_PART)
    return min(_size(column), max(head, longest, _LEAST_OF_TEXT))


def _table(columns: Columns, widths: Sequence[int]) -> Iterator[str]:
    rows = zip(*([heading, *cells] for heading, cells, _ in columns), strict=True)
    wrapped = ([*map(_wrapped, row, widths)] for row in rows)
    yield from terminal_lines.table_lines(wrapped, widths, [one for _, _, one in columns])


def _blocks(headings: Sequence[str], rows: Sequence[Sequence[str]], width: int) -> Iterator[str]:
    names = max(map(display_width.width, headings))
    for place, row in enumerate(rows):
        if place:
            yield ""
        for heading, text in zip(headings, row, strict=True):
            found = _wrapped(text, max(_LEAST_OF_TEXT, width - names - BETWEEN))
            yield from terminal_lines.table_lines([([heading], found)], (names, 0), (False, False))


def _wrapped(text: str, width: int) -> list[str]:
    if display_width.width(text) <= width:
        return [text]
    return display_width.wrapped(_Wrapper(width, break_on_hyphens=False), text) or [""]


class _Wrapper(textwrap.TextWrapper):
    """Breaks a long word behind a sign, where it has one."""

    def _handle_long_word(
        self, reversed_chunks: list[str], cur_line: list[str], cur_len: int, width: int
    ) -> None:
        word, room = reversed_chunks[-1], width - cur_len
        cuts = (max(word.rfind(sign, 0, room) for sign in signs) + 1 for signs in _BREAKS)
        cut = next(filter(None, cuts), 0)
        if not cut and cur_line:
            return
        cut = cut or room
        cur_line.append(word[:cut])
        reversed_chunks[-1] = word[cut:]
