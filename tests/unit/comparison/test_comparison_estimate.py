"""Ratios, intervals, p-values, trends and effects against SciPy's tests and against values by hand;
differences that are there are called, and noise is called rarely."""

from __future__ import annotations

import io
import itertools
import json
import math
import random
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import jsonschema_rs
import pytest
import scipy
from msgspec import structs

import assay
import invented_records as invented
from assay.comparison.effects import SettingEffects, effects
from assay.comparison.ratios import benjamini_hochberg, holm
from assay.comparison.sentences import effects_sentence
from assay.comparison.trend import Trend, change_points, trends
from assay.contracts.durability import Durability
from assay.judge.run import ScriptRecord
from assay.judge.statistics.estimate import (
    CONFIDENCE,
    SIGNIFICANCE,
    Design,
    Estimate,
    independent,
    paired,
)
from assay.record import ExperimentRecord, Run
from assay.record.metrics.catalogue import COMPARED
from assay.report import charts, trend
from assay.report import trend as report
from assay.report.build import build
from assay.report.forms import json as json_form
from assay.report.forms import markdown, table
from shown_report import text_of

A = (100.0, 104.0, 97.0, 101.0, 99.0)
B = (91.0, 96.0, 90.0, 92.5, 88.0)


def logs(values: Sequence[float]) -> list[float]:
    return [math.log(value) for value in values]


def test_intervals_are_those_of_the_paired_and_of_welchs_t_test() -> None:
    for found, known in (
        (paired(A, B), scipy.stats.ttest_rel(logs(B), logs(A))),
        (independent(A, B[:3]), scipy.stats.ttest_ind(logs(B[:3]), logs(A), equal_var=False)),
    ):
        low, high = known.confidence_interval(CONFIDENCE)
        assert found.interval() == pytest.approx((math.exp(low), math.exp(high)))
        assert found.p_value == pytest.approx(known.pvalue)
    assert paired(A, B).ratio == pytest.approx(scipy.stats.gmean(B) / scipy.stats.gmean(A))
    found = independent(A, B)
    pooled = math.sqrt((scipy.stats.tvar(logs(A)) + scipy.stats.tvar(logs(B))) / 2)
    assert found.effect_size == pytest.approx(found.log_ratio / pooled * (1 - 3 / 31))


def test_one_value_has_a_ratio_and_no_interval() -> None:
    for found in (independent([100], [50]), independent([100], [49, 51]), paired([100], [50])):
        assert found.design is Design.SINGLE
        assert found.ratio == pytest.approx(0.5, rel=0.01)
        assert found.interval() is None and found.p_value is None
        assert found.detectable_difference is None and found.effect_size is None


def test_values_that_never_vary_have_an_interval_without_width() -> None:
    assert paired([5, 5, 5], [5, 5, 5]).p_value == 1.0
    found = independent([5, 5], [6, 6])
    assert found.p_value == 0.0
    assert found.interval() == pytest.approx((1.2, 1.2))
    # Two values a side make no error, however far apart they are.
    interval = independent([1, 1e12], [1e-9, 1e9]).interval()
    assert interval is not None and interval[0] < 1 < interval[1]


def test_counts_and_rounded_values_that_are_equal_by_chance_make_no_difference() -> None:
    """Two repetitions with 1 error each, and two with 2; latencies one bucket apart."""
    count, latency = COMPARED["failed"], COMPARED["latency_p50_ns"]
    for design in (independent, paired):
        few = design([1, 1], [2, 2], count.least_deviation).p_value
        many = design([900, 900], [1800, 1800], count.least_deviation).p_value
        assert few is not None and few > 0.2
        assert many is not None and many < 0.05
        bucket = design([1_000_000] * 3, [1_000_900] * 3, latency.least_deviation).p_value
        assert bucket is not None and bucket > SIGNIFICANCE


def test_what_changes_on_the_machine_cancels_in_pairs() -> None:
    drifting = [100 * 1.2**place for place in range(6)]
    slower = [value * 0.95 * noise for value, noise in zip(drifting, (1, 1.01) * 3, strict=True)]
    p_values = [paired(drifting, slower).p_value, independent(drifting, slower).p_value]
    assert p_values[0] is not None and p_values[0] < 0.001
    assert p_values[1] is not None and p_values[1] > 0.5


