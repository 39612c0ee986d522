"""What the charts of a report show, knees and offered rates among it."""

from __future__ import annotations

import io
import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from hdrh.histogram import HdrHistogram
from msgspec import structs

import invented_page
import invented_records as invented
from assay.comparison.compare_sides import compare
from assay.comparison.conclusions import questions
from assay.comparison.ratios import Knee
from assay.comparison.sentences import answers
from assay.comparison.sides import Side, side
from assay.contracts.experiment import SystemChoice
from assay.contracts.observation import Latency
from assay.experiment import Driving
from assay.record import ExperimentRecord, Run
from assay.report import cell_runs, charts, comparison_report
from assay.report.build import build
from assay.report.charts import specification
from assay.report.figure import Axis, DataSeries, Figure, Mark, Point, Scale
from assay.report.figures import bars, level_chart
from assay.report.figures.bars import MOST_PANELS, MOST_SERIES, panels
from assay.report.forms import json as json_form
from assay.report.forms import table
from assay.report.page import description
from assay.report.page import render as page
from assay.report.sections import times
from assay.report.summaries import first_look
from assay.report.values import Report
from shown_report import text_of


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> Report:
    return build(invented_page.record(tmp_path_factory.mktemp("figures") / "records.sqlite"))


def figures(report: Report) -> dict[str, Figure]:
    return {figure.name: figure for section in report.sections for figure in section.figures}


def test_the_counts_of_a_histogram_are_those_that_another_library_encoded() -> None:
    histogram = HdrHistogram(1000, 3_600_000_000_000, 3)
    values = [1000 * 3**power + place for power in range(14) for place in range(5)]
    for value in values:
        histogram.record_value(value, 1 + value % 4)
    encoded = histogram.encode().decode()
    kept = dict.fromkeys(Latency.__struct_fields__, 0)
    latency = Latency(**{**kept, "histogram": encoded})
    found = list(times.counts_of_percentile_curves(latency))
    assert sum(count for _, count in found) == histogram.get_total_count()
    total = 0
    for value, count in found:
        total += count
        share = 100 * total / histogram.get_total_count()
        assert histogram.get_value_at_percentile(share) == value


def test_a_point_over_time_stands_at_the_middle_of_its_seconds(tmp_path: Path) -> None:
    planned = invented.plan([invented.SQLITE], [invented.HERE, invented.SSD])
    elapsed = {("sqlite", "here", 8): [151.0], ("sqlite", "ssd", 8): [7.0]}
    found = build(invented.experiment(tmp_path / "records.sqlite", planned, elapsed))
    chart = figures(found)["parallel_timeline_1"]
    here, ssd = ([point.x for point in one.points] for one in chart.series)
    assert (here[:2], here[-1], len(here)) == ([1.5, 3.5], 151, 76)
    assert ssd == [1.5, 3.5, 5.5, 7]
    assert "a point is the mean of 2 seconds" in chart.notes


def test_scaling_has_the_ideal_and_charts_side_by_side_one_scale(report: Report) -> None:
    shown = [one for name, one in figures(report).items() if name.startswith("parallel_scaling")]
    assert len(shown) == 2
    for figure in shown:
        ideal = figure.series[-1]
        assert ideal.is_reference
        assert [(point.x, point.y) for point in ideal.points] == [(1, 1), (2, 2), (8, 8)]
    assert len({figure.y.span for figure in shown}) == 1


def test_published_times_stand_beside_the_measured_ones(report: Report) -> None:
    figure = figures(report)["parallel_published"]
    published, measured = figure.series
    assert published.is_reference and not measured.is_reference
    at = {point.x: point.y for point in published.points}
    assert at["sqlite, clients 8: here | disk"] == 1704
    assert set(at) == {point.x for point in measured.points}


@pytest.mark.slow
def test_a_chart_has_few_lines_and_a_report_few_charts_of_a_kind(tmp_path: Path) -> None:
    systems = [replace(invented.MARIADB, options={"engine": f"E{n}"}) for n in range(8)]
    record = invented_page.record(tmp_path / "records.sqlite", systems, range(1, 17), 1, 6)
    runs = cell_runs.tests(record)["parallel"]
    made = panels(cell_runs.cells(record, runs), "system")
    assert len(made.shown) == MOST_PANELS
    assert all(len(panel.series) <= MOST_SERIES for panel in made.shown)
    assert made.left_out == 16 * 2 * 2 - MOST_PANELS
    assert made.notes(made.shown[0]) == ()
    assert str(made.left_out) in made.notes(made.shown[-1])[0]


