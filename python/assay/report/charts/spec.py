"""Takes a figure; returns its Vega-Lite specification."""

from __future__ import annotations

import itertools
import math
import re
import textwrap
from collections.abc import Sequence
from typing import Any

from assay.report.charts import colours
from assay.report.figure import LIMITED, Axis, DataSeries, Figure, Mark, Point, Scale

_WIDTH, _HEIGHT = 460, 230
_WIDTH_ON_A_PAGE = 360
"""That of a phone, so that its text stays readable there and the whole chart is seen."""
_BAR = 14
"""Height of a bar."""
_PALE = 0.3
"""How much of its colour a bar has whose verdict is not valid."""
_SUBTITLE_LENGTH = 84
_MOST_TICKS = 8
_LONG_NAME = 18
"""Characters of a name that takes more than half the width of a page's chart."""
_LEAST_SPAN = 10.0
"""Of a logarithmic axis of values."""
_MOST_MARKS = 16
"""On a line; a longer one has a mark at every second, third … point."""
_LABEL_WIDTH = 190
_LABEL_LENGTH = 28
_NUMBER = "datum.value >= 10000 ? format(datum.value, '~s') : format(datum.value, '~g')"
_SHARE = "datum.value == 1 ? '0 %' : format(100 - 100 / datum.value, '.6~f') + ' %'"
Spec = dict[str, Any]


def specification(figure: Figure, *, with_title: bool = True) -> Spec:
    """``with_title``: for a file of its own; on a page, which may be narrow, a caption has it."""
    import altair as alt

    layers = _by_category(alt, figure) if figure.has_categories else _lines(alt, figure)
    chart = alt.layer(*layers, data={"values": _values(figure)})
    width = _WIDTH if with_title else _WIDTH_ON_A_PAGE
    sizes: Spec = {"width": width, "autosize": {"type": "fit-x", "contains": "padding"}}
    if not figure.has_categories:
        sizes["height"] = _HEIGHT
    chart = chart.properties(**sizes, **({"title": _title(figure)} if with_title else {}))
    made: Spec = chart.configure(**_style(_step(figure))).to_dict()
    return made


def _title(figure: Figure) -> Spec:
    """With what the file alone would not say: where the numbers are from, and what marks mean."""
    said = [line for line in (figure.source, figure.legend, *figure.notes) if line]
    lines = [part for line in said for part in textwrap.wrap(line, _SUBTITLE_LENGTH)]
    return {"text": figure.title, **({"subtitle": lines} if lines else {})}


