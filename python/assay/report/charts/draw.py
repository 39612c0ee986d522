"""Takes a figure; returns it drawn: as SVG for a page, or as SVG or PNG for a file."""

from __future__ import annotations

import json
import re

from assay.report.charts import colours
from assay.report.charts.spec import specification
from assay.report.figure import Figure

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

    drawn: str = vl_convert.vegalite_to_svg(_on_white(figure))
    return drawn + "\n"


def png(figure: Figure) -> bytes:
    import vl_convert

    drawn: bytes = vl_convert.vegalite_to_png(_on_white(figure), scale=_PNG_SCALE)
    return drawn


def svg_for_page(figure: Figure, label: str) -> str:
    """Without title, font and background, in the colours of the page; ``label``: the ids of the
    elements that name and describe it."""
    import vl_convert

    drawn: str = vl_convert.vegalite_to_svg(specification(figure, with_title=False))
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
    made = specification(figure, with_title=False, is_checked=False)
    del made["$schema"]  # each version of Vega-Lite says that it is another one
    return _QUOTED_COLOUR.sub(_quoted_variable, json.dumps(made))


def _quoted_variable(match: re.Match[str]) -> str:
    name = colours.VARIABLES.get(match[1])
    return f'"var({name})"' if name else match[0]


def _on_white(figure: Figure) -> dict[str, object]:
    made = specification(figure)
    made["config"]["background"] = "white"
    return made


def _variable(match: re.Match[str]) -> str:
    name = colours.VARIABLES.get(match[2])
    return f'{match[1]}="var({name})"' if name else match[0]
