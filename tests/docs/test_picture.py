"""The picture of the README is a chart that the program draws from numbers that it measured."""

from __future__ import annotations

import re
from pathlib import Path

from assay.experiment import from_file
from assay.report.charts import draw
from assay.report.figure import LIMITED
from tools import picture

ROOT = Path(__file__).parents[2]
_TEXT = re.compile(r"<text[^>]*>([^<]*)</text>")
_MARK = re.compile(r'aria-roledescription="[^"]*"|<path ')


def test_it_is_what_is_drawn_from_its_numbers() -> None:
    """Texts and marks; widths depend on the fonts of a machine."""
    kept, drawn = picture.PICTURE.read_text(encoding="utf-8"), draw.svg(picture.figure())
    assert _TEXT.findall(kept) == _TEXT.findall(drawn), "make docs"
    assert len(_MARK.findall(kept)) == len(_MARK.findall(drawn)), "make docs"


def test_it_stands_first_in_the_readme_with_the_command_that_measures_it() -> None:
    first, _, _ = (ROOT / "README.md").read_text(encoding="utf-8").partition("\n## ")
    assert f"]({picture.PICTURE.relative_to(ROOT)})" in first
    assert f"assay run {picture.EXPERIMENT.relative_to(ROOT)}" in first


def test_its_numbers_are_those_of_its_experiment() -> None:
    """Every system at every number of clients, each with its repetitions and a verdict."""
    experiment, _ = from_file.read(picture.EXPERIMENT)
    figure = picture.figure()
    assert [one.name for one in figure.series] == [one.label for one in experiment.systems]
    for line in figure.series:
        assert [point.x for point in line.points] == list(experiment.clients)
        for point in line.points:
            assert len(point.runs) == experiment.repetitions
            assert point.low is not None and point.high is not None
            assert point.low <= point.y <= point.high
            assert point.verdict in ("valid", *LIMITED)
    runs = [run for point in figure.points for run in point.runs]
    assert len(runs) == len(set(runs)), "no run stands behind two points"
