#!/usr/bin/env python3
"""Draws the picture of the README from the numbers that were measured for it; `make docs` runs it.

`docs/pictures/comparison.toml` is the experiment, ``comparison.json`` what its chart shows, and
``comparison.svg`` the chart. To measure it again, in about five minutes on a machine that does
nothing else::

    assay run docs/pictures/comparison.toml --records measured.sqlite
    python tools/picture.py measured.sqlite
"""

from __future__ import annotations

import sys
from dataclasses import asdict
from pathlib import Path

import msgspec

from assay.record import Store
from assay.report import charts
from assay.report.build import build
from assay.report.figure import Figure

FOLDER = Path(__file__).parents[1] / "docs" / "pictures"
EXPERIMENT = FOLDER / "comparison.toml"
NUMBERS = FOLDER / "comparison.json"
PICTURE = FOLDER / "comparison.svg"
_CHART = "Throughput by clients"


def figure() -> Figure:
    """As it was measured."""
    return msgspec.json.decode(NUMBERS.read_bytes(), type=Figure)


def keep(records: Path) -> None:
    """The numbers of the chart of the latest experiment of a record file."""
    with Store(records, must_exist=True) as store:
        report = build(store.latest())
    figures = [figure for section in report.sections for figure in section.figures]
    (measured,) = (figure for figure in figures if figure.title == _CHART)
    text = msgspec.json.format(msgspec.json.encode(asdict(measured)), indent=1)
    NUMBERS.write_bytes(text + b"\n")


if __name__ == "__main__":
    if len(sys.argv) > 1:
        keep(Path(sys.argv[1]))
    PICTURE.write_text(charts.svg(figure()), encoding="utf-8")
