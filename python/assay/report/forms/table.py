"""Writes a `Report` for a terminal, in its full width (80 columns elsewhere); colour carries no
meaning of its own."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TextIO

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.segment import Segment, Segments
from rich.table import Table as RichTable
from rich.text import Text

from assay.comparison import sentences
from assay.report.forms.as_measured import as_measured
from assay.report.forms.for_people import for_people
from assay.report.values import Report, Table
from assay.text import display_width
from assay.text.line_width import line_width
from assay.text.units import counted

WIDTH = 80
CELLS_WITH_DETAIL = 4
"""A report of more cells shows its details only with ``--detail``."""
_FIRST_MARK = 0xE000
"""Of the characters for private use, which no table has."""
_TEXT_WIDTH = 13
"""A column of text is wrapped to no less than this. A table that is still too wide is transposed,
or else split."""
_IN_PARTS = re.compile(r" |(?=\[)|(?<=,)(?=\S)")
"""Where a heading is broken: ``loop[fs=xfs,size=2G], s`` has the four parts ``loop``, ``[fs=xfs,``,
``size=2G],`` and ``s``."""
_MOST_OF_A_LINE = 0.6
"""Share of the line up to which labels stay whole."""


def render(report: Report, stream: TextIO, *, detail: bool | None = None) -> None:
    """Writes the report. ``detail`` None: details of a report of few cells only."""
    report = for_people(report)
    with_detail = report.cell_count <= CELLS_WITH_DETAIL if detail is None else detail
    with _console(stream) as console:
        _print(console, report, with_detail)


def render_answers(report: Report, stream: TextIO) -> None:
    """Writes the tables that answer what the experiment was made for, as far as they were measured;
    of most there are none."""
    found = [table for section in for_people(report).sections for table in section.answers]
    shown = [(table, as_measured(table)) for table in found]
    with _console(stream) as console:
        for _, measured in shown:
            if measured is not None:
                _print_table(console, measured)
        if empty := [table.title for table, measured in shown if measured is None]:
            console.print()
            _print_hanging(console, "nothing measured: ", "; ".join(empty))
        said = [line for one in report.sections if one.answers for line in one.lines[1:]]
        for line in said:
            _print_hanging(console, *_parted(line))
        if found:
            console.print()


@contextmanager
def _console(stream: TextIO) -> Iterator[Console]:
    if hasattr(stream, "reconfigure"):
        # A character that the terminal's encoding lacks becomes "?", not an error.
        stream.reconfigure(errors="replace")
    console = Console(file=stream, highlight=False, markup=False, emoji=False)
    console.width = line_width(stream) or WIDTH
    with console.capture() as written:
        yield console
    for line in written.get().splitlines():
        stream.write(line.rstrip() + "\n")


def _print(console: Console, report: Report, with_detail: bool) -> None:
    console.print(Text(report.title, "bold"))
    for answer in sentences.lines(report.questions):
        test = f"{answer.test}: " if answer.test else ""
        _print_hanging(console, f"{answer.factor:<11} ", f"{test}{answer.text}")
    for name, value in report.facts.items():
        _print_hanging(console, f"{name:<12}", value)
    left_out = 0
    for section in report.sections:
        shown = section.shown_tables(with_detail)
        left_out += len(section.tables) - len(shown)
        if not section.is_shown(with_detail):
            continue
        console.print()
        console.print(Text(section.title, "bold"))
        for line in section.lines:
            _print_hanging(console, *_parted(line))
        for table in shown:
            _print_table(console, table)
    console.print()
    if left_out:
        console.print(f"{counted(left_out, 'table')} of details left out; --detail shows them\n")
    for warning in report.warnings:
        _print_hanging(console, "warning     ", f"{warning.name}: {warning.sentence}")
        if warning.fix:
            _print_hanging(console, "            ", f"fix: {warning.fix}")
    if report.experiment_id:
        kept = f"{report.record}, experiment {report.experiment_id}"
        _print_hanging(console, "record      ", kept)


def _print_hanging(console: Console, head: str, tail: str) -> None:
    """The tail is in its own column beside the head, also where it is wrapped."""
    if not head:
        console.print(Text(tail))
        return
    grid = RichTable.grid(padding=0)
    grid.add_column(width=len(head), no_wrap=True)
    grid.add_column(overflow="fold")
    grid.add_row(Text(head), Text(tail))
    console.print(grid)


def _parted(line: str) -> tuple[str, str]:
    """``outcome  ok 7  failed 0``: what it is about, and what is said, behind two blanks."""
    name, blanks, rest = line.partition("  ")
    return (name + blanks, rest) if blanks else ("", line)


def _print_note(console: Console, note: str) -> None:
    """Behind the number of a footnote the lines stand one under the other."""
    number, blank, rest = note.partition("] ")
    is_numbered = bool(blank) and number[1:].isdecimal()
    head, tail = (f"  {number}{blank}", rest) if is_numbered else ("  ", note)
    _print_hanging(console, head, tail)


@dataclass(frozen=True)
class _Layout:
    headings: tuple[str, ...]
    widths: tuple[int, ...]
    """The minimum widths, without the blanks between columns."""
    between: int
    """Blanks between columns."""
    is_whole: tuple[bool, ...]
    """Whether the column's cells stay on one line."""

    def width(self, columns: Iterable[int]) -> int:
        widths = [self.widths[place] for place in columns]
        return sum(widths) + self.between * (len(widths) - 1)


