"""Takes a table and the width of a line; returns its lines, one or more for each row: numbers to
the right, texts wrapped, and a table that is too wide in several parts.

Tables have as many rows as there are runs, and rich takes a millisecond for each.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterable, Iterator, Sequence

from msgspec import Struct

from assay.report.values import ReportTable, Row
from assay.text import display_width, terminal_lines
from assay.text.terminal_lines import CellLines

TEXT_WIDTH = 13
"""A column of text is wrapped to no less than this. A table that is still too wide is transposed,
or else split."""
_IN_PARTS = re.compile(r" |(?=\[)|(?<=,)(?=\S)")
"""Where a heading is broken: ``loop[fs=xfs,size=2G], s`` has the four parts ``loop``, ``[fs=xfs,``,
``size=2G],`` and ``s``."""
_MOST_OF_A_LINE = 0.6
"""Share of the line up to which labels stay whole."""
_TAB = 8
"""Columns from one stop of a tab to the next."""


class Layout(Struct, frozen=True):
    headings: tuple[str, ...]
    widths: tuple[int, ...]
    """The minimum widths, without the blanks between columns."""
    between: int
    """Blanks between columns."""
    is_whole: tuple[bool, ...]
    """Whether the column's cells stay on one line."""

    def width(self, columns: Iterable[int]) -> int:
        widths = [self.widths[place] for place in columns]
        return terminal_lines.whole(widths, self.between)


class TablePart(Struct, frozen=True):
    """As many columns of a table as have room beside each other."""

    head: Sequence[str]
    rule: str
    blocks: Sequence[tuple[str, Sequence[str]]]
    """The title of each block (empty: it has none), and its lines."""


def parts(table: ReportTable, layout: Layout, width: int) -> Iterator[TablePart]:
    """Each with the labels of its rows. Only numbers and whole labels may make it wider than
    ``width``."""
    for columns in _parts(table, layout, width):
        room = _rooms(layout, table, columns, width)
        rows = [
            [_cell_lines(row, column, room[column], layout) for column in columns]
            for row in table.rows
        ]
        widths = _widths(rows, layout, columns, room, width)
        headings = [
            _fitting(layout.headings[column].split("\n"), column_width)
            for column, column_width in zip(columns, widths, strict=True)
        ]
        deepest = max(map(len, headings))
        head = [[*[""] * (deepest - len(lines)), *lines] for lines in headings]
        yield TablePart(
            head=_filled([head], table, columns, widths, layout.between),
            rule="─" * terminal_lines.whole(widths, layout.between),
            blocks=[
                (
                    title,
                    _filled(
                        (cells for _, cells in of_block), table, columns, widths, layout.between
                    ),
                )
                for title, of_block in itertools.groupby(
                    zip(table.rows, rows, strict=True), lambda pair: pair[0].block_title
                )
            ],
        )


def _filled(
    rows: Iterable[Sequence[CellLines]],
    table: ReportTable,
    columns: Sequence[int],
    widths: Sequence[int],
    between: int,
) -> list[str]:
    """The lines of these rows, each cell in the width of its column."""
    fitting = ([*map(_fitting, cells, widths)] for cells in rows)
    is_right = [table.columns[column].is_number for column in columns]
    return list(terminal_lines.table_lines(fitting, widths, is_right, between))


def _cell_lines(row: Row, column: int, room: int, layout: Layout) -> CellLines:
    shown = row.cells[column].shown
    if "\t" in shown:
        shown = shown.expandtabs(_TAB)
    text = _broken(shown, room, layout.is_whole[column])
    return text.split("\n") if "\n" in text else (text,)


def _widths(
    rows: Sequence[Sequence[CellLines]],
    layout: Layout,
    columns: Sequence[int],
    room: dict[int, int],
    width: int,
) -> list[int]:
    """Of each column; the heading of a column of text may widen it as far as there is room."""
    widths = [
        max(
            *map(display_width.width, layout.headings[column].split("\n")),
            *(display_width.width(line) for cells in rows for line in cells[place]),
            0 if layout.is_whole[column] else room[column],
        )
        for place, column in enumerate(columns)
    ]
    left = width - terminal_lines.whole(widths, layout.between)
    spare = {
        place: widths[place] - room[column]
        for place, column in enumerate(columns)
        if not layout.is_whole[column] and widths[place] > room[column]
    }
    while left < 0 and spare:
        widest = max(spare, key=lambda place: widths[place])
        widths[widest] -= 1
        spare[widest] -= 1
        left += 1
        if not spare[widest]:
            del spare[widest]
    return widths


