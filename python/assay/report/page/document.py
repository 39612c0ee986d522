"""Takes a `Report`; writes the page: summary, sections with charts and tables, and every run."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator, Sequence
from importlib.resources import files
from typing import TextIO

from msgspec.structs import replace

from assay.comparison.conclusions import clauses
from assay.comparison.conclusions.conclusions import Question
from assay.report.figure import Figure
from assay.report.forms.for_people import for_people
from assay.report.page.figures import figure_html
from assay.report.page.links import Links, escaped
from assay.report.page.runs import runs_html
from assay.report.page.tables import table_html
from assay.report.values import Report, ReportTable, Section, WarningNote
from assay.text import units

_NOT_IN_A_NAME = re.compile(r"[^a-z0-9]+")


class Page:
    """The form ``html`` of a report."""

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
    title = escaped(report.title)
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
        f"</main>\n<footer>Record: <code>{escaped(str(report.record))}</code>, "
        f"{report.of}</footer>\n<script>{_own('script.js')}</script>\n</body></html>\n"
    )


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
        link = f'<a href="#{name}">{escaped(section.title)}</a>'
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
    said = clauses.first_said(questions[0])
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
        f"<p>{f'<b>{escaped(answer.test)}</b>: ' if answer.test else ''}{escaped(answer.text)}</p>"
        for answer in report.answers
    )
    claims = "".join(
        f"<p>{escaped(one.lines[0])}</p>" for one in report.sections if one.answers and one.lines
    )
    lines = f"<p>{escaped('; '.join(report.summary.lines))}</p>"
    drawn = figure_html(chart, links) if chart else ""
    tables = "".join(table_html(table, links) for table in report.summary.tables)
    facts = "".join(
        f"<dt>{escaped(name)}</dt><dd>{escaped(text)}</dd>" for name, text in report.facts.items()
    )
    return (
        f'<section id="summary"><h2>Summary</h2><div class="answers">{claims or answers}</div>'
        f'<div class="figures">{drawn}</div>{lines}{tables}'
        f"{_warnings(report.warnings)}<dl>{facts}</dl></section>\n"
    )


def _warnings(warnings: Sequence[WarningNote]) -> str:
    if not warnings:
        return ""
    names = ", ".join(escaped(warning.name) for warning in warnings)
    listed = "".join(map(_warning, warnings))
    return (
        f'<details class="warnings"><summary>{units.counted(len(warnings), "warning")}: {names}'
        f"</summary><ul>{listed}</ul></details>"
    )


def _warning(warning: WarningNote) -> str:
    fix = f' <span class="fix">Fix: {escaped(warning.fix)}.</span>' if warning.fix else ""
    return f"<li><b>{escaped(warning.name)}</b>: {escaped(warning.sentence)}.{fix}</li>"


def _section(section: Section, name: str, links: Links, *, with_detail: bool) -> str:
    heading = "h3" if section.part_of else "h2"
    lines = "".join(f'<p class="line">{escaped(line)}</p>' for line in section.lines)
    figures = "".join(figure_html(figure, links) for figure in section.figures)
    tables = "".join(_table(table, links) for table in section.shown_tables(with_detail))
    charts = f'<div class="figures">{figures}</div>' if figures else ""
    # The table of results is the answer; elsewhere the chart says first what the table holds.
    parts = charts + tables if section.part_of else tables + charts
    return (
        f'<section id="{name}"><{heading}>{escaped(section.title)}</{heading}>{lines}{parts}'
        "</section>\n"
    )


def _table(table: ReportTable, links: Links) -> str:
    shown = table_html(table, links)
    if not table.is_detail:
        return shown
    return f"<details><summary>{escaped(table.title)}</summary>{shown}</details>"
