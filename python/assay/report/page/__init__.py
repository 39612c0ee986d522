"""Takes a `Report`; returns one HTML file that needs nothing else: no network, no other file.

Charts are SVG in the page. The script sorts tables and opens the details that a link leads to;
without it the page shows the same.
"""

from __future__ import annotations

import io
import itertools
import re
import shlex
from collections.abc import Iterator, Mapping, Sequence
from importlib.resources import files
from operator import attrgetter, itemgetter
from typing import TextIO

from msgspec.structs import replace

from assay.comparison import sentences
from assay.comparison.conclusions import Question
from assay.contracts.metric import ReportColumn
from assay.judge.run import EXCEEDED, WORDS
from assay.plan import cell_names
from assay.record import Run
from assay.report import columns, values
from assay.report.charts import svg_for_page
from assay.report.columns import numbers, words
from assay.report.figure import LIMITED, DataSeries, Figure, Point, Scale
from assay.report.for_people import Links, for_people, html_escaped
from assay.report.values import (
    Number,
    Report,
    ReportCell,
    ReportTable,
    Row,
    RunOfCell,
    Section,
    TidyRow,
    TidyValue,
    WarningNote,
    whole_in,
)
from assay.text import table_forms, units

_NOT_IN_A_NAME = re.compile(r"[^a-z0-9]+")


class Page:
    is_for_terminals = False

    def __call__(self, report: Report, stream: TextIO, *, detail: bool | None = None) -> None:
        """Writes the page. ``detail`` False: without tables of details and without the runs."""
        for part in _page(for_people(report), with_detail=detail is not False):
            stream.write(part)


render = Page()


def _page(report: Report, *, with_detail: bool) -> Iterator[str]:
    sections = [one for one in report.sections if one.is_shown(with_detail)]
    names = _names(sections)
    links = Links(report.runs if with_detail else ())
    title = html_escaped(report.title)
    yield (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        '<meta name="color-scheme" content="light dark">'
        '<meta http-equiv="Content-Security-Policy" content="default-src \'none\'; '
        "style-src 'unsafe-inline'; script-src 'unsafe-inline'; img-src data:\">"
        f"<title>{title}</title><style>{_own('style.css')}</style></head>\n<body>\n"
    )
    yield '<a class="skip" href="#main">Skip to the results</a>\n'
    yield f'<header><h1>{title}</h1></header>\n<main id="main">\n'
    first = _first_figure(report.questions, sections)
    yield _summary(report, first, links)
    yield _contents(sections, names, with_runs=with_detail)
    for section, name in zip(sections, names, strict=True):
        others = tuple(figure for figure in section.figures if figure is not first)
        yield _section(replace(section, figures=others), name, links, with_detail=with_detail)
    if with_detail:
        records = shlex.quote(str(report.record))
        command = f"assay report {report.reference} --records {records} --format json"
        yield runs_html(report.runs, report.tidy["tables"], command) + "\n"
    yield (
        f"</main>\n<footer>Record: <code>{html_escaped(str(report.record))}</code>, "
        f"{report.of}</footer>\n<script>{_own('script.js')}</script>\n</body></html>\n"
    )


def summary_html(report: Report) -> str:
    """What a notebook shows: the answers with their chart and table, and the warnings."""
    shown = for_people(report)
    return _summary(shown, _first_figure(shown.questions, shown.sections), Links(()))


def _own(file: str) -> str:
    return (files("assay.report.page") / file).read_text(encoding="utf-8")


def _names(sections: Sequence[Section]) -> list[str]:
    """An id for each, which a link may keep while the sections stay the same."""
    taken: dict[str, int] = {}
    names = []
    for section in sections:
        words = f"{section.part_of} {section.title}".casefold()
        name = "section-" + _NOT_IN_A_NAME.sub("-", words).strip("-")
        taken[name] = taken.get(name, 0) + 1
        names.append(name if taken[name] == 1 else f"{name}-{taken[name]}")
    return names


def _contents(sections: Sequence[Section], names: Sequence[str], *, with_runs: bool) -> str:
    """The parts of a test stand in the line; of several tests, folded behind each, since they are
    called alike."""
    wholes: list[tuple[str, list[str]]] = []
    for section, name in zip(sections, names, strict=True):
        link = f'<a href="#{name}">{html_escaped(section.title)}</a>'
        if section.part_of and wholes:
            wholes[-1][1].append(f'<li class="part">{link}</li>')
        else:
            wholes.append((link, []))
    is_folded = sum(bool(parts) for _, parts in wholes) > 1
    items = ['<li><a href="#summary">Summary</a></li>']
    for link, parts in wholes:
        listed = "".join(parts)
        folded = (
            f"<details><summary>{units.counted(len(parts), 'part')}</summary><ul>{listed}</ul>"
            "</details>"
        )
        is_apart = is_folded and parts
        items.append(f"<li>{link} {folded}</li>" if is_apart else f"<li>{link}</li>{listed}")
    if with_runs:
        items.append('<li><a href="#runs">Runs</a></li>')
    return f'<nav aria-label="Sections"><ul>{"".join(items)}</ul></nav>\n'


