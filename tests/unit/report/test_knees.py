"""From how many clients on the throughput no longer rises, where the repetitions decide it."""

from __future__ import annotations

import io
import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

import invented_records as invented
from assay.comparison.conclusions.conclusions import questions
from assay.comparison.conclusions.sentences import answers
from assay.comparison.ratios.knees import Knee
from assay.contracts.experiment import SystemChoice
from assay.record import ExperimentRecord
from assay.report.build import build
from assay.report.forms import json as json_form
from assay.report.page.document import render as page
from assay.report.summaries import first_look
from shown_report import text_of

CLIENTS = (1, 2, 4, 8, 16)
EVEN = (1.0, 1.02, 0.99, 1.01, 0.98)
UNEVEN = (1.0, 0.6, 1.7, 0.8, 1.4)
SYSTEMS = (invented.POSTGRESQL, replace(invented.MARIADB, options={}))


def measured(
    path: Path, curves: Sequence[Sequence[float]], noise: Sequence[float] = EVEN
) -> ExperimentRecord:
    """A system for each curve, which has its throughput at `CLIENTS`."""
    systems: Sequence[SystemChoice] = SYSTEMS[: len(curves)]
    planned = invented.plan(systems, clients=CLIENTS, repetitions=len(noise))
    seconds = {
        (system.name, "here", clients): [2 * clients / (throughput * one) for one in turned]
        for system, curve in zip(systems, curves, strict=True)
        for place, (clients, throughput) in enumerate(zip(CLIENTS, curve, strict=True))
        for turned in [(*noise[place:], *noise[:place])]
    }
    path.mkdir(exist_ok=True)
    return invented.experiment(path / "r.sqlite", planned, seconds)


def knees(experiment: ExperimentRecord) -> list[Knee]:
    (question,) = (one for one in questions(experiment) if one.factor == "clients")
    return [knee for _, knee in question.knees]


@pytest.mark.parametrize(
    ("curve", "expected"),
    [
        ((100, 200, 390, 400, 395), 4),
        ((100, 200, 390, 300, 200), 4),
        ((400, 400, 400, 400, 400), 1),
        ((100, 200, 390, 700, 1200), None),
    ],
    ids=["plateau", "fall", "flat", "rise"],
)
def test_the_knee_is_the_least_level_after_which_no_rise_is_seen(
    tmp_path: Path, curve: Sequence[float], expected: int | None
) -> None:
    (found,) = knees(measured(tmp_path, [curve]))
    assert (found.clients, found.most, len(found.runs)) == (expected, 16, 25)


def test_repetitions_that_differ_much_or_are_few_decide_no_knee(tmp_path: Path) -> None:
    """That no rise is seen is no plateau where the interval reaches as far as a rise would."""
    rising = (100, 200, 390, 700, 1200)
    assert knees(measured(tmp_path, [rising], UNEVEN)) == []
    assert knees(measured(tmp_path / "one", [rising], EVEN[:1])) == []
    assert knees(measured(tmp_path / "two", [rising], EVEN[:2])) == []


def test_it_is_said_with_the_answer_and_below_the_chart(tmp_path: Path) -> None:
    experiment = measured(tmp_path, [(100, 200, 390, 400, 395)])
    report = build(experiment)
    (answer,) = answers(report.questions)
    assert "that at 1 client; it no longer rises from 4 clients on; " in answer.sentence
    look = " ".join(" ".join(first_look.lines(experiment, report, 80, "assay report")).split())
    assert "it no longer rises from 4 clients on" in look
    stream = io.StringIO()
    page(report, stream)
    assert "<p>knee: throughput no longer rises from 4 clients on</p>" in stream.getvalue()
    (asked,) = json.loads(text_of(json_form, report))["answers"]
    assert asked["knees"] == [{"at": {}, "clients": 4, "most": 16}]


def test_of_several_systems_each_has_its_own(tmp_path: Path) -> None:
    curves = [(100, 200, 390, 400, 395), (50, 100, 195, 350, 600)]
    report = build(measured(tmp_path, curves))
    (sentence,) = (
        one.sentence for one in answers(report.questions) if one.question.factor == "clients"
    )
    assert "; knee at 4 clients on postgresql, none up to 16 clients on mariadb; " in sentence
    (chart,) = (
        figure
        for section in report.sections
        for figure in section.figures
        if figure.title == "Throughput by clients"
    )
    assert chart.notes[:2] == (
        "knee of postgresql: throughput no longer rises from 4 clients on",
        "knee of mariadb: throughput still rises at 16 clients",
    )