@pytest.mark.slow
@pytest.mark.parametrize("n", [2, 3, 6])
def test_the_detectable_difference_is_found_four_times_of_five(n: int) -> None:
    """A true difference of that size, in many drawn experiments."""
    chance = random.Random(1)
    spread = 0.05
    size = Estimate(
        Design.PAIRED, 0, spread * math.sqrt(2 / n), n - 1, spread * math.sqrt(2)
    ).detectable_difference
    assert size is not None
    found = 0
    for _ in range(2000):
        a = [math.exp(chance.gauss(0, spread)) for _ in range(n)]
        b = [(1 + size) * math.exp(chance.gauss(0, spread)) for _ in range(n)]
        found += (paired(a, b).p_value or 0.0) < SIGNIFICANCE
    assert 0.77 < found / 2000 < 0.83


@pytest.mark.slow
@pytest.mark.parametrize("estimate", [paired, independent])
def test_noise_is_called_in_five_of_a_hundred(estimate: object) -> None:
    chance = random.Random(2)
    called = 0
    for _ in range(4000):
        a, b = ([math.exp(chance.gauss(0, 0.1)) for _ in range(5)] for _ in "ab")
        called += (estimate(a, b).p_value or 0.0) < 0.05  # type: ignore[operator]
    assert 0.03 < called / 4000 < 0.06


def test_p_values_are_adjusted_for_their_number() -> None:
    assert holm([0.01, 0.04, 0.03, 0.5]) == pytest.approx([0.04, 0.09, 0.09, 0.5])
    assert holm([]) == benjamini_hochberg([]) == []
    given = [0.01, 0.04, 0.03, 0.5]
    known = scipy.stats.false_discovery_control(given)
    assert benjamini_hochberg(given) == pytest.approx(list(known))


def measured(path: Path, seconds: float, **changes: object) -> list[tuple[str, Run]]:
    planned = invented.plan([invented.SQLITE], repetitions=2)
    elapsed = {("sqlite", "here", 8): (seconds, seconds * 1.01)}
    found = invented.experiment(path, planned, elapsed, **changes)  # type: ignore[arg-type]
    return [(str(path), run) for run in found.runs]


def of_times(folder: Path, *seconds: float) -> Trend:
    """An experiment for each, by turns in two files."""
    paths = (folder / "a.sqlite", folder / "b.sqlite")
    runs = [one for place, s in enumerate(seconds) for one in measured(paths[place % 2], s)]
    (found,) = trends(runs[::-1])
    return found


@pytest.mark.slow
def test_points_are_in_the_order_of_time_with_ratios(tmp_path: Path) -> None:
    found = of_times(tmp_path, 1.0, 1.1, 2.0)
    assert [Path(point.record).name for point in found.points] == [
        "a.sqlite", "b.sqlite", "a.sqlite",
    ]  # fmt: skip
    assert [point.experiment for point in found.points] == [1, 1, 2]
    to_first, to_previous = found.points[2].to_first, found.points[2].to_previous
    assert to_first and to_first.ratio == pytest.approx(0.5)
    assert to_previous and to_previous.ratio == pytest.approx(0.55)
    assert found.points[0].to_first is None
    assert not found.is_long_enough


@pytest.mark.slow
def test_a_change_is_found_where_it_began_and_is_said(tmp_path: Path) -> None:
    found = of_times(tmp_path, 1.0, 1.02, 0.99, 1.01, 1.0, 1.2, 1.21, 1.19, 1.22, 1.2)
    assert [place for place, one in enumerate(found.points) if one.adjusted_p is not None] == [5]
    rendered = text_of(table, report.build([found], [tmp_path]), True)
    assert "slower" in rendered and "0.834 of those before" in rendered
    rows = trend.document([found])["points"]
    assert [row["is_change_point"] for row in rows].count(True) == 1
    (chart,) = report.build([found], [tmp_path]).sections[0].figures
    measured, levels = chart.series
    assert len(measured.points) == 10 and measured.points[0].low != measured.points[0].high
    assert [point.y for point in levels.points] == pytest.approx(found.segment_means)
    assert len(set(found.segment_means)) == 2 and levels.points[4].y > levels.points[5].y


