"""Takes the figures of a report; returns them drawn: Vega-Lite specifications, SVG and PNG.

vl-convert draws the specifications; it is imported when something is drawn."""

from __future__ import annotations

import itertools
import json
import math
import re
import textwrap
from collections.abc import Mapping, Sequence

from assay.report.figure import LIMITED, Axis, Figure, Mark, Point, Scale

_PNG_SCALE = 2
_EMPTY = re.compile(r'<path class="(?:background|foreground)"[^>]*/>')
_NOT_NEEDED = re.compile(
    r" (?:pointer-events|aria-hidden|stroke-miterlimit|font-family|opacity|version|"
    r'xmlns:xlink)="[^"]*"'
)
_ATTRIBUTE = re.compile(r'="[^"]*"')
_LONG = re.compile(r"(\d\.\d{2})\d+")
_COLOUR = re.compile(r'(fill|stroke)="(#[0-9a-f]{6})"')
_QUOTED_COLOUR = re.compile(r'"(#[0-9a-f]{6})"')
_ROOT = re.compile(r'<svg [^>]*?width="([\d.]+)" height="([\d.]+)"[^>]*>')


def svg(figure: Figure) -> str:
    """For a file: with title, on white."""
    import vl_convert

    drawn: str = vl_convert.vegalite_to_svg(dict(_on_white(figure)))
    return drawn + "\n"


def png(figure: Figure) -> bytes:
    import vl_convert

    drawn: bytes = vl_convert.vegalite_to_png(dict(_on_white(figure)), scale=_PNG_SCALE)
    return drawn


def svg_for_page(figure: Figure, label: str) -> str:
    """Without title, font and background, in the colours of the page; ``label``: the ids of the
    elements that name and describe it."""
    import vl_convert

    drawn: str = vl_convert.vegalite_to_svg(dict(specification(figure, with_title=False)))
    for unwanted in (_EMPTY, _NOT_NEEDED):
        drawn = unwanted.sub("", drawn)
    drawn = _ATTRIBUTE.sub(lambda match: _LONG.sub(r"\1", match[0]), drawn)
    drawn = _COLOUR.sub(_variable, drawn)
    return _ROOT.sub(
        lambda root: (
            f'<svg role="img" aria-labelledby="{label}" viewBox="0 0 {root[1]} {root[2]}" '
            f'width="{root[1]}" height="{root[2]}">'
        ),
        drawn,
        count=1,
    )


def for_browser(figure: Figure) -> str:
    """The specification as JSON, in the colours of the page, which draws it itself and adds to its
    data."""
    made = specification(figure, with_title=False)
    return _QUOTED_COLOUR.sub(_quoted_variable, json.dumps(made))


def _quoted_variable(match: re.Match[str]) -> str:
    name = VARIABLES.get(match[1])
    return f'"var({name})"' if name else match[0]


def _on_white(figure: Figure) -> Spec:
    style: Spec = {**_style(_step(figure)), "background": "white"}
    return {**specification(figure), "config": style}


def _variable(match: re.Match[str]) -> str:
    name = VARIABLES.get(match[2])
    return f'{match[1]}="var({name})"' if name else match[0]


# Takes a figure; returns its Vega-Lite specification.

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
Value = str | float | None | Sequence["Value"] | Mapping[str, "Value"]
Spec = Mapping[str, Value]
"""Of Vega-Lite, or a part of one."""


def specification(figure: Figure, *, with_title: bool = True) -> Spec:
    """``with_title``: for a file of its own; on a page, which may be narrow, a caption has it."""
    return {
        "config": _style(_step(figure)),
        "width": _WIDTH if with_title else _WIDTH_ON_A_PAGE,
        **({} if figure.has_categories else {"height": _HEIGHT}),
        "autosize": {"type": "fit-x", "contains": "padding"},
        **({"title": _title(figure)} if with_title else {}),
        "data": {"name": POINTS, "values": figure_rows(figure)},
        "layer": _by_category(figure) if figure.has_categories else _lines(figure),
    }


def _layer(mark: Spec, encoding: Spec, *, only: str = "") -> Spec:
    """``only``: the points that it shows, as an expression."""
    shown: Spec = {"transform": [{"filter": only}]} if only else {}
    return {"mark": mark, "encoding": encoding, **shown}