def _print_table(console: Console, table: Table) -> None:
    layout = _layout(table, console.width)
    turned = _turned(table) if layout.width(range(len(table.columns))) > console.width else None
    if turned is not None and turned.width <= console.width:
        console.print()
        console.print(Text(table.title))
        console.print(turned.shown)
    else:
        _print_upright(console, table, layout)
    for note in table.notes:
        _print_note(console, note)


@dataclass(frozen=True)
class _Turned:
    shown: RichTable
    width: int
    """The least one."""


def _turned(table: Table) -> _Turned | None:
    """A column for each row, headed by its labels; None where rows stand in blocks."""
    if any(row.block_title for row in table.rows):
        return None
    labels, others = range(table.label_columns), range(table.label_columns, len(table.columns))
    names = [table.columns[place].heading.replace("\n", " ") for place in others]
    head = "\n".join(table.columns[place].heading for place in labels)
    shown = RichTable(box=SIMPLE_HEAD, pad_edge=False, padding=(0, 1, 0, 0), show_edge=False)
    width = max(map(display_width.width, [*head.splitlines(), *names]))
    shown.add_column(Text(head), no_wrap=True)
    for row in table.rows:
        heading = [row.cells[place].shown for place in labels]
        least = max(
            display_width.width(row.cells[place].shown)
            if table.columns[place].is_number or place in labels
            else min(display_width.width(row.cells[place].shown), _TEXT_WIDTH)
            for place in range(len(table.columns))
        )
        shown.add_column(
            Text("\n".join(heading)), justify="right", overflow="fold", min_width=least
        )
        width += 2 + least
    for name, place in zip(names, others, strict=True):
        shown.add_row(Text(name), *(Text(row.cells[place].shown) for row in table.rows))
    return _Turned(shown, width)


def _print_upright(console: Console, table: Table, layout: _Layout) -> None:
    """A line for each row; a table that is too wide is cut, and its labels stand in each part."""
    for place, columns in enumerate(_parts(table, layout, console.width)):
        shown = RichTable(
            box=SIMPLE_HEAD,
            pad_edge=False,
            padding=(0, layout.between - 1, 0, 0),
            show_edge=False,
        )
        lines = max(layout.headings[column].count("\n") for column in columns)
        room = _rooms(layout, table, columns, console.width)
        for column in columns:
            shown.add_column(
                Text(_at_the_bottom(layout.headings[column], lines)),
                justify="right" if table.columns[column].is_number else "left",
                overflow="fold",
                no_wrap=layout.is_whole[column],
                min_width=None if layout.is_whole[column] else room[column],
            )
        blocks: dict[str, str] = {}
        block = ""
        for row in table.rows:
            if row.block_title != block:
                block = row.block_title
                mark = chr(_FIRST_MARK + len(blocks))
                blocks[mark] = block
                shown.add_section()
                shown.add_row(mark)
            shown.add_row(
                *(
                    Text(_broken(row.cells[column].shown, room[column], layout.is_whole[column]))
                    for column in columns
                )
            )
        console.print()
        if not place:
            console.print(Text(table.title))
        _print_with_blocks(console, shown, blocks, max(console.width, layout.width(columns)))


def _rooms(layout: _Layout, table: Table, columns: Sequence[int], width: int) -> dict[int, int]:
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
        rooms[min(short, key=lambda one: rooms[one])] += 1
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


def _print_with_blocks(
    console: Console, shown: RichTable, blocks: Mapping[str, str], width: int
) -> None:
    """The title of a block stands across all columns, which it must not widen: in the table it is a
    character (mark → title). A number that is wider than the line is written whole: cut, it would
    be another number."""
    for line in console.render_lines(shown, console.options.update(width=width), pad=False):
        text = "".join(segment.text for segment in line).strip()
        if text in blocks:
            console.print(Text(blocks[text], "italic"))
        else:
            console.print(Segments([*line, Segment.line()]), end="", crop=False)


def _at_the_bottom(heading: str, lines: int) -> str:
    """The heading, as many lines down as the longest one needs."""
    return "\n" * (lines - heading.count("\n")) + heading


def _layout(table: Table, width: int) -> _Layout:
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
    tried = [
        _Layout(
            headings,
            tuple(_width(table, place, headings[place], is_whole[place]) for place in every),
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
    for layout in tried:
        if layout.width(every) <= width:
            return layout
    has_room = tried[0].width(range(table.label_columns)) <= width * _MOST_OF_A_LINE
    return tried[0] if has_room else tried[3]


def _parts(table: Table, layout: _Layout, width: int) -> Iterator[list[int]]:
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


def _width(table: Table, place: int, heading: str, is_whole: bool) -> int:
    """The minimum width of a column."""
    cells = [row.cells[place].shown for row in table.rows]
    longest = max(map(display_width.width, [*heading.splitlines(), *cells]))
    return longest if is_whole else min(longest, _TEXT_WIDTH)