def test_latency_by_offered_rate_has_only_percentiles_with_enough_samples(tmp_path: Path) -> None:
    rates = [Driving(passes=1, arrival="poisson", offered_rate_per_s=rate) for rate in (10.0, 90.0)]
    planned = invented.plan((invented.SQLITE,), driving=rates)
    record = invented.experiment(tmp_path / "records.sqlite", planned, 10.0)
    found = cell_runs.cells(record, record.runs)
    shown = {figure.name: figure for figure in level_chart.figures("parallel", None, found)}
    throughput = shown["parallel_throughput_by_offered_rate_1"]
    assert [(point.x, point.y) for point in throughput.series[-1].points] == [(10, 10), (90, 90)]
    enough = record.runs[0].driven.all_ok.count >= 368  # type: ignore[union-attr]
    assert ("parallel_p99_by_offered_rate_1" in shown) is enough


def outcomes_of(run: Run) -> dict[str, int]:
    assert run.driven is not None
    of_run: dict[str, int] = run.driven.document["outcomes"]
    return of_run


def test_charts_of_an_offered_rate_have_the_limit_the_late_ones_and_one_axis(
    tmp_path: Path,
) -> None:
    rates = [
        Driving(passes=1, arrival="poisson", offered_rate_per_s=rate, latency_limit_s=0.02)
        for rate in (10.0, 90.0)
    ]
    planned = invented.plan((invented.SQLITE,), driving=rates)
    record = invented.experiment(tmp_path / "records.sqlite", planned, 10.0)
    late = [
        invented.changed(run, "observation", outcomes={**outcomes_of(run), "late": count})
        for run, count in zip(record.runs, (0, 8), strict=True)
    ]
    found = cell_runs.cells(record, late)
    shown = {figure.name: figure for figure in level_chart.figures("parallel", None, found)}
    percent = shown["parallel_late_by_offered_rate_1"]
    assert [(point.x, point.y) for point in percent.series[0].points] == [(10, 0), (90, 50)]
    latencies = [one for name, one in shown.items() if "_p50_" in name or "_p99_" in name]
    assert latencies
    for one in latencies:
        assert one.series[-1].name == "latency limit"
        assert [point.y for point in one.series[-1].points] == [20, 20]
    assert len({one.y.span for one in latencies}) == 1
    plain = cell_runs.cells(record, record.runs)
    assert not any("late" in one.name for one in level_chart.figures("parallel", None, plain))


def test_fields_along_something_have_a_line_for_each_system(tmp_path: Path) -> None:
    planned = invented.plan((invented.POSTGRESQL, invented.SQLITE), (invented.HERE, invented.SSD))
    days = [{"key": "elapsed_ns", "title": one, "unit": "ms"} for one in ("1", "2", "14")]
    workload = {"report": {"parallel": {"title": "Query", "along": "days", "fields": days}}}
    record = invented.experiment(tmp_path / "records.sqlite", planned, 3.0, workload=workload)
    shown = [one for one in figures(build(record)).values() if "_along_" in one.name]
    assert [one.title for one in shown] == ["Query: here", "Query: ssd"]
    for figure in shown:
        assert (figure.x.title, figure.y.title) == ("days", "s")
        points = {one.name: [(at.x, at.y) for at in one.points] for one in figure.series}
        assert points == {name: [(1, 3), (2, 3), (14, 3)] for name in ("postgresql", "sqlite")}


@pytest.mark.slow
def test_every_chart_is_drawn_with_marks_of_each_series(report: Report) -> None:
    for figure in figures(report).values():
        drawn = charts.svg_for_page(figure, "title text")
        for variable in _variables(figure):
            assert drawn.count(f"var({variable})") >= 1, (figure.name, variable)
        assert "NaN" not in drawn
        assert "#0072b2" not in drawn


def _variables(figure: Figure) -> list[str]:
    own = [one for one in figure.series if not one.is_reference]
    return [charts.VARIABLES[charts.SERIES[place]] for place in range(len(own))]


@pytest.mark.slow
def test_a_chart_of_a_file_has_its_title_and_a_white_background(report: Report) -> None:
    figure = figures(report)["parallel_timeline_1"]
    assert figure.title in charts.svg(figure)
    title = specification(figure)["title"]
    assert title["text"] == figure.title
    begun = "bibliographies in SQL: bibsql.parallel, experiment 1, "
    assert title["subtitle"][0].startswith(begun)
    drawn = charts.png(figure)
    assert drawn.startswith(b"\x89PNG\r\n")
    assert charts.png(structs.replace(figure, title="another")) != drawn, (
        "text is drawn, in any font"
    )


def test_values_of_nothing_and_odd_names_are_drawn() -> None:
    zeros = DataSeries("none", tuple(Point(place, 0) for place in range(3)))
    same = DataSeries("one", (Point(5, 7.0),))
    for mark, series in (
        (Mark.LINES, zeros),
        (Mark.BARS, zeros),
        (Mark.LINES, same),
        (Mark.BARS, same),
    ):
        figure = Figure("my script/1.sql é", "t", mark, Axis("x"), Axis("y", Scale.LOG), (series,))
        drawn = charts.svg_for_page(figure, "title text")
        assert "NaN" not in drawn and "Infinity" not in drawn
        assert figure.file_name == "my-script-1.sql-"