def _of(field: str, **more: Value) -> Spec:
    """By names, in the order of the data or of ``scale``."""
    return {"field": field, "type": "nominal", "sort": None, **more}


def _number(field: str, **more: Value) -> Spec:
    return {"field": field, "type": "quantitative", **more}


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


def _lines(figure: Figure) -> list[Spec]:
    names = list({one.name: one for one in figure.series})
    legend = _legend(names)
    colour, dash, shape = (
        _by_series(figure, own, reference, legend)
        for own, reference in (
            (SERIES, REFERENCE),
            (DASHES, REFERENCE_DASH),
            (MARKS, REFERENCE_MARK),
        )
    )
    has_shading = bool(figure.shaded or figure.expected)
    along = position(figure.x, _xs(figure), is_x=True, is_clamped=has_shading)
    at: Spec = {
        "x": _number("x", **along),
        "y": _number("y", **position(figure.y, figure.y_values, is_x=False)),
    }
    line: Spec = {"type": "line", "strokeWidth": 2, "strokeJoin": "round"}
    part: Spec = {"field": "part", "type": "nominal"}
    layers = _shading(figure, along) if has_shading else []
    layers.append(_layer(line, {**at, "color": colour, "strokeDash": dash, "detail": part}))
    layers += _marks(figure, {**at, "shape": shape}, 48, colour, only="datum.isMarked")
    if any(point.verdict == "invalid" for point in figure.points):
        text: Spec = {"type": "text", "text": LIMITED["invalid"], "fontSize": 15, "color": TEXT}
        layers.append(_layer(text, at, only="datum.isMarked && datum.isInvalid"))
    if figure.has_ranges:
        ends: Spec = {"x": at["x"], "y": _number("low"), "y2": {"field": "high"}, "color": colour}
        layers.append(_layer({"type": "rule", "strokeWidth": 1.5}, ends))
    return layers


def _xs(figure: Figure) -> list[float]:
    """Where points are, or will be."""
    if figure.expected is None or figure.x.span is None:
        return [float(point.x) for point in figure.points]
    (low, high), steps = figure.x.span, max(1, figure.expected - 1)
    return [low + (high - low) * place / steps for place in range(steps + 1)]


def _shading(figure: Figure, along: Spec) -> list[Spec]:
    """Below all lines, also where there is nothing to shade yet. ``along``: the x axis."""
    data: Spec = {"name": SHADED, "values": shaded_rows(figure)}
    mark: Spec = {"type": "rect", "color": SHADE, "opacity": _SHADE}
    return [{"data": data, **_layer(mark, {"x": _number("from", **along), "x2": {"field": "to"}})}]


def _legend(names: Sequence[str]) -> Spec:
    """Long names stand one under the other."""
    is_long = max(map(len, names)) > _LONG_NAME
    return {"title": None, **({"columns": 1, "labelLimit": 320} if is_long else {})}


def _marks(figure: Figure, at: Spec, size: int, colour: Spec, *, only: str = "") -> list[Spec]:
    """Points, hollow where the verdict is not valid; no fill hides the others below it."""
    also = f"{only} && " if only else ""
    filled: Spec = {"type": "point", "filled": True, "size": size, "opacity": 1}
    layers = [_layer(filled, {**at, "color": colour}, only=f"{also}!datum.isLimited")]
    if any(point.is_limited for point in figure.points):
        hollow: Spec = {
            **{"type": "point", "fillOpacity": 0, "size": size},
            **{"opacity": 1, "strokeWidth": 1.8},
        }
        outlined: Spec = {**at, "stroke": _outline(figure)}
        # On an axis of names the fill, which is not seen, keeps its colour.
        if not only:
            outlined = {**outlined, "color": colour}
        layers.append(_layer(hollow, outlined, only=f"{also}datum.isLimited"))
    return layers


def _outline(figure: Figure) -> Spec:
    return _by_series(figure, SERIES, REFERENCE, None)


def _by_series(figure: Figure, own: Sequence[Value], reference: Value, legend: Spec | None) -> Spec:
    """Own ones in their order, wherever the references stand between them."""
    series = list({one.name: one for one in figure.series}.values())
    left = iter(list(own) * len(series))
    given = [reference if one.is_reference else next(left) for one in series]
    scale: Spec = {"domain": [one.name for one in series], "range": given}
    return _of("series", legend=legend, scale=scale)


