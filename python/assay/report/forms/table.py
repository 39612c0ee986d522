"""Writes a `Report` for a terminal, in its full width (80 columns elsewhere); colour carries no
meaning of its own."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import TextIO

from msgspec.structs import replace
from rich.console import Console
from rich.segment import Segment, Segments
from rich.style import Style
from rich.text import Text

from assay.report.forms import upright
from assay.report.forms.for_people import for_people
from assay.report.forms.upright import TEXT_WIDTH, Layout
from assay.report.values import Report, ReportCell, ReportColumn, ReportTable, Row, Section, text
from assay.text import display_width, terminal_lines
from assay.text.ascii_forms import with_ascii_forms
from assay.text.line_width import ELSEWHERE, line_width
from assay.text.units import counted
from assay.text.visible import as_it_is

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
    console.width = line_width(stream) or ELSEWHERE
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
    size = display_width.width(head)
    wrapped = Text(tail).wrap(console, max(1, console.width - size), overflow="fold")
    row = ([head], [line.plain for line in wrapped])
    lines = terminal_lines.table_lines([row], (size, 0), (False, False), between=0)
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
    layout = upright.layout(table, console.width)
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
    headings, widths = [head], [max(map(display_width.width, [*head.splitlines(), *names]))]
    for row in table.rows:
        if terminal_lines.whole(widths) > most:
            return None  # before there is a column for each of thousands of rows
        headings.append("\n".join(row.cells[place].shown for place in labels))
        least = (
            display_width.width(row.cells[place].shown)
            if table.columns[place].is_number or place in labels
            else min(display_width.width(row.cells[place].shown), TEXT_WIDTH)
            for place in range(len(table.columns))
        )
        widths.append(max(least))
    if terminal_lines.whole(widths) > most:
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
    return turned, Layout(tuple(headings), tuple(widths), terminal_lines.BETWEEN, is_whole)


def _print_upright(console: Console, table: ReportTable, layout: Layout) -> None:
    """A line for each row; a table that is too wide is cut, and its labels stand in each part."""
    for place, part in enumerate(upright.parts(table, layout, console.width)):
        if place:
            console.print()
        else:
            _print_title(console, table)
        lines = [_segment(part.head, _HEADING), _segment([part.rule])]
        for number, (title, rows) in enumerate(part.blocks):
            if number:
                lines.append(_segment([""]))
            if title:
                lines.append(_segment(upright.lines_of(title, console.width), _BLOCK_TITLE))
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
