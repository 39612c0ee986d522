"""Takes a table of a report; returns it as HTML, in a box of its own that scrolls."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator, Sequence

from assay.judge.evidence.values import EXCEEDED
from assay.judge.verdict import WORDS
from assay.report.page.links import Links, escaped
from assay.report.values import ReportCell, ReportColumn, ReportTable, Row

_NOTE_MARK = re.compile(r" ?\[(\d+)\]$")
_FOOTNOTE = re.compile(r"\[\d+\] ")
_MOST_FOOTNOTES = 4
_PLAIN_NUMBER = re.compile(r"-?\d+(\.\d+)?$")
_LONG_TEXT = 45
"""Characters of a text that may be wrapped."""
_SUMMARIES = ("summary", "summary_measured")
"""The tables whose rows are cards on a phone: number, verdict and why are seen together."""
_VERDICTS = (*WORDS, "refused", EXCEEDED)


def table_html(table: ReportTable, links: Links) -> str:
    title = escaped(table.title)
    head = "".join(
        f'<th scope="col"{_number_class(column)}>{escaped(column.heading)}</th>'.replace(
            "\n", "<br>"
        )
        for column in table.columns
    )
    cards = " cards" if table.name in _SUMMARIES else ""
    bodies = "".join(_body(table, block, rows, links) for block, rows in _blocks(table.rows))
    of_all = f"<small>{escaped(table.of_all)}</small>" if table.of_all else ""
    return (
        f'<div class="box" role="region" aria-label="{title}" tabindex="0">'
        f'<table class="sortable{cards}"><caption><span>{title}{of_all}</span></caption>'
        f"<thead><tr>{head}</tr></thead>{bodies}</table></div>" + _notes(table)
    )


def _notes(table: ReportTable) -> str:
    """Many footnotes are closed, so that the next table is not far."""
    footnotes = [note for note in table.notes if _FOOTNOTE.match(note)]
    if len(footnotes) <= _MOST_FOOTNOTES:
        return _listed(table.notes)
    others = [note for note in table.notes if note not in footnotes]
    return (
        f'{_listed(others)}<details class="footnotes"><summary>{len(footnotes)} footnotes</summary>'
        f"{_listed(footnotes)}</details>"
    )


def _listed(notes: Sequence[str]) -> str:
    items = "".join(f"<li>{escaped(note)}</li>" for note in notes if note)
    return f'<ul class="notes">{items}</ul>' if items else ""


def _blocks(rows: Sequence[Row]) -> Iterator[tuple[str, list[Row]]]:
    for block, found in itertools.groupby(rows, key=lambda row: row.block_title):
        yield block, list(found)


def _body(table: ReportTable, block: str, rows: Sequence[Row], links: Links) -> str:
    """Rows are sorted within their block."""
    head = ""
    if block:
        width = len(table.columns)
        head = (
            f'<tr class="block"><th scope="rowgroup" colspan="{width}">'
            f"<span>{escaped(block)}</span></th></tr>"
        )
    return f"<tbody>{head}{''.join(_row(table, row, links) for row in rows)}</tbody>"


def _row(table: ReportTable, row: Row, links: Links) -> str:
    cells = []
    of_labels = tuple(
        dict.fromkeys(run for cell in row.cells[: table.label_columns] for run in cell.runs)
    )
    for place, (column, cell) in enumerate(zip(table.columns, row.cells, strict=True)):
        is_label = place < table.label_columns
        runs = cell.runs or (of_labels if cell.number is not None else ())
        shown = links.around(_shown(cell), runs)
        named = f' data-label="{escaped(column.heading)}"' if table.name in _SUMMARIES else ""
        if is_label:
            cells.append(f'<th scope="row"{_number_class(column)}{named}>{shown}</th>')
        else:
            cells.append(f"<td{_class(column, cell)}{named}{_sort_value(cell)}>{shown}</td>")
    published = ' class="published"' if row.is_published else ""
    return f"<tr{published}>{''.join(cells)}</tr>"


def _shown(cell: ReportCell) -> str:
    """The number of a footnote stands raised."""
    mark = _NOTE_MARK.search(cell.shown) if cell.note else None
    if mark is None:
        return escaped(cell.shown)
    return f"{escaped(cell.shown[: mark.start()])}<sup>[{mark[1]}]</sup>"


def _number_class(column: ReportColumn) -> str:
    return ' class="n"' if column.is_number else ""


def _class(column: ReportColumn, cell: ReportCell) -> str:
    names = []
    if column.is_number:
        names.append("n")
    if cell.is_absent:
        names.append("absent")
    if not column.is_number and len(cell.shown) > _LONG_TEXT:
        names.append("long")
    if column.title == "verdict" and cell.shown in _VERDICTS:
        names.append(f"verdict-{cell.shown}")
    return f' class="{" ".join(names)}"' if names else ""


def _sort_value(cell: ReportCell) -> str:
    """Where the text alone does not say it."""
    if cell.number is None or _PLAIN_NUMBER.match(cell.shown):
        return ""
    return f' data-value="{cell.number.value:.6g}"'