def _by_category(figure: Figure) -> list[Spec]:
    names = [one.name for one in figure.series]
    colour = _by_series(figure, SERIES, REFERENCE, _legend(names) if len(names) > 1 else None)
    axis: Spec = {
        "title": None,
        "labelLimit": _LABEL_WIDTH,
        "labelExpr": "split(datum.value, '\\n')",
        "labelLineHeight": 11,
        "ticks": False,
        "grid": False,
        "domain": False,
    }
    places = [point.x for point in figure.points]
    has_neighbours = len(set(places)) < len(places)
    beside: Spec = {"field": "series", "type": "nominal", "sort": names}
    at: Spec = {"y": _of("x", axis=axis), **({"yOffset": beside} if has_neighbours else {})}
    along = position(figure.y, figure.y_values, is_x=True, is_bar=True, base=figure.base)
    by_value: Spec = {**at, "x": _number("y", **along)}
    layers = []
    if figure.base == 1:
        rule: Spec = {"type": "rule", "color": TEXT, "strokeWidth": 1}
        layers.append(_layer(rule, {"x": {"datum": 1.0}}))
    is_bars = figure.mark is Mark.BARS
    layers += _bars(figure, by_value, colour) if is_bars else _points(figure, by_value, colour)
    in_text: Spec = {"value": TEXT}
    if figure.has_ranges:
        ends: Spec = {**at, "x": _number("low"), "x2": {"field": "high"}, "color": in_text}
        layers.append(_layer({"type": "rule", "strokeWidth": 1.2, "color": TEXT}, ends))
    room = 5 if is_bars else 8
    shown: Spec = {"field": "shown", "type": "nominal"}
    for is_beyond, end, align, dx in ((True, "high", "left", room), (False, "low", "right", -room)):
        layers.append(
            _layer(
                {"type": "text", "align": align, "dx": dx},
                {**at, "x": _number(end), "text": shown, "color": in_text},
                only=f"datum.isBeyond == {str(is_beyond).lower()}",
            )
        )
    return layers


def _bars(figure: Figure, at: Spec, colour: Spec) -> list[Spec]:
    bar: Spec = {"type": "bar", "height": {"band": 0.85}}
    at = {**at, "color": colour}
    layers = [_layer(bar, at, only="!datum.isLimited")]
    if any(point.is_limited for point in figure.points):
        pale: Spec = {**bar, "fillOpacity": _PALE, "strokeWidth": 1}
        layers.append(_layer(pale, {**at, "stroke": _outline(figure)}, only="datum.isLimited"))
    return layers


def _points(figure: Figure, at: Spec, colour: Spec) -> list[Spec]:
    shape = _by_series(figure, MARKS, REFERENCE_MARK, None)
    return _marks(figure, {**at, "shape": shape}, 55, colour)


def _style(bar: int) -> Spec:
    labels: Spec = {"labelColor": TEXT, "labelFontSize": 11, "titleColor": TEXT}
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
            "gridColor": GRID,
            "domainColor": AXIS,
            "tickColor": AXIS,
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
            "color": TEXT,
            "fontSize": 13,
            "subtitleFontSize": 10,
            "subtitleColor": TEXT,
            "anchor": "start",
            "limit": 520,
            "offset": 18,
        },
        "text": {"color": TEXT, "fontSize": 10},
    }


# The colours of a chart, and the dashes and marks that tell its lines apart without them.
#
# The colours are those of Okabe and Ito (2008), which people of every kind of colour vision tell
# apart, without the yellow that is too pale for a line; the last two are darker, so that each has
# a contrast of 3 to 1 with white. On a page each is a variable, so that a dark page has lighter
# ones.

TEXT, GRID, AXIS, REFERENCE = "#1b1c1e", "#dddfe2", "#8b8f94", "#6b6f75"
SHADE = "#b02a00"
SERIES = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#c28500", "#3496d0")
DASHES = ([1, 0], [6, 3], [2, 2], [8, 3, 2, 3], [4, 2], [10, 3])
MARKS = ("circle", "square", "triangle-up", "diamond", "cross", "triangle-down")
REFERENCE_DASH = [3, 4]
REFERENCE_MARK = "triangle-right"

VARIABLES: Mapping[str, str] = {
    TEXT: "--text",
    GRID: "--grid",
    AXIS: "--axis",
    REFERENCE: "--reference",
    SHADE: "--bad",
    **{colour: f"--series-{place}" for place, colour in enumerate(SERIES, 1)},
}
"""Colour → the variable of a page that stands for it."""