@pytest.mark.slow
@pytest.mark.parametrize(
    ("failed", "place", "said"),
    [
        ([0] + [10] * 10 + [100] * 10, 11, "are 11.0 of those before"),
        ([0] * 8 + [5] * 8, 8, "are 5 on average, those before 0"),
        ([5] * 8 + [0] * 8, 8, "are 0 on average, those before 5"),
    ],
)
def test_a_value_of_0_hides_no_change(
    tmp_path: Path, failed: list[int], place: int, said: str
) -> None:
    runs = [
        (path, invented.changed(run, "observation", outcomes={"scheduled": 500, "failed": count}))
        for count in failed
        for path, run in measured(tmp_path / "a.sqlite", 1.0)
    ]
    found = trends(runs, "failed")
    assert [at for at, one in enumerate(found[0].points) if one.adjusted_p is not None] == [place]
    assert said in " ".join(text_of(table, report.build(found, [tmp_path]), True).split())


@pytest.mark.slow
def test_disturbed_repetitions_count_no_more_than_in_a_comparison(tmp_path: Path) -> None:
    planned = invented.plan([invented.SQLITE], repetitions=4)
    elapsed = {("sqlite", "here", 8): (1.0, 1.01, 1.02, 5.0)}
    *calm, slow = invented.experiment(tmp_path / "a.sqlite", planned, elapsed).runs
    runs = [*calm, invented.disturbed(slow, 0.5)]
    for files in (("a",), ("a", "b")):  # one that it was merged into counts once
        (found,) = trends((name, run) for name in files for run in runs)
        (point,) = found.points
        assert point.runs == tuple(run.id for run in calm)
        assert found.left_out == 1


@pytest.mark.slow
def test_another_machine_and_version_and_invalid_runs_are_said(tmp_path: Path) -> None:
    path = tmp_path / "a.sqlite"
    first = measured(path, 1.0)
    wrong = measured(path, 1.0, verdict=("invalid", "wrong answers: S01"))
    moved = measured(path, 1.0, machine={"cpu_model": "Invented 7000"})
    newer = [
        (name, structs.replace(run, build={**run.build, "assay": "99"}))
        for name, run in measured(path, 1.0, machine={"cpu_model": "Invented 7000"})
    ]
    (found,) = trends([*first, *wrong, *moved, *newer])
    assert [point.experiment for point in found.points] == [1, 3, 4]
    assert found.left_out == 2
    assert [one.name for one in found.points[1].differs] == ["cpu_model"]
    (difference,) = found.points[2].differs
    assert (difference.name, difference.b) == ("version of Assay", "99")
    assert difference.a == first[0][1].build["assay"]
    assert not found.points[2].is_first_of_its_work


@pytest.mark.slow
def test_a_trend_begins_anew_where_the_script_was_changed(tmp_path: Path) -> None:
    runs = [one for _ in range(5) for one in measured(tmp_path / "a.sqlite", 1.0)]
    script = ScriptRecord("checks", "checks.sql", "SELECT 1;", 1)
    changed = [
        (path, structs.replace(run, scripts=(script,)))
        for _ in range(5)
        for path, run in measured(tmp_path / "a.sqlite", 2.0)
    ]
    (found,) = trends([*runs, *changed])
    assert [one.adjusted_p for one in found.points] == [None] * 10
    assert not found.is_long_enough and found.segment_means[4] > 1.9 * found.segment_means[5]
    assert [one.name for one in found.points[5].differs] == ["text of the scripts"]
    assert [point.to_previous is None for point in found.points] == [True, *[False] * 4] * 2
    rendered = text_of(table, report.build([found], [tmp_path]), True)
    assert "other work" in rendered and "slower" not in rendered
    (chart,) = report.build([found], [tmp_path]).sections[0].figures
    assert [len(one.points) for one in chart.series] == [5, 5] * 2, "no line joins other work"
    lines = re.findall(
        r'aria-roledescription="line mark"|class="mark-line[^"]*"', charts.svg(chart)
    )
    assert len(lines) == 4


def noise(chance: random.Random, cells: int) -> list[list[float]]:
    return [[chance.gauss(0, 1) for _ in range(20)] for _ in range(cells)]


@pytest.mark.slow
@pytest.mark.parametrize(("cells", "times", "most"), [(1, 200, 10), (40, 30, 3)])
def test_unchanged_cells_have_no_change_also_among_many(cells: int, times: int, most: int) -> None:
    """2 of 100 outputs show one; more than ``most`` in less than 1 of 100 such tests."""
    chance = random.Random(3)
    assert sum(any(change_points(noise(chance, cells))) for _ in range(times)) <= most


