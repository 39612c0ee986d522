"""Takes a figure; returns its Vega-Lite specification."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from typing import Any

from assay.report.charts import colours
from assay.report.charts.axes import position
from assay.report.charts.rows import in_lines, rows, shaded_rows
from assay.report.figure import LIMITED, DataSeries, Figure, Mark

_WIDTH, _HEIGHT = 460, 230
_WIDTH_ON_A_PAGE = 360
"""That of a phone, so that its text stays readable there and the whole chart is seen."""
_BAR = 14
"""Height of a bar."""
_SHADE = 0.16
"""Opacity."""
_PALE = 0.3
"""How much of its colour a bar has whose verdict is not valid."""
_SUBTITLE_LENGTH = 84
_LONG_NAME = 18
"""Characters of a name that takes more than half the width of a page's chart."""
_LABEL_WIDTH = 190
POINTS, SHADED = "points", "shaded"
"""The names of the data, to which a page adds."""
Spec = dict[str, Any]


def specification(figure: Figure, *, with_title: bool = True, is_checked: bool = True) -> Spec:
    """``with_title``: for a file of its own; on a page, which may be narrow, a caption has it.
    ``is_checked``: by the schema of Vega-Lite, which takes most of the time."""
    import altair as alt

    layers = _by_category(alt, figure) if figure.has_categories else _lines(alt, figure)
    chart = alt.layer(*layers, data={"name": POINTS, "values": rows(figure)})
    width = _WIDTH if with_title else _WIDTH_ON_A_PAGE
    sizes: Spec = {"width": width, "autosize": {"type": "fit-x", "contains": "padding"}}
    if not figure.has_categories:
        sizes["height"] = _HEIGHT
    chart = chart.properties(**sizes, **({"title": _title(figure)} if with_title else {}))
    made: Spec = chart.configure(**_style(_step(figure))).to_dict(validate=is_checked)
    return made


def _title(figure: Figure) -> Spec:
    """With what the file alone would not say: where the numbers are from, and what marks mean."""
    said = [line for line in (figure.source, figure.legend, *figure.notes) if line]
    lines = [part for line in said for part in textwrap.wrap(line, _SUBTITLE_LENGTH)]
    return {"text": figure.title, **({"subtitle": lines} if lines else {})}


def _step(figure: Figure) -> int:
    """The height of a bar, or where names have two lines and a bar of their own, of these."""
    points = figure.points
    is_alone = len({point.x for point in points}) == len(points)
    has_two = any("\n" in in_lines(str(point.x)) for point in points)
    return 26 if is_alone and has_two else _BAR


def _lines(alt: Any, figure: Figure) -> list[Any]:
    series = list({one.name: one for one in figure.series}.values())
    names = [one.name for one in series]
    legend = _legend(alt, names)
    colour = alt.Color("series:N", sort=None, legend=legend).scale(
        domain=names, range=_by_series(series, colours.SERIES, colours.REFERENCE)
    )
    dash = alt.StrokeDash("series:N", sort=None, legend=legend).scale(
        domain=names, range=_by_series(series, colours.DASHES, colours.REFERENCE_DASH)
    )
    shape = alt.Shape("series:N", sort=None, legend=legend).scale(
        domain=names, range=_by_series(series, colours.MARKS, colours.REFERENCE_MARK)
    )
    along = position(alt, figure.x, _xs(figure), is_x=True)
    has_shading = bool(figure.shaded or figure.expected)
    if has_shading:
        along["scale"].clamp = True  # from the first second to the last
    x = alt.X("x:Q", **along)
    y = alt.Y("y:Q", **position(alt, figure.y, figure.y_values, is_x=False))
    base = alt.Chart()
    layers = _shading(alt, figure, along) if has_shading else []
    layers.append(
        base.mark_line(strokeWidth=2, strokeJoin="round").encode(
            x=x, y=y, color=colour, strokeDash=dash, detail="part:N"
        )
    )
    points = base.transform_filter("datum.isMarked").encode(x=x, y=y, shape=shape)
    layers += _marks(alt, points, figure, 48, colour)
    if any(point.verdict == "invalid" for point in figure.points):
        layers.append(
            base.mark_text(text=LIMITED["invalid"], fontSize=15, color=colours.TEXT)
            .transform_filter("datum.isMarked && datum.isInvalid")
            .encode(x=x, y=y)
        )
    if figure.has_ranges:
        layers.append(
            base.mark_rule(strokeWidth=1.5).encode(x=x, y="low:Q", y2="high:Q", color=colour)
        )
    return layers


def _xs(figure: Figure) -> list[float]:
    """Where points are, or will be."""
    if figure.expected is None or figure.x.span is None:
        return [float(point.x) for point in figure.points]
    (low, high), steps = figure.x.span, max(1, figure.expected - 1)
    return [low + (high - low) * place / steps for place in range(steps + 1)]


def _shading(alt: Any, figure: Figure, along: Spec) -> list[Any]:
    """Below all lines, also where there is nothing to shade yet. ``along``: the x axis."""
    data = {"name": SHADED, "values": shaded_rows(figure)}
    shade = alt.Chart(data).mark_rect(color=colours.SHADE, opacity=_SHADE)
    return [shade.encode(x=alt.X("from:Q", **along), x2="to:Q")]


def _legend(alt: Any, names: Sequence[str]) -> Any:
    """Long names stand one under the other."""
    is_long = max(map(len, names)) > _LONG_NAME
    return alt.Legend(title=None, **({"columns": 1, "labelLimit": 320} if is_long else {}))