def _first_figure(questions: Sequence[Question], sections: Sequence[Section]) -> Figure | None:
    """The chart beside the answers: of the results, the one that has both cells of which the first
    sentence speaks, and the fewest others."""
    figures = [figure for one in sections if not one.part_of for figure in one.figures]
    if not questions:
        return next(iter(figures), None)
    said = sentences.first_said(questions[0])
    of_both = [
        figure
        for figure in figures
        if all({run for point in figure.points for run in point.runs} & set(of) for of in said.runs)
    ]
    return min(of_both, key=_measured_points, default=next(iter(figures), None))


def _measured_points(figure: Figure) -> int:
    return sum(len(one.points) for one in figure.series if not one.is_reference)


def _summary(report: Report, chart: Figure | None, links: Links) -> str:
    """The answers, a chart and the table, what limits them, and then how they were measured."""
    answers = "".join(
        f"<p>{f'<b>{html_escaped(answer.test)}</b>: ' if answer.test else ''}"
        f"{html_escaped(answer.text)}</p>"
        for answer in report.answers
    )
    claims = "".join(
        f"<p>{html_escaped(one.lines[0])}</p>"
        for one in report.sections
        if one.answers and one.lines
    )
    lines = f"<p>{html_escaped('; '.join(report.summary.lines))}</p>"
    drawn = figure_html(chart, links) if chart else ""
    tables = "".join(table_html(table, links) for table in report.summary.tables)
    facts = "".join(
        f"<dt>{html_escaped(name)}</dt><dd>{html_escaped(text)}</dd>"
        for name, text in report.facts.items()
    )
    return (
        f'<section id="summary"><h2>Summary</h2><div class="answers">{claims or answers}</div>'
        f'<div class="figures">{drawn}</div>{lines}{tables}'
        f"{_warnings(report.warnings)}<dl>{facts}</dl></section>\n"
    )


def _warnings(warnings: Sequence[WarningNote]) -> str:
    if not warnings:
        return ""
    names = ", ".join(html_escaped(warning.name) for warning in warnings)
    listed = "".join(map(_warning, warnings))
    return (
        f'<details class="warnings"><summary>{units.counted(len(warnings), "warning")}: {names}'
        f"</summary><ul>{listed}</ul></details>"
    )


def _warning(warning: WarningNote) -> str:
    fix = f' <span class="fix">Fix: {html_escaped(warning.fix)}.</span>' if warning.fix else ""
    return f"<li><b>{html_escaped(warning.name)}</b>: {html_escaped(warning.sentence)}.{fix}</li>"


def _section(section: Section, name: str, links: Links, *, with_detail: bool) -> str:
    heading = "h3" if section.part_of else "h2"
    lines = "".join(f'<p class="line">{html_escaped(line)}</p>' for line in section.lines)
    figures = "".join(figure_html(figure, links) for figure in section.figures)
    tables = "".join(_table(table, links) for table in section.shown_tables(with_detail))
    charts = f'<div class="figures">{figures}</div>' if figures else ""
    # The table of results is the answer; elsewhere the chart says first what the table holds.
    parts = charts + tables if section.part_of else tables + charts
    return (
        f'<section id="{name}"><{heading}>{html_escaped(section.title)}</{heading}>{lines}{parts}'
        "</section>\n"
    )


def _table(table: ReportTable, links: Links) -> str:
    shown = table_html(table, links)
    if not table.is_detail:
        return shown
    return f"<details><summary>{html_escaped(table.title)}</summary>{shown}</details>"


# Takes a figure of a report; returns it as HTML: the chart, a sentence that describes it, and its
# numbers as a table.