def _fitting(lines: CellLines, width: int) -> CellLines:
    """The same where each has room; others are broken between words, or else anywhere."""
    if all(display_width.width(line) <= width for line in lines):
        return lines
    fitting = []
    for line in lines:
        for short in lines_of(line, width):
            while display_width.width(short) > width:
                head = display_width.head(short, width)
                fitting.append(head)
                short = short[len(head) :]
            fitting.append(short)
    return fitting


def _rooms(
    layout: Layout, table: ReportTable, columns: Sequence[int], width: int
) -> dict[int, int]:
    """Column → its width: what numbers and whole labels leave is divided among columns of text, of
    which none gets more than it needs."""
    rooms = {column: layout.widths[column] for column in columns}
    left = width - layout.width(columns)
    wrapped = [column for column in columns if not layout.is_whole[column]]
    needs = {
        column: max((display_width.width(row.cells[column].shown) for row in table.rows), default=0)
        for column in wrapped
    }
    while left > 0 and (short := [one for one in wrapped if rooms[one] < needs[one]]):
        rooms[min(short, key=lambda column: rooms[column])] += 1
        left -= 1
    return rooms


_ENDS = (
    re.compile(r"(?<=,)(?=\S)"),
    re.compile(r"(?<=[=/:;+-])(?=\S)|(?=\[)"),
    re.compile(r"(?<=[._])(?=\S)"),
)
"""Where a long word is broken: behind commas; where that is not enough between its parts, and
within a name or an address last."""


def _broken(text: str, room: int, is_whole: bool) -> str:
    """The text with line breaks behind commas and at other ends of words, where it is wrapped."""
    if is_whole or display_width.width(text) <= room:
        return text
    return "\n".join(lines_of(text, room))


def _parts_of(word: str, room: int) -> list[str]:
    """The word alone if there is room for it."""
    parts = [word]
    for ends in _ENDS:
        parts = [
            short
            for part in parts
            for short in (
                [part] if display_width.width(part) <= room else ends.sub("\0", part).split("\0")
            )
        ]
    return parts


def lines_of(text: str, room: int) -> Iterator[str]:
    """Lines of that width; a word is broken only where it is longer."""
    line = ""
    for word in text.split(" "):
        blank = " " if line else ""
        for part in _parts_of(word, room):
            if line and display_width.width(line + blank + part) > room:
                yield line
                line, blank = "", ""
            line += blank + part
            blank = ""
    yield line


def layout(table: ReportTable, width: int) -> Layout:
    """The first layout that fits: headings of numbers broken, then columns closer, then labels
    broken, which are last since readers find rows by them. If none fits, the table is split, and
    its labels are broken only where they take most of the line."""
    every = range(len(table.columns))
    whole = tuple(
        column.is_number or place < table.label_columns
        for place, column in enumerate(table.columns)
    )
    wrapped = tuple(column.is_number for column in table.columns)
    full = tuple(column.heading for column in table.columns)
    broken = tuple(
        _IN_PARTS.sub("\n", column.heading) if column.is_number else column.heading
        for column in table.columns
    )
    longest = [
        max((display_width.width(row.cells[place].shown) for row in table.rows), default=0)
        for place in every
    ]
    tried = [
        Layout(
            headings,
            tuple(_width(longest[place], headings[place], is_whole[place]) for place in every),
            between,
            is_whole,
        )
        for headings, between, is_whole in (
            (full, 2, whole),
            (broken, 2, whole),
            (broken, 1, whole),
            (full, 2, wrapped),
            (broken, 2, wrapped),
        )
    ]
    for one in tried:
        if one.width(every) <= width:
            return one
    has_room = tried[0].width(range(table.label_columns)) <= width * _MOST_OF_A_LINE
    return tried[0] if has_room else tried[3]


def _parts(table: ReportTable, layout: Layout, width: int) -> Iterator[list[int]]:
    """The columns of each part: a table that is too wide is split, with its labels in each part,
    between groups of columns where a group has room."""
    labels = list(range(table.label_columns))
    part = labels
    for place in range(len(labels), len(table.columns)):
        group = table.columns[place].group
        rest = [place]
        if group and group != table.columns[place - 1].group:
            rest += [
                other
                for other in range(place + 1, len(table.columns))
                if table.columns[other].group == group
            ]
        has_room = layout.width([*part, *rest]) <= width or (
            layout.width([*labels, *rest]) > width >= layout.width([*part, place])
        )
        if not has_room and len(part) > len(labels):
            yield part
            part = labels
        part = [*part, place]
    yield part


def _width(longest_cell: int, heading: str, is_whole: bool) -> int:
    """The minimum width of a column."""
    longest = max([longest_cell, *map(display_width.width, heading.splitlines())])
    return longest if is_whole else min(longest, TEXT_WIDTH)
