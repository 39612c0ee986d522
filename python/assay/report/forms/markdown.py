"""Writes a `Report` as Markdown tables."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TextIO

from assay.report.for_people import for_people
from assay.report.values import Report, ReportTable
from assay.text import table_forms
from assay.text.table_forms import markdown_escaped


def render(report: Report, stream: TextIO, *, detail: bool | None = None) -> None:
    """Writes the report. ``detail`` None: with all details."""
    for line in _lines(for_people(report), detail is not False):
        stream.write(line + "\n")


def _lines(report: Report, with_detail: bool) -> Iterator[str]:
    yield f"# {markdown_escaped(report.title)}"
    yield ""
    yield from answer_lines(report)
    for name, value in report.facts.items():
        yield f"- {name}: {markdown_escaped(value)}"
    for section in report.sections:
        if not section.is_shown(with_detail):
            continue
        yield from ("", f"## {markdown_escaped(section.title)}")
        for line in section.lines:
            yield from ("", f"`{line}`")
        for table in section.shown_tables(with_detail):
            yield from table_lines(table)
    if report.warnings:
        yield from ("", "## Warnings", "")
    for warning in report.warnings:
        fix = f" Fix: {warning.fix}." if warning.fix else ""
        yield markdown_escaped(f"- **{warning.name}**: {warning.sentence}.{fix}")
    if report.experiments:
        yield from ("", f"Record: `{report.record}`, {report.of}")


def answer_lines(report: Report) -> Iterator[str]:
    """A line for each question of the experiment, and an empty one behind them."""
    answers = report.answers
    for answer in answers:
        test = f"{markdown_escaped(answer.test)}, " if answer.test else ""
        yield f"- **{test}{markdown_escaped(answer.factor)}**: {markdown_escaped(answer.text)}"
    if answers:
        yield ""


def table_lines(table: ReportTable) -> Iterator[str]:
    """Its title, rows and notes."""
    yield from ("", f"### {markdown_escaped(table.title)}", "")
    if table.of_all:
        yield from (markdown_escaped(table.of_all), "")
    yield from table_forms.markdown_lines(
        [column.heading for column in table.columns],
        _rows(table),
        [column.is_number for column in table.columns],
    )
    if table.notes:
        yield ""
    for note in table.notes:
        yield f"- {markdown_escaped(note)}"


def _rows(table: ReportTable) -> Iterator[list[str]]:
    """Each block is headed by a row of its own."""
    block = ""
    for row in table.rows:
        if row.block_title != block:
            block = row.block_title
            yield [f"**{block}**", *[""] * (len(table.columns) - 1)]
        yield [cell.shown for cell in row.cells]