def figure_html(figure: Figure, links: Links) -> str:
    name = figure.file_name
    drawn = svg_for_page(figure, f"{name}-title {name}-text")
    opening, rest = drawn.split(">", 1)
    titled = (
        f'{opening}><title id="{name}-title">{html_escaped(figure.title)}</title>'
        f'<desc id="{name}-text">{html_escaped(description(figure))}</desc>{rest}'
    )
    notes = "".join(
        f"<p>{html_escaped(note)}</p>" for note in (figure.legend, *figure.notes) if note
    )
    return (
        f'<figure id="{name}"><figcaption>{html_escaped(figure.title)}</figcaption>'
        f'<div class="chart">{titled}</div>{notes}'
        f"<details><summary>Numbers of this chart</summary>"
        f"{table_html(_figures_table(figure), links)}</details></figure>"
    )


def description(figure: Figure) -> str:
    """What a person who does not see it is to know: kind, axes, and where each series leads."""
    kind = figure.mark.name.capitalize()
    axes = f"{figure.y.heading} by {figure.x.heading}" if figure.x.title else figure.y.heading
    return f"{kind}: {axes}. {'; '.join(map(_course, figure.series))}.{_limited(figure)}"


def _limited(figure: Figure) -> str:
    """How many points are marked as limited, as a picture shows them."""
    words = [(word, sum(one.verdict == word for one in figure.points)) for word in LIMITED]
    said = ", ".join(f"{number} of {len(figure.points)} {word}" for word, number in words if number)
    return f" Points: {said}." if said else ""


def _course(series: DataSeries) -> str:
    first, last = series.points[0], series.points[-1]
    ends = f"{units.digits(first.y, 3)} at {_level(first.x)}"
    if first is not last:
        ends += f" to {units.digits(last.y, 3)} at {_level(last.x)}"
    return f"{series.name}: {ends}"


def _level(x: float | str) -> str:
    return x if isinstance(x, str) else cell_names.level_text(x)


def _figures_table(figure: Figure) -> ReportTable:
    is_share = figure.x.scale is Scale.PERCENTILES
    at = "%" if is_share else figure.x.title or "of"

    def level(point: Point) -> ReportCell:
        if isinstance(point.x, str):
            return ReportCell(point.x)
        x = 100 - 100 / point.x if is_share else point.x
        return ReportCell(f"{x:.6g}", Number(x, ""))

    of_point = [
        ReportColumn(at, is_number=not figure.has_categories, cell=level),
        numbers(figure.y.title, _value),
        *([words("range", _range)] if figure.has_ranges else []),
        *([words("verdict", attrgetter("verdict"))] if figure.legend else []),
    ]
    return columns.table(
        figure.name,
        figure.title,
        (words("series", lambda source: source[0].name), *columns.of(itemgetter(1), of_point)),
        ((series, point) for series in figure.series for point in series.points),
    )


def _value(point: Point) -> ReportCell:
    return ReportCell(units.digits(point.y), Number(point.y, ""), runs=point.runs)


def _range(point: Point) -> str:
    if point.low is None or point.high is None:
        return ""
    return f"{units.digits(point.low)}-{units.digits(point.high)}"


# Takes a table of a report; returns it as HTML, in a box of its own that scrolls.

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
    title = html_escaped(table.title)
    head = "".join(
        f'<th scope="col"{_number_class(column)}>{html_escaped(column.heading)}</th>'.replace(
            "\n", "<br>"
        )
        for column in table.columns
    )
    cards = " cards" if table.name in _SUMMARIES else ""
    bodies = "".join(_body(table, block, rows, links) for block, rows in _blocks(table.rows))
    of_all = f"<small>{html_escaped(table.of_all)}</small>" if table.of_all else ""
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
    items = "".join(f"<li>{html_escaped(note)}</li>" for note in notes if note)
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
            f"<span>{html_escaped(block)}</span></th></tr>"
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
        named = f' data-label="{html_escaped(column.heading)}"' if table.name in _SUMMARIES else ""
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
        return html_escaped(cell.shown)
    return f"{html_escaped(cell.shown[: mark.start()])}<sup>[{mark[1]}]</sup>"


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


# Takes the runs of a report; returns a part of the page for each: facts, settings, scripts, and
# its raw rows.
#
# What many runs share (settings, scripts) stands once, and raw rows stop at a limit, so that the
# page of hundreds of runs stays small.

MOST_RAW_BYTES = 5_000_000
"""Of all raw rows together."""
_OF_A_RUN = (
    "transactions", "groups", "values", "steps", "errors", "checks", "statements", "intervals",
)  # fmt: skip
"""Tables of the tidy output with rows of a run; the largest come last."""

Rows = Sequence[TidyRow]


