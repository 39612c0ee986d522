"""Writes a `Report` for a terminal, in its full width (80 columns elsewhere); colour carries no
meaning of its own."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import TextIO

from msgspec import Struct
from msgspec.structs import replace
from rich.console import Console
from rich.segment import Segment, Segments
from rich.style import Style
from rich.text import Text

from assay.contracts.metric import ReportColumn
from assay.report.for_people import for_people
from assay.report.values import Report, ReportCell, ReportTable, Row, Section, text
from assay.text import table_forms, terminal
from assay.text.table_forms import CellLines
from assay.text.terminal import COLUMNS_ELSEWHERE, as_it_is, line_width, with_ascii_forms
from assay.text.units import counted

CELLS_WITH_DETAIL = 4
"""A report of more cells shows its details only with ``--detail``."""
_HEADING = Style(bold=True)
_BLOCK_TITLE = Style(italic=True)


def render(report: Report, stream: TextIO, *, detail: bool | None = None) -> None:
    """Writes the report. ``detail`` None: details of a report of few cells only."""
    with_detail = report.cell_count <= CELLS_WITH_DETAIL if detail is None else detail
    shown = tuple(
        replace(section, tables=section.shown_tables(with_detail), figures=())
        for section in report.sections
        if section.is_shown(with_detail)
    )
    left_out = _table_count(report.sections) - _table_count(shown)
    with _console(stream) as console:
        _print(console, for_people(replace(report, sections=shown, runs=())), left_out)


def _table_count(sections: Iterable[Section]) -> int:
    return sum(len(section.tables) for section in sections)


def render_answers(report: Report, stream: TextIO) -> None:
    """Writes the tables that answer what the experiment was made for, as far as they were measured;
    of most there are none."""
    report = for_people(
        replace(report, sections=tuple(one for one in report.sections if one.answers), runs=())
    )
    found = [table for section in report.sections for table in section.answers]
    shown = [(table, as_measured(table)) for table in found]
    with _console(stream) as console:
        for _, measured in shown:
            if measured is not None:
                _print_table(console, measured)
        if empty := [table.title for table, measured in shown if measured is None]:
            console.print()
            _print_hanging(console, "nothing measured: ", "; ".join(empty))
        said = [line for one in report.sections for line in one.lines[1:]]
        for line in said:
            _print_hanging(console, *_parted(line))
        if found:
            console.print()


@contextmanager
def _console(stream: TextIO) -> Iterator[Console]:
    with_ascii_forms(stream)
    console = Console(file=stream, highlight=False, markup=False, emoji=False)
    console.width = line_width(stream) or COLUMNS_ELSEWHERE
    with console.capture() as written:
        yield console
    lines = "".join(f"{line.rstrip()}\n" for line in written.get().splitlines())
    as_it_is(stream).write(lines)


def _print(console: Console, report: Report, left_out: int) -> None:
    """``left_out``: how many tables of details are not in it."""
    console.print(Text(report.title, "bold"))
    for answer in report.answers:
        test = f"{answer.test}: " if answer.test else ""
        _print_hanging(console, f"{answer.factor:<11} ", f"{test}{answer.text}")
    for name, value in report.facts.items():
        _print_hanging(console, f"{name:<12}", value)
    for section in report.sections:
        console.print()
        console.print(Text(section.title, "bold"))
        for line in section.lines:
            _print_hanging(console, *_parted(line))
        for table in section.tables:
            _print_table(console, table)
    console.print()
    if left_out:
        console.print(f"{counted(left_out, 'table')} of details left out; --detail shows them\n")
    for warning in report.warnings:
        _print_hanging(console, "warning     ", f"{warning.name}: {warning.sentence}")
        if warning.fix:
            _print_hanging(console, "            ", f"fix: {warning.fix}")
    if report.experiments:
        kept = f"{report.record}, {report.of}"
        _print_hanging(console, "record      ", kept)


def _print_hanging(console: Console, head: str, tail: str) -> None:
    """The tail is in its own column beside the head, also where it is wrapped."""
    if not head:
        console.print(Text(tail))
        return
    size = terminal.display_width(head)
    wrapped = Text(tail).wrap(console, max(1, console.width - size), overflow="fold")
    row = ([head], [line.plain for line in wrapped])
    lines = table_forms.table_lines([row], (size, 0), (False, False), between=0)
    console.print(Segments([_segment(lines)]), end="", crop=False)


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


def _print_table(console: Console, table: ReportTable) -> None:
    layout = table_layout(table, console.width)
    is_wide = layout.width(range(len(table.columns))) > console.width
    turned = _turned(table, console.width) if is_wide else None
    _print_upright(console, *(turned or (table, layout)))
    for note in table.notes:
        _print_note(console, note)


def _print_title(console: Console, table: ReportTable) -> None:
    console.print()
    console.print(Text(table.title))
    if table.of_all:
        _print_note(console, table.of_all)


def _turned(table: ReportTable, most: int) -> tuple[ReportTable, Layout] | None:
    """A column for each row, headed by its labels; None where rows stand in blocks, or it is wider
    than ``most``."""
    if any(row.block_title for row in table.rows):
        return None
    labels, others = range(table.label_columns), range(table.label_columns, len(table.columns))
    names = [table.columns[place].heading.replace("\n", " ") for place in others]
    head = "\n".join(table.columns[place].heading for place in labels)
    headings, widths = [head], [max(map(terminal.display_width, [*head.splitlines(), *names]))]
    for row in table.rows:
        if table_forms.whole_table(widths) > most:
            return None  # before there is a column for each of thousands of rows
        headings.append("\n".join(row.cells[place].shown for place in labels))
        least = (
            terminal.display_width(row.cells[place].shown)
            if table.columns[place].is_number or place in labels
            else min(terminal.display_width(row.cells[place].shown), TEXT_WIDTH)
            for place in range(len(table.columns))
        )
        widths.append(max(least))
    if table_forms.whole_table(widths) > most:
        return None
    first, *columns = [ReportColumn(heading, is_number=True) for heading in headings]
    turned = replace(
        table,
        columns=(replace(first, is_number=False), *columns),
        rows=tuple(
            Row((text(name), *(row.cells[place] for row in table.rows)))
            for name, place in zip(names, others, strict=True)
        ),
        label_columns=1,
    )
    is_whole = (True, *(False for _ in columns))
    return turned, Layout(tuple(headings), tuple(widths), table_forms.BETWEEN, is_whole)


def _print_upright(console: Console, table: ReportTable, layout: Layout) -> None:
    """A line for each row; a table that is too wide is cut, and its labels stand in each part."""
    for place, part in enumerate(parts(table, layout, console.width)):
        if place:
            console.print()
        else:
            _print_title(console, table)
        lines = [_segment(part.head, _HEADING), _segment([part.rule])]
        for number, (title, rows) in enumerate(part.blocks):
            if number:
                lines.append(_segment([""]))
            if title:
                lines.append(_segment(lines_of(title, console.width), _BLOCK_TITLE))
            lines.append(_segment(rows))
        # Whole, also where they are wider than the terminal: a number that is cut is another one.
        console.print(Segments(lines), end="", crop=False)


def _segment(lines: Iterable[str], style: Style | None = None) -> Segment:
    return Segment("".join(f"{line}\n" for line in lines), style)


# Takes a table with published and measured numbers; returns it without the rows and groups of
# columns in which nothing was measured, which a note names.
#
# What failed stays, since it is a result.

_NOT_MEASURED = re.compile(r"(not run|refused)( \[\d+\])?$")
_ORIGIN = "measured"
"""A label that all measured rows have."""


def as_measured(table: ReportTable) -> ReportTable | None:
    """None where nothing was measured."""
    measured = [row for row in table.rows if not row.is_published]
    values = range(table.label_columns, len(table.columns))
    if not any(row.cells[place].number for row in measured for place in values):
        return None
    left_out: dict[str, list[str]] = {}
    kept = list(range(len(table.columns)))
    for group in dict.fromkeys(column.group for column in table.columns if column.group):
        places = [place for place in values if table.columns[place].group == group]
        cells = [row.cells[place] for row in measured for place in places]
        if _is_left_out(cells):
            left_out.setdefault(_why(cells), []).append(group)
            kept = [place for place in kept if place not in places]
    rows = []
    for row in table.rows:
        cells = [row.cells[place] for place in kept if place >= table.label_columns]
        if row.is_published or not any(cell.shown for cell in cells) or not _is_left_out(cells):
            rows.append(replace(row, cells=tuple(row.cells[place] for place in kept)))
        else:
            left_out.setdefault(_why(cells), []).append(", ".join(_labels(table, row)))
    said = [f"{why}: {', '.join(dict.fromkeys(names))}" for why, names in left_out.items()]
    return replace(
        table,
        columns=tuple(table.columns[place] for place in kept),
        rows=tuple(rows),
        notes=(*said, *table.notes),
    )


def _is_left_out(cells: Iterable[ReportCell]) -> bool:
    return all(not cell.shown or _NOT_MEASURED.match(cell.shown) for cell in cells)


def _why(cells: Iterable[ReportCell]) -> str:
    """``not run``, ``refused [2]``."""
    return ", ".join(dict.fromkeys(cell.shown for cell in cells if cell.shown)) or "not measured"


def _labels(table: ReportTable, row: Row) -> Iterator[str]:
    """``disk``, ``clients 8``."""
    for column, cell in zip(table.columns[: table.label_columns], row.cells, strict=False):
        if cell.shown and cell.shown != _ORIGIN:
            yield f"{column.title} {cell.shown}" if column.is_number else cell.shown


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
        return table_forms.whole_table(widths, self.between)


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
            rule="─" * table_forms.whole_table(widths, layout.between),
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
    return list(table_forms.table_lines(fitting, widths, is_right, between))


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
            *map(terminal.display_width, layout.headings[column].split("\n")),
            *(terminal.display_width(line) for cells in rows for line in cells[place]),
            0 if layout.is_whole[column] else room[column],
        )
        for place, column in enumerate(columns)
    ]
    left = width - table_forms.whole_table(widths, layout.between)
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
    if all(terminal.display_width(line) <= width for line in lines):
        return lines
    fitting = []
    for line in lines:
        for short in lines_of(line, width):
            while terminal.display_width(short) > width:
                head = terminal.cut_to_columns(short, width)
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
        column: max(
            (terminal.display_width(row.cells[column].shown) for row in table.rows), default=0
        )
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
    if is_whole or terminal.display_width(text) <= room:
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
                [part] if terminal.display_width(part) <= room else ends.sub("\0", part).split("\0")
            )
        ]
    return parts


def lines_of(text: str, room: int) -> Iterator[str]:
    """Lines of that width; a word is broken only where it is longer."""
    line = ""
    for word in text.split(" "):
        blank = " " if line else ""
        for part in _parts_of(word, room):
            if line and terminal.display_width(line + blank + part) > room:
                yield line
                line, blank = "", ""
            line += blank + part
            blank = ""
    yield line


def table_layout(table: ReportTable, width: int) -> Layout:
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
        max((terminal.display_width(row.cells[place].shown) for row in table.rows), default=0)
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
    longest = max([longest_cell, *map(terminal.display_width, heading.splitlines())])
    return longest if is_whole else min(longest, TEXT_WIDTH)