def _values(figure: Figure) -> list[Spec]:
    return [
        {
            "series": one.name,
            "x": _in_lines(point.x) if isinstance(point.x, str) else point.x,
            "y": point.y,
            "low": point.y if point.low is None else point.low,
            "high": point.y if point.high is None else point.high,
            "isBeyond": point.y >= (figure.base or 0),
            "part": part,
            "isMarked": point.is_limited or place % max(1, -(-len(one.points) // _MOST_MARKS)) == 0,
            "isLimited": point.is_limited,
            "isInvalid": point.verdict == "invalid",
            "shown": _shown(point),
        }
        for part, one in enumerate(figure.series)
        for place, point in enumerate(one.points)
    ]


def _shown(point: Point) -> str:
    """The number beside a bar, with the sign of its verdict."""
    number = f"{point.y:.3g}" if point.y < 1000 else f"{point.y:,.0f}".replace(",", " ")
    return f"{number} {LIMITED.get(point.verdict, '')}".rstrip()


def _in_lines(category: str) -> str:
    """A long name in two lines, broken behind a comma or a colon near its middle."""
    breaks = [found.end() for found in re.finditer(r"[,:] ", category)]
    if len(category) <= _LABEL_LENGTH or not breaks:
        return category
    at = min(breaks, key=lambda place: abs(place - len(category) / 2))
    return f"{category[:at].rstrip()}\n{category[at:]}"


def _step(figure: Figure) -> int:
    """The height of a bar, or where names have two lines and a bar of their own, of these."""
    points = figure.points
    is_alone = len({point.x for point in points}) == len(points)
    has_two = any("\n" in _in_lines(str(point.x)) for point in points)
    return 26 if is_alone and has_two else _BAR


def _lines(alt: Any, figure: Figure) -> list[Any]:
    series = list({one.name: one for one in figure.series}.values())
    names = [one.name for one in series]
    legend = _legend(alt, names)
    colour = alt.Color("series:N", sort=None, legend=legend).scale(
        domain=names, range=_by_series(series, colours.SERIES, colours.REFERENCE)
    )
    dash = alt.StrokeDash("series:N", sort=None, legend=None).scale(
        domain=names, range=_by_series(series, colours.DASHES, colours.REFERENCE_DASH)
    )
    shape = alt.Shape("series:N", sort=None, legend=legend).scale(
        domain=names, range=_by_series(series, colours.MARKS, colours.REFERENCE_MARK)
    )
    xs = [float(point.x) for point in figure.points]
    x = alt.X("x:Q", **_position(alt, figure.x, xs, is_x=True))
    y = alt.Y("y:Q", **_position(alt, figure.y, figure.y_values, is_x=False))
    base = alt.Chart()
    layers = [
        base.mark_line(strokeWidth=2, strokeJoin="round").encode(
            x=x, y=y, color=colour, strokeDash=dash, detail="part:N"
        )
    ]
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
    position = _position(alt, figure.y, figure.y_values, is_x=True, is_bar=True, base=figure.base)
    x = alt.X("y:Q", **position)
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


def _position(
    alt: Any,
    axis: Axis,
    values: Sequence[float],
    *,
    is_x: bool,
    is_bar: bool = False,
    base: float | None = None,
) -> Spec:
    """Scale and axis, whose ticks on a logarithmic scale are round numbers or the levels."""
    found = sorted({*values, *([] if base is None else [base]), *(axis.span or ())})
    is_log = axis.scale is not Scale.LINEAR and found[0] > 0
    if is_log and (is_bar or not is_x):
        found = _a_decade(found)
    ticks = _ticks(found, is_percentile=axis.scale is Scale.PERCENTILES) if is_log else None
    low, high = found[0], found[-1]
    # Room for the numbers beside the bars that reach farthest to either side.
    beside = max(1.06, (high / low) ** 0.04) if is_log and (is_bar or not is_x) else 1.06
    room, room_left = (
        ((high / low) ** 0.16 * 1.1, (high / low) ** 0.3 * 1.1)
        if is_log and is_bar
        else (beside, beside)
    )
    shown = alt.Axis(
        title=axis.heading or None,
        labelExpr=_SHARE if axis.scale is Scale.PERCENTILES else _NUMBER,
        grid=True,
        **({"values": ticks} if ticks else {"tickCount": 5, "labelOverlap": True}),
        **({} if is_x else {"titleAngle": 0, "titleAlign": "left", "titleX": 0, "titleY": -12}),
    )
    if ticks:
        has_left = base is not None and low < base
        domain = [
            min(low / (room_left if has_left else beside), ticks[0]),
            max(high * room, ticks[-1]),
        ]
        return {"scale": alt.Scale(type="log", domain=domain, nice=False), "axis": shown}
    if is_x and not is_bar:
        if len(found) <= _MOST_TICKS and all(value == round(value) for value in found):
            shown.values = found  # whole numbers, such as clients, have none between them
        domain = [low, high if high > low else low + 1]
        return {"scale": alt.Scale(zero=False, nice=False, domain=domain), "axis": shown}
    domain = [min(0.0, low), high * (1.18 if is_bar else 1.02) or 1.0]
    return {"scale": alt.Scale(domain=domain, nice=not is_bar), "axis": shown}


def _a_decade(values: list[float]) -> list[float]:
    """With ends a factor of ten apart at least: a small difference must not fill the chart."""
    low, high = values[0], values[-1]
    if high / low >= _LEAST_SPAN:
        return values
    wider = math.sqrt(_LEAST_SPAN / (high / low))
    return [low / wider, *values, high * wider]


def _ticks(values: Sequence[float], *, is_percentile: bool) -> list[float]:
    """Values themselves where they are few; else powers of ten, and where these are too few, two
    and five times them."""
    low, high = values[0], values[-1]
    powers = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    if is_percentile:
        return [2.0, *(10.0**power for power in powers if 10 <= 10.0**power <= high)]
    if (
        len(values) <= _MOST_TICKS
        and all(later / sooner >= 1.5 for sooner, later in itertools.pairwise(values))
        and all(value == round(value) for value in values)
    ):
        return list(values)
    for steps in ((1,), (1, 3), (1, 2, 5), (1, 1.5, 2, 3, 5, 7)):
        found = [
            step * 10.0**power
            for power in powers
            for step in steps
            if low / 1.06 <= step * 10.0**power <= high * 1.06
        ]
        if len(found) >= 3:
            return found[:: 1 + len(found) // (_MOST_TICKS + 1)]
    ends = (low, high) if high > low * 1.1 else (high,)  # labels that stand apart
    return [float(f"{end:.3g}") for end in ends]


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
