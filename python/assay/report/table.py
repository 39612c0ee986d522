"""Writes a `Report` for a terminal: at most 100 columns, and everything said without colour."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TextIO

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table as RichTable
from rich.text import Text

from assay.report.for_people import for_people
from assay.report.units import counted
from assay.report.values import Report, Table

WIDTH = 100
CELLS_WITH_DETAIL = 4
"""A report of more cells leaves its details to those who ask for them."""
_BETWEEN = 2
"""Blanks between columns."""
_TEXT_WIDTH = 13
"""A column of text is wrapped to no less than this; a table that is wider still is cut in two."""


def render(report: Report, stream: TextIO, *, detail: bool | None = None) -> None:
    """Writes the report. ``detail`` None: details of a report of few cells only."""
    report = for_people(report)
    if hasattr(stream, "reconfigure"):
        # A terminal that cannot show a sign gets a "?"; the report must not end there.
        stream.reconfigure(errors="replace")
    console = Console(file=stream, highlight=False, markup=False, emoji=False)
    console.width = min(WIDTH, console.width) if console.is_terminal else WIDTH
    with_detail = report.cell_count <= CELLS_WITH_DETAIL if detail is None else detail
    with console.capture() as written:
        _print(console, report, with_detail)
    for line in written.get().splitlines():
        stream.write(line.rstrip() + "\n")


def _print(console: Console, report: Report, with_detail: bool) -> None:
    console.print(Text(report.title, "bold"))
    for name, value in report.facts.items():
        _print_hanging(console, f"{name:<12}", value)
    left_out = 0
    for section in report.sections:
        console.print()
        console.print(Text(section.title, "bold"))
        for line in section.lines:
            console.print(line)
        for table in section.tables:
            if table.is_detail and not with_detail:
                left_out += 1
            else:
                _print_table(console, table)
    console.print()
    if left_out:
        console.print(f"{counted(left_out, 'table')} of details left out; --detail shows them\n")
    for warning in report.warnings:
        _print_hanging(console, "warning     ", f"{warning.name}: {warning.sentence}")
        if warning.cure:
            _print_hanging(console, "            ", f"cure: {warning.cure}")
    _print_hanging(console, "record      ", f"{report.record}, experiment {report.experiment_id}")


def _print_hanging(console: Console, head: str, tail: str) -> None:
    """The tail stands in a column of its own beside the head, also where it is wrapped."""
    grid = RichTable.grid(padding=0)
    grid.add_column(width=len(head), no_wrap=True)
    grid.add_column(overflow="fold")
    grid.add_row(Text(head), Text(tail))
    console.print(grid)


def _print_table(console: Console, table: Table) -> None:
    for place, columns in enumerate(_parts(table, console.width)):
        shown = RichTable(
            title=None if place else Text(table.title),
            title_justify="left",
            box=SIMPLE_HEAD,
            pad_edge=False,
            padding=(0, _BETWEEN - 1, 0, 0),
            show_edge=False,
        )
        for column in columns:
            shown.add_column(
                Text(table.columns[column].heading),
                justify="right" if table.columns[column].is_number else "left",
                vertical="bottom",
                overflow="fold",
                no_wrap=table.columns[column].is_number,
            )
        block = ""
        for row in table.rows:
            if row.block_title != block:
                block = row.block_title
                shown.add_section()
                shown.add_row(Text(block, "italic"))
            shown.add_row(*(Text(row.cells[column].shown) for column in columns))
        console.print()
        console.print(shown)
    for note in table.notes:
        _print_hanging(console, "  ", note)


def _parts(table: Table, width: int) -> Iterator[list[int]]:
    """The columns of each part: a table too wide is cut, and its labels stand in each part."""
    widths = [_width(table, place) for place in range(len(table.columns))]
    labels = list(range(table.label_columns))
    part, used = labels, sum(widths[place] for place in labels)
    for place in range(len(labels), len(widths)):
        if used + widths[place] > width + _BETWEEN and len(part) > len(labels):
            yield part
            part, used = labels, sum(widths[place] for place in labels)
        part = [*part, place]
        used += widths[place]
    yield part


def _width(table: Table, place: int) -> int:
    """The least width of a column and the blanks behind it."""
    column = table.columns[place]
    texts = [*column.heading.splitlines(), *(row.cells[place].shown for row in table.rows)]
    longest = max(len(text) for text in texts)
    return (longest if column.is_number else min(longest, _TEXT_WIDTH)) + _BETWEEN