def _marks(alt: Any, points: Any, figure: Figure, size: int, colour: Any = None) -> list[Any]:
    """Points, hollow where the verdict is not valid; no fill hides the others below it."""
    coloured = points if colour is None else points.encode(color=colour)
    filled = coloured.mark_point(filled=True, size=size, opacity=1)
    layers = [filled.transform_filter("!datum.isLimited")]
    if any(point.is_limited for point in figure.points):
        hollow = points.mark_point(fillOpacity=0, size=size, opacity=1, strokeWidth=1.8)
        stroke = _outline(alt, figure)
        layers.append(hollow.transform_filter("datum.isLimited").encode(stroke=stroke))
    return layers


def _outline(alt: Any, figure: Figure) -> Any:
    series = list({one.name: one for one in figure.series}.values())
    return alt.Stroke("series:N", sort=None, legend=None).scale(
        domain=[one.name for one in series],
        range=_by_series(series, colours.SERIES, colours.REFERENCE),
    )


def _by_category(alt: Any, figure: Figure) -> list[Any]:
    names = [one.name for one in figure.series]
    legend = _legend(alt, names) if len(names) > 1 else None
    colour = alt.Color("series:N", sort=None, legend=legend).scale(
        domain=names, range=_by_series(figure.series, colours.SERIES, colours.REFERENCE)
    )
    axis = alt.Axis(
        title=None,
        labelLimit=_LABEL_WIDTH,
        labelExpr="split(datum.value, '\\n')",
        labelLineHeight=11,
        ticks=False,
        grid=False,
        domain=False,
    )
    y = alt.Y("x:N", sort=None, axis=axis)
    places = [point.x for point in figure.points]
    has_neighbours = len(set(places)) < len(places)
    across = {"yOffset": alt.YOffset("series:N", sort=names)} if has_neighbours else {}
    base = alt.Chart().encode(y=y, color=colour, **across)
    along = position(alt, figure.y, figure.y_values, is_x=True, is_bar=True, base=figure.base)
    x = alt.X("y:Q", **along)
    is_bars = figure.mark is Mark.BARS
    layers = _bars(alt, base, figure, x) if is_bars else _points(alt, base, figure, x)
    if figure.base == 1:
        layers.insert(
            0,
            alt.Chart().mark_rule(color=colours.TEXT, strokeWidth=1).encode(x=alt.datum(1.0)),
        )
    if figure.has_ranges:
        layers.append(
            base.mark_rule(strokeWidth=1.2, color=colours.TEXT).encode(
                x="low:Q", x2="high:Q", color=alt.value(colours.TEXT)
            )
        )
    for is_beyond in (True, False):
        room = 5 if figure.mark is Mark.BARS else 8
        text = base.mark_text(
            align="left" if is_beyond else "right", dx=room if is_beyond else -room
        )
        layers.append(
            text.transform_filter(f"datum.isBeyond == {str(is_beyond).lower()}").encode(
                x="high:Q" if is_beyond else "low:Q",
                text="shown:N",
                color=alt.value(colours.TEXT),
            )
        )
    return layers


def _bars(alt: Any, base: Any, figure: Figure, x: Any) -> list[Any]:
    layers = [base.mark_bar(height={"band": 0.85}).transform_filter("!datum.isLimited").encode(x=x)]
    if any(point.is_limited for point in figure.points):
        layers.append(
            base.mark_bar(height={"band": 0.85}, fillOpacity=_PALE, strokeWidth=1)
            .transform_filter("datum.isLimited")
            .encode(x=x, stroke=_outline(alt, figure))
        )
    return layers


def _points(alt: Any, base: Any, figure: Figure, x: Any) -> list[Any]:
    shape = alt.Shape("series:N", sort=None, legend=None).scale(
        domain=[one.name for one in figure.series],
        range=_by_series(figure.series, colours.MARKS, colours.REFERENCE_MARK),
    )
    return _marks(alt, base.encode(x=x, shape=shape), figure, 55)


def _by_series(series: Sequence[DataSeries], own: Sequence[Any], reference: Any) -> list[Any]:
    """Own ones in their order, wherever the references stand between them."""
    left = iter(list(own) * len(series))
    return [reference if one.is_reference else next(left) for one in series]


def _style(bar: int) -> Spec:
    labels = {"labelColor": colours.TEXT, "labelFontSize": 11, "titleColor": colours.TEXT}
    return {
        "background": "transparent",
        "padding": {"left": 10, "right": 10, "top": 5, "bottom": 5},
        "font": "Arial, sans-serif",
        "aria": False,
        "view": {"stroke": None, "discreteHeight": {"step": bar}},
        "axis": {
            **labels,
            "titleFontSize": 11,
            "titleFontWeight": "normal",
            "gridColor": colours.GRID,
            "domainColor": colours.AXIS,
            "tickColor": colours.AXIS,
            "titlePadding": 8,
        },
        "legend": {
            **labels,
            "orient": "bottom",
            "direction": "horizontal",
            "columns": 2,
            "columnPadding": 28,
            "labelLimit": 190,
            "symbolSize": 90,
            "symbolStrokeWidth": 0,
        },
        "title": {
            "color": colours.TEXT,
            "fontSize": 13,
            "subtitleFontSize": 10,
            "subtitleColor": colours.TEXT,
            "anchor": "start",
            "limit": 520,
            "offset": 18,
        },
        "text": {"color": colours.TEXT, "fontSize": 10},
    }