def test_a_point_whose_verdict_is_not_valid_has_a_mark_a_legend_and_a_word() -> None:
    points = [
        Point(x, 2.0, verdict=word) for x, word in zip("abc", ("", "valid", "invalid"), strict=True)
    ]
    bars = Figure("b", "B", Mark.BARS, Axis(""), Axis("y"), (DataSeries("s", tuple(points)),))
    lines = structs.replace(
        bars,
        mark=Mark.LINES,
        series=(
            DataSeries(
                "s", tuple(structs.replace(one, x=float(at)) for at, one in enumerate(points))
            ),
        ),
    )
    assert bars.legend == "pale with x: invalid"
    assert lines.legend == "hollow with x points: invalid"
    assert [one["shown"] for one in specification(bars)["data"]["values"]] == ["2", "2", "2 x"]
    assert 'fill-opacity="0.3"' in charts.svg(bars)
    assert charts.svg(lines).count('fill-opacity="0"') == 1  # a hollow point
    for figure in (bars, lines):
        assert description(figure).endswith("Points: 1 of 3 invalid.")


def test_a_level_that_is_true_or_false_is_yes_or_no(tmp_path: Path) -> None:
    planned = invented.plan((invented.SQLITE,), clients=(1, 2))
    record = invented.experiment(tmp_path / "records.sqlite", planned, 1.0)
    runs = [invented.of_cell(run, parameters={"reclaim": run.clients == 2}) for run in record.runs]
    found = cell_runs.cells(record, runs)
    assert [cell.name.rpartition(", ")[2] for cell in found] == ["reclaim no", "reclaim yes"]
    shown = [cell_runs.label(cell.level("reclaim")).shown for cell in found]
    assert shown == ["no", "yes"]


def test_points_stand_on_a_logarithmic_axis_where_a_length_would_mean_nothing() -> None:
    pair = {"published": [Point("a", 18.0)], "measured": [Point("a", 20.0)]}
    (on_log,) = bars.figure("n", "t", Axis("s", Scale.LOG), pair, references=("published",))
    (on_line,) = bars.figure("n", "t", Axis("s"), pair)
    assert (on_log.mark, on_line.mark) == (Mark.POINTS, Mark.BARS)
    assert description(on_log).startswith("Points: s (logarithmic)")
    layers = specification(on_log)["layer"]
    assert not any(layer["mark"]["type"] == "bar" for layer in layers)
    domain = layers[0]["encoding"]["x"]["scale"]["domain"]
    assert domain[1] / domain[0] >= 10, "a difference of 11 % fills the chart"


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
    document = json.loads(text_of(json_form, report))
    assert f"{answer.question.test}: {answer.sentence}".partition("; it no")[0] in "".join(
        document["may_say"]
    )
    (asked,) = document["answers"]
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


SECONDS = 10.0


def at_rates(path: Path, reached: Mapping[float, float]) -> ExperimentRecord:
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
    return structs.replace(experiment, runs=tuple(runs))


def look(experiment: ExperimentRecord) -> list[str]:
    return first_look.lines(experiment, build(experiment), 100, "assay report 1")


def test_of_several_rates_the_last_that_was_kept_is_said_everywhere(tmp_path: Path) -> None:
    experiment = at_rates(tmp_path, {500.0: 500, 1000.0: 999, 2000.0: 1230})
    said = "kept up to 1000/s, not at 2000/s (1230/s reached)"
    assert f"offered rate {said}" in look(experiment)
    report = build(experiment)
    assert f"offered rate: {said}" in report.summary.lines
    stream = io.StringIO()
    page(report, stream)
    assert stream.getvalue().count(said) == 2  # in the summary and below the chart
    every = at_rates(tmp_path / "every", {500.0: 500, 1000.0: 999})
    assert "offered rate every rate kept, up to 1000/s" in look(every)
    none = at_rates(tmp_path / "none", {500.0: 410, 1000.0: 420})
    assert "offered rate not kept at 500/s (410.0/s reached)" in look(none)


def test_a_comparison_says_which_side_kept_it(tmp_path: Path) -> None:
    def shown(kept: float) -> str:
        sides: list[Side] = [
            side(name, name, [at_rates(tmp_path / f"{name}{kept}", {500.0: reached})])
            for name, reached in (("A", 499), ("B", kept))
        ]
        return " ".join(text_of(table, comparison_report.build(compare(*sides))).split())

    assert "offered rate kept: yes, on both sides" in shown(498)
    assert "offered rate kept: A yes, B no (410.0/s of 500/s)" in shown(410)