# Takes an axis and the values on it; returns its scale and its ticks, as Vega-Lite has them.

_MOST_TICKS = 8
_LEAST_SPAN = 10.0
"""Of a logarithmic axis of values."""
_NUMBER = "datum.value >= 10000 ? format(datum.value, '~s') : format(datum.value, '~g')"
_SHARE = "datum.value == 1 ? '0 %' : format(100 - 100 / datum.value, '.6~f') + ' %'"


def position(
    axis: Axis,
    values: Sequence[float],
    *,
    is_x: bool,
    is_bar: bool = False,
    is_clamped: bool = False,
    base: float | None = None,
) -> Spec:
    """Scale and axis, whose ticks on a logarithmic scale are round numbers or the levels.
    ``is_clamped``: nothing is drawn beyond its ends."""
    clamp: Spec = {"clamp": True} if is_clamped else {}
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
    shown: Spec = {
        "title": axis.heading or None,
        "labelExpr": _SHARE if axis.scale is Scale.PERCENTILES else _NUMBER,
        "grid": True,
        **({"values": ticks} if ticks else {"tickCount": 5, "labelOverlap": True}),
        **({} if is_x else {"titleAngle": 0, "titleAlign": "left", "titleX": 0, "titleY": -12}),
    }
    if ticks:
        has_left = base is not None and low < base
        domain = [
            min(low / (room_left if has_left else beside), ticks[0]),
            max(high * room, ticks[-1]),
        ]
        return {"scale": {"type": "log", "domain": domain, "nice": False, **clamp}, "axis": shown}
    if is_x and not is_bar:
        if len(found) <= _MOST_TICKS and all(value == round(value) for value in found):
            # Whole numbers, such as clients, have none between them.
            shown = {**shown, "values": found}
        domain = [low, high if high > low else low + 1]
        return {"scale": {"zero": False, "nice": False, "domain": domain, **clamp}, "axis": shown}
    domain = [min(0.0, low), high * (1.18 if is_bar else 1.02) or 1.0]
    return {"scale": {"domain": domain, "nice": not is_bar, **clamp}, "axis": shown}


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


_MOST_MARKS = 16
"""On a line; a longer one has a mark at every second, third … point."""
_LABEL_LENGTH = 28


def figure_rows(figure: Figure) -> list[Spec]:
    return [
        figure_row(figure, one.name, point, part, place, marked_every(figure, len(one.points)))
        for part, one in enumerate(figure.series)
        for place, point in enumerate(one.points)
    ]


def figure_row(
    figure: Figure, series: str, point: Point, part: int, place: int, every: int
) -> Spec:
    """``part``: of all series, which one; ``place``: of its points, which one; ``every``: which of
    these have a mark."""
    return {
        "series": series,
        "x": in_lines(point.x) if isinstance(point.x, str) else point.x,
        "y": point.y,
        "low": point.y if point.low is None else point.low,
        "high": point.y if point.high is None else point.high,
        "isBeyond": point.y >= (figure.base or 0),
        "part": part,
        "isMarked": point.is_limited or place % every == 0,
        "isLimited": point.is_limited,
        "isInvalid": point.verdict == "invalid",
        "shown": _shown(point),
    }


def marked_every(figure: Figure, points: int) -> int:
    """Of a line of so many points, or as many as are expected."""
    return max(1, -(-max(points, figure.expected or 0) // _MOST_MARKS))


def shaded_rows(figure: Figure) -> list[Spec]:
    return [{"from": low, "to": high} for low, high in figure.shaded]


def _shown(point: Point) -> str:
    """The number beside a bar, with the sign of its verdict."""
    number = f"{point.y:.3g}" if point.y < 1000 else f"{point.y:,.0f}".replace(",", " ")
    return f"{number} {LIMITED.get(point.verdict, '')}".rstrip()


def in_lines(category: str) -> str:
    """A long name in two lines, broken behind a comma or a colon near its middle."""
    breaks = [found.end() for found in re.finditer(r"[,:] ", category)]
    if len(category) <= _LABEL_LENGTH or not breaks:
        return category
    at = min(breaks, key=lambda place: abs(place - len(category) / 2))
    return f"{category[:at].rstrip()}\n{category[at:]}"
