"""Writes a `Report` as Markdown tables."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TextIO

from assay.report.for_people import for_people
from assay.report.values import Report, Table


def render(report: Report, stream: TextIO, *, detail: bool | None = None) -> None:
    """Writes the report. ``detail`` None: with all details."""
    for line in _lines(for_people(report), detail is not False):
        stream.write(line + "\n")


def _lines(report: Report, with_detail: bool) -> Iterator[str]:
    yield f"# {report.title}"
    yield ""
    for name, value in report.facts.items():
        yield f"- {name}: {_escaped(value)}"
    for section in report.sections:
        if not section.is_shown(with_detail):
            continue
        yield from ("", f"## {section.title}")
        for line in section.lines:
            yield from ("", f"`{line}`")
        for table in section.shown_tables(with_detail):
            yield from _table_lines(table)
    if report.warnings:
        yield from ("", "## Warnings", "")
    for warning in report.warnings:
        fix = f" Fix: {warning.fix}." if warning.fix else ""
        yield _escaped(f"- **{warning.name}**: {warning.sentence}.{fix}")
    yield from ("", f"Record: `{report.record}`, experiment {report.experiment_id}")


def _table_lines(table: Table) -> Iterator[str]:
    yield from ("", f"### {_escaped(table.title)}", "")
    yield _row([column.heading for column in table.columns])
    yield _row(["---:" if column.is_number else "---" for column in table.columns])
    block = ""
    for row in table.rows:
        if row.block_title != block:
            block = row.block_title
            yield _row([f"**{block}**", *[""] * (len(table.columns) - 1)])
        yield _row([cell.shown for cell in row.cells])
    if table.notes:
        yield ""
    for note in table.notes:
        yield f"- {_escaped(note)}"


def _row(cells: list[str]) -> str:
    return "| " + " | ".join(_escaped(cell) for cell in cells) + " |"


def _escaped(text: str) -> str:
    """Escapes what would end a cell, begin a tag or strike text out (``~``)."""
    for sign in "\\|<~":
        text = text.replace(sign, f"\\{sign}")
    return text.replace("\n", "<br>")