class _Shared:
    """Texts that stand once in the page, each under a number."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.numbers: dict[str, int] = {}

    def link(self, text: str, shown: str) -> str:
        if not text:
            return ""
        number = self.numbers.setdefault(text, len(self.numbers) + 1)
        return f'<a href="#{self.name}-{number}">{shown}</a>'

    def parts(self, title: str) -> str:
        return "".join(
            f'<details id="{self.name}-{number}"><summary>{title} {number}</summary>'
            f"<pre>{html_escaped(text)}</pre></details>"
            for text, number in self.numbers.items()
        )


def runs_html(runs: Sequence[RunOfCell], tables: Mapping[str, Rows], how_to_get: str) -> str:
    """``how_to_get``: the command that gives the raw rows which are left out."""
    raw = _RawRows(tables)
    settings, scripts = _Shared("settings"), _Shared("scripts")
    parts = []
    for cell, found in itertools.groupby(runs, key=lambda run: run.cell):
        of_cell = list(found)
        inner = "".join(_run(one.run, raw, settings, scripts) for one in of_cell)
        parts.append(
            f'<section id="cell-{cell}" class="cell"><h3>{html_escaped(of_cell[0].name)}</h3>'
            f"{inner}</section>"
        )
    left_out = (
        f"<p>{units.counted(raw.left_out, 'raw row')} left out, to keep this page small: "
        f"<code>{html_escaped(how_to_get)}</code> has all.</p>"
        if raw.left_out
        else ""
    )
    return (
        f'<section id="runs"><h2>Runs</h2>{left_out}{"".join(parts)}</section>'
        + _part("settings", "Settings in effect", settings.parts("Settings"))
        + _part("scripts", "Scripts", scripts.parts("Scripts"))
    )


def _part(name: str, title: str, inner: str) -> str:
    return f'<section id="{name}"><h2>{title}</h2>{inner}</section>' if inner else ""


def _run(run: Run, raw: _RawRows, settings: _Shared, scripts: _Shared) -> str:
    in_effect, sent = values.settings(run), values.scripts(run)
    facts = {name: html_escaped(text) for name, text in values.facts(run).items()}
    facts["settings in effect"] = settings.link(
        "\n".join(f"{name} = {value}" for name, value in in_effect.items()),
        units.counted(len(in_effect), "setting"),
    )
    facts["scripts"] = scripts.link(
        "\n\n".join(f"-- {name}\n{text.strip()}" for name, text in sent),
        units.counted(len(sent), "script"),
    )
    listed = "".join(f"<dt>{name}</dt><dd>{value}</dd>" for name, value in facts.items() if value)
    return (
        f'<details id="run-{run.id}" class="run"><summary>Run {run.id}, repetition '
        f"{run.repetition}: {html_escaped(run.verdict or run.state)}</summary><dl>{listed}</dl>"
        f"{''.join(raw.of_run(run.id))}</details>"
    )


class _RawRows:
    """The tidy rows of each run, as CSV."""

    def __init__(self, tables: Mapping[str, Rows]) -> None:
        self._by_run = {name: _grouped(tables.get(name, ())) for name in _OF_A_RUN}
        self._numbers = {whole_in(row, "run"): row for row in tables.get("runs", ())}
        self._left_bytes = MOST_RAW_BYTES
        self.left_out = 0

    def of_run(self, run: int) -> Iterator[str]:
        numbers = self._numbers.get(run, {})
        shown = "\n".join(
            f"{name} = {_plain(value)}" for name, value in numbers.items() if value is not None
        )
        if shown:
            yield self._details("All numbers of the run", shown)
        for name, by_run in self._by_run.items():
            rows = by_run.get(run, ())
            if not rows:
                continue
            text = _csv(rows)
            if len(text) > self._left_bytes:
                self.left_out += len(rows)
                continue
            yield self._details(f"{name.capitalize()}: {units.counted(len(rows), 'row')}", text)

    def _details(self, title: str, text: str) -> str:
        self._left_bytes -= len(text)
        return f"<details><summary>{title}</summary><pre>{html_escaped(text)}</pre></details>"


def _grouped(rows: Rows) -> dict[int | None, Rows]:
    found: dict[int | None, list[TidyRow]] = {}
    for row in rows:
        found.setdefault(whole_in(row, "run"), []).append(row)
    return {**found}


def _csv(rows: Rows) -> str:
    """Without columns in which no row has anything."""
    names = [
        name for name in rows[0] if name != "run" and any(row[name] is not None for row in rows)
    ]
    stream = io.StringIO()
    table_forms.write_csv(stream, names, ([_plain(row[name]) for name in names] for row in rows))
    return stream.getvalue()


def _plain(value: TidyValue) -> object:
    if isinstance(value, list):
        return ";".join(map(str, value))
    return "" if value is None else value