@pytest.mark.slow
def test_a_change_is_found_among_many_unchanged_cells_and_searched_further() -> None:
    chance = random.Random(5)
    levels = [0.0] * 20 + [20.0] * 20 + [50.0] * 20
    changed = [level + chance.gauss(0, 1) for level in levels]
    *others, found = change_points([*noise(chance, 40), changed])
    (alone,) = change_points([changed])
    assert not any(others)
    assert [one.place for one in found] == [one.place for one in alone] == [20, 40]
    assert all(one.adjusted_p < among.adjusted_p for one, among in zip(alone, found, strict=True))


@pytest.mark.slow
def test_two_changes_are_found_at_their_places() -> None:
    chance = random.Random(4)
    levels = [1.0] * 12 + [1.3] * 10 + [0.9] * 14
    hits = 0
    for _ in range(50):
        (found,) = change_points([[level + chance.gauss(0, 0.05) for level in levels]])
        hits += {one.place for one in found} >= {12, 22}
    assert hits >= 45


@pytest.mark.slow
@pytest.mark.parametrize("repetitions", [1, 2])
def test_the_document_is_of_its_schema(tmp_path: Path, repetitions: int) -> None:
    """Also where there is no interval."""
    runs = [
        one
        for seconds in (1.0, 1.2, 1.1)
        for one in measured(tmp_path / "a.sqlite", seconds)[:repetitions]
    ]
    found = trends(runs)
    document = json.loads(json.dumps(trend.document(found), allow_nan=False))
    jsonschema_rs.validate(trend.trend_schema(), document)
    stream = io.StringIO()
    trend.write_csv(found, stream)
    assert len(stream.getvalue().splitlines()) == 1 + len(document["points"])


NOISE = (1.0, 1.012, 0.991, 1.004, 0.997)
SETTINGS = {"jit": ("on", "off"), "work_mem": ("4MB", "64MB"), "wal_level": ("minimal", "logical")}
Levels = Mapping[str, str]


