"""Whether an open loop kept its offered rate, and which rate it reached: said wherever its numbers
are."""

from __future__ import annotations

import io
from collections.abc import Mapping
from pathlib import Path

from msgspec.structs import replace

import invented_records as invented
from assay.comparison.compare_sides import compare
from assay.comparison.sides.sides import side
from assay.comparison.sides.values import Side
from assay.experiment import Driving
from assay.record import ExperimentRecord
from assay.report.build import build
from assay.report.comparison_tables import comparison
from assay.report.forms import table
from assay.report.page.document import render as page
from assay.report.summaries import first_look
from shown_report import text_of

SECONDS = 10.0


def measured(path: Path, reached: Mapping[float, float]) -> ExperimentRecord:
    """Offered rate per second → the rate that was reached; two repetitions of each."""
    rates = [
        Driving(duration_s=SECONDS, arrival="constant", offered_rate_per_s=rate) for rate in reached
    ]
    planned = invented.plan([invented.POSTGRESQL], driving=rates, repetitions=2)
    path.mkdir(exist_ok=True)
    experiment = invented.experiment(path / "r.sqlite", planned, SECONDS)
    runs = []
    for run in experiment.runs:
        assert run.driving is not None
        rate = run.driving.offered_rate_per_s
        assert isinstance(rate, float)
        ended = round(reached[rate] * SECONDS)
        scheduled = max(ended, round(rate * SECONDS))
        outcomes = {"scheduled": scheduled, "ok": ended, "skipped": scheduled - ended}
        runs.append(invented.judged_again(invented.changed(run, "observation", outcomes=outcomes)))
    return replace(experiment, runs=tuple(runs))


def look(experiment: ExperimentRecord) -> list[str]:
    return first_look.lines(experiment, build(experiment), 100, "assay report 1")


def test_one_rate_is_kept_or_it_is_said_what_was_reached(tmp_path: Path) -> None:
    assert "offered rate 500/s kept: yes (498.0/s reached)" in look(
        measured(tmp_path, {500.0: 498})
    )
    missed = look(measured(tmp_path / "missed", {500.0: 410}))
    assert "offered rate 500/s kept: no (410.0/s reached)" in missed


def test_of_several_rates_the_last_that_was_kept_is_said_everywhere(tmp_path: Path) -> None:
    experiment = measured(tmp_path, {500.0: 500, 1000.0: 999, 2000.0: 1230})
    said = "kept up to 1000/s, not at 2000/s (1230/s reached)"
    assert f"offered rate {said}" in look(experiment)
    report = build(experiment)
    assert f"offered rate: {said}" in report.summary.lines
    stream = io.StringIO()
    page(report, stream)
    assert stream.getvalue().count(said) == 2  # in the summary and below the chart
    every = measured(tmp_path / "every", {500.0: 500, 1000.0: 999})
    assert "offered rate every rate kept, up to 1000/s" in look(every)
    none = measured(tmp_path / "none", {500.0: 410, 1000.0: 420})
    assert "offered rate not kept at 500/s (410.0/s reached)" in look(none)


def test_a_comparison_says_which_side_kept_it(tmp_path: Path) -> None:
    def shown(kept: float) -> str:
        sides: list[Side] = [
            side(name, name, [measured(tmp_path / f"{name}{kept}", {500.0: reached})])
            for name, reached in (("A", 499), ("B", kept))
        ]
        return " ".join(text_of(table, comparison.build(compare(*sides))).split())

    assert "offered rate kept: yes, on both sides" in shown(498)
    assert "offered rate kept: A yes, B no (410.0/s of 500/s)" in shown(410)


def test_a_closed_loop_has_no_offered_rate(tmp_path: Path) -> None:
    planned = invented.plan([invented.POSTGRESQL])
    experiment = invented.experiment(tmp_path / "r.sqlite", planned, 2.0)
    assert not any(line.startswith("offered") for line in look(experiment))
