"""Takes a figure of a report; returns it as HTML: the chart, a sentence that describes it, and its
numbers as a table."""

from __future__ import annotations

from operator import attrgetter, itemgetter

from assay.plan import cell_names
from assay.report import columns
from assay.report.charts.draw import svg_for_page
from assay.report.columns import numbers, words
from assay.report.figure import LIMITED, DataSeries, Figure, Point, Scale
from assay.report.page.links import Links, escaped
from assay.report.page.tables import table_html
from assay.report.values import Number, ReportCell, ReportColumn, ReportTable
from assay.text import units


def figure_html(figure: Figure, links: Links) -> str:
    name = figure.file_name
    drawn = svg_for_page(figure, f"{name}-title {name}-text")
    opening, rest = drawn.split(">", 1)
    titled = (
        f'{opening}><title id="{name}-title">{escaped(figure.title)}</title>'
        f'<desc id="{name}-text">{escaped(description(figure))}</desc>{rest}'
    )
    notes = "".join(f"<p>{escaped(note)}</p>" for note in (figure.legend, *figure.notes) if note)
    return (
        f'<figure id="{name}"><figcaption>{escaped(figure.title)}</figcaption>'
        f'<div class="chart">{titled}</div>{notes}'
        f"<details><summary>Numbers of this chart</summary>"
        f"{table_html(_table(figure), links)}</details></figure>"
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


def _table(figure: Figure) -> ReportTable:
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