def grid(
    path: Path,
    seconds: Callable[[Levels], float],
    settings: Mapping[str, tuple[str, ...]] = SETTINGS,
    repetitions: int = 4,
) -> ExperimentRecord:
    """Every combination of the settings; ``seconds``: how long a run of it took, but for noise."""
    every = itertools.product(*settings.values())
    levels = [dict(zip(settings, one, strict=True)) for one in every]
    systems = [replace(invented.POSTGRESQL, settings=one) for one in levels]
    planned = invented.plan(systems, repetitions=repetitions)
    with invented.at_once(path / "r.sqlite") as store:
        number = invented.begin(store, planned)
        for place, run in enumerate(planned.runs):
            noise = NOISE[(place + place // 3) % len(NOISE)]
            took = seconds(run.cell.system.settings) * noise
            durable = {"durability": Durability("D3")}
            invented.write_run(store, run, round(took * 1e9), deployment=durable)
        store.end_experiment()
        return store.experiment(number)


@pytest.fixture(scope="module")
def grid_of_jit(tmp_path_factory: pytest.TempPathFactory) -> ExperimentRecord:
    return grid(tmp_path_factory.mktemp("grid"), jit_alone)


@pytest.fixture(scope="module")
def grid_of_both(tmp_path_factory: pytest.TempPathFactory) -> ExperimentRecord:
    """Of two settings that change each other's effect."""
    return grid(tmp_path_factory.mktemp("both"), with_interaction, repetitions=2)


def only(experiment: ExperimentRecord) -> SettingEffects:
    (found,) = effects(experiment)
    return found


def jit_alone(levels: Levels) -> float:
    return 3.0 if levels["jit"] == "on" else 1.0


def with_interaction(levels: Levels) -> float:
    is_slower = levels["jit"] == "on" and levels["work_mem"] == "4MB"
    return jit_alone(levels) * (1.5 if is_slower else 1)


def test_one_sentence_says_which_settings_matter(grid_of_jit: ExperimentRecord) -> None:
    said = effects_sentence(only(grid_of_jit))
    assert said.startswith("jit matters: off is 3.0 times (3.0 to 3.0) as fast as on; ")
    for setting in ("work_mem", "wal_level"):
        assert f"{setting}: no difference seen (0.99 to 1.01)" in said
    assert said.endswith("no interaction seen")


def test_two_settings_that_change_each_other_s_effect(grid_of_both: ExperimentRecord) -> None:
    found = only(grid_of_both)
    seen = [one for one in found.effects if one.is_interaction and one.is_seen]
    assert [{change.factor for change in one.of} for one in seen] == [{"jit", "work_mem"}]
    assert math.exp(abs(math.log(seen[0].ratio))) == pytest.approx(1.5, rel=0.02)
    said = effects_sentence(found)
    assert "jit and work_mem interact: the ratio of jit is " in said
    assert "2 repetitions are too few" in said, "to say that none was seen"


@pytest.mark.slow
def test_the_combination_that_is_faster_than_all_others_is_named(tmp_path: Path) -> None:
    """Two settings are slow only together, so that the effect of each alone says little."""

    def slow_together(levels: Levels) -> float:
        is_slow = levels["jit"] == "on" and levels["work_mem"] == "4MB"
        return (9.0 if is_slow else 1.0) * (1.0 if levels["wal_level"] == "minimal" else 1.2)

    settings = {"jit": ("on", "off"), "work_mem": ("4MB", "64MB")}
    alike = only(grid(tmp_path, slow_together, {**settings, "wal_level": ("minimal",)}))
    assert alike.best == (), "three cells are alike"

    def one_is_best(levels: Levels) -> float:
        return slow_together({**levels, "wal_level": "minimal"}) * (
            0.8 if levels == {"jit": "off", "work_mem": "64MB"} else 1.0
        )

    (tmp_path / "best").mkdir()
    said = effects_sentence(only(grid(tmp_path / "best", one_is_best, settings)))
    assert said.startswith("fastest: jit off, work_mem 64MB; ")


def test_every_form_has_sentence_and_table(grid_of_both: ExperimentRecord) -> None:
    """The page has the sections of these."""
    report = build(grid_of_both)
    said = effects_sentence(only(grid_of_both))
    for form in (table, markdown):
        shown = " ".join(text_of(form, report).split())
        assert said.split("; ")[0] in shown.replace("\\", "")
        assert "What each factor changes over all of the grid" in shown
    (of_test,) = json.loads(text_of(json_form, report))["effects"]
    assert of_test["sentence"] == said
    assert len(of_test["effects"]) == 6
    first = of_test["effects"][0]
    assert first["of"] == [{"factor": "jit", "level": "off", "compared_with": "on"}]
    assert first["is_seen"] and first["ratio_low"] < first["ratio"] < first["ratio_high"]
    (in_python,) = assay.open(grid_of_both.path).latest.effects
    assert in_python.effects[0].ratio == pytest.approx(first["ratio"])


def test_durability_that_a_setting_lowers_is_said_where_none_was_measured(
    grid_of_jit: ExperimentRecord,
) -> None:
    """As on a directory, whose device other programs use as well."""

    def lowered(run: Run) -> Run:
        by = ("fsync = off",) if run.cell.system.settings["jit"] == "off" else ()
        return invented.changed(run, "deployment", durability=None, durability_lowered_by=by)

    unmeasured = invented.each_run(grid_of_jit, lowered)
    assert "as fast as on (unequal durability)" in effects_sentence(only(unmeasured))
    shown = " ".join(text_of(table, build(unmeasured), True).split())
    assert "commits are not equally durable: off: fsync = off, on: not lowered" in shown
    runs = (invented.disturbed(unmeasured.runs[0], 0.4), *unmeasured.runs[1:])
    found = only(structs.replace(unmeasured, runs=runs))
    assert "as fast as on (unequal durability)" in effects_sentence(found)


def test_runs_that_were_disturbed_decide_nothing(grid_of_jit: ExperimentRecord) -> None:
    found = only(invented.each_run(grid_of_jit, lambda run: invented.disturbed(run, 0.4)))
    assert not any(one.is_seen for one in found.effects)
    assert "not decided: other programs used" in effects_sentence(found)
    assert "jit off was 3.0 times" in effects_sentence(found)


def test_cells_that_do_not_count_are_left_out_and_said(grid_of_jit: ExperimentRecord) -> None:
    broken = grid_of_jit.runs[0].cell_fingerprint

    def invalid(run: Run) -> Run:
        return structs.replace(run, verdict="invalid") if run.cell_fingerprint == broken else run

    found = only(invented.each_run(grid_of_jit, invalid))
    assert len(found.left_out) == 1
    assert effects_sentence(found).endswith("1 of 8 cells left out")
    assert found.effects[0].combinations == 3
