"""Cells over many records: in the order of time, with changes where there are any."""

from __future__ import annotations

import io
import json
import random
import re
from pathlib import Path

import jsonschema_rs
import pytest
from msgspec.structs import replace

import invented_records as invented
from assay.comparison.change_points import change_points
from assay.comparison.trend import Trend, trends
from assay.judge.run import ScriptRecord
from assay.record import Run
from assay.report.charts import draw
from assay.report.comparison_tables import trend as report
from assay.report.comparison_tables import trend_document
from assay.report.forms import table
from shown_report import text_of

pytestmark = pytest.mark.slow


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


def test_a_change_is_found_where_it_began_and_is_said(tmp_path: Path) -> None:
    found = of_times(tmp_path, 1.0, 1.02, 0.99, 1.01, 1.0, 1.2, 1.21, 1.19, 1.22, 1.2)
    assert [place for place, one in enumerate(found.points) if one.adjusted_p is not None] == [5]
    rendered = text_of(table, report.build([found], [tmp_path]), True)
    assert "slower" in rendered and "0.834 of those before" in rendered
    rows = trend_document.document([found])["points"]
    assert [row["is_change_point"] for row in rows].count(True) == 1
    (chart,) = report.build([found], [tmp_path]).sections[0].figures
    measured, levels = chart.series
    assert len(measured.points) == 10 and measured.points[0].low != measured.points[0].high
    assert [point.y for point in levels.points] == pytest.approx(found.segment_means)
    assert len(set(found.segment_means)) == 2 and levels.points[4].y > levels.points[5].y


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


def test_a_file_and_the_one_it_was_merged_into_count_once(tmp_path: Path) -> None:
    runs = measured(tmp_path / "a.sqlite", 1.0)
    again = [("other.sqlite", run) for _, run in runs]
    (found,) = trends([*runs, *again])
    assert [len(point.values) for point in found.points] == [2]


def test_another_machine_and_invalid_runs_are_said(tmp_path: Path) -> None:
    path = tmp_path / "a.sqlite"
    first = measured(path, 1.0)
    wrong = measured(path, 1.0, verdict=("invalid", "wrong answers: S01"))
    last = measured(path, 1.0, machine={"cpu_model": "Invented 7000"})
    (found,) = trends([*first, *wrong, *last])
    assert [point.experiment for point in found.points] == [1, 3]
    assert found.left_out == 2
    assert [one.name for one in found.points[1].differs] == ["cpu_model"]


def test_another_version_of_assay_is_said(tmp_path: Path) -> None:
    first = measured(tmp_path / "a.sqlite", 1.0)
    newer = [
        (path, replace(run, build={**run.build, "assay": "99"}))
        for path, run in measured(tmp_path / "a.sqlite", 1.0)
    ]
    (found,) = trends([*first, *newer])
    (difference,) = found.points[1].differs
    assert (difference.name, difference.b) == ("version of Assay", "99")
    assert difference.a == first[0][1].build["assay"]
    assert not found.points[1].is_first_of_its_work


def test_a_trend_begins_anew_where_the_script_was_changed(tmp_path: Path) -> None:
    runs = [one for _ in range(5) for one in measured(tmp_path / "a.sqlite", 1.0)]
    script = ScriptRecord("checks", "checks.sql", "SELECT 1;", 1)
    changed = [
        (path, replace(run, scripts=(script,)))
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
    lines = re.findall(r'aria-roledescription="line mark"|class="mark-line[^"]*"', draw.svg(chart))
    assert len(lines) == 4


def noise(chance: random.Random, cells: int) -> list[list[float]]:
    return [[chance.gauss(0, 1) for _ in range(20)] for _ in range(cells)]


@pytest.mark.parametrize(("cells", "times", "most"), [(1, 200, 10), (40, 30, 3)])
def test_unchanged_cells_have_no_change_also_among_many(cells: int, times: int, most: int) -> None:
    """2 of 100 outputs show one; more than ``most`` in less than 1 of 100 such tests."""
    chance = random.Random(3)
    assert sum(any(change_points(noise(chance, cells))) for _ in range(times)) <= most


def test_a_change_is_found_among_many_unchanged_cells_and_searched_further() -> None:
    chance = random.Random(5)
    levels = [0.0] * 20 + [20.0] * 20 + [50.0] * 20
    changed = [level + chance.gauss(0, 1) for level in levels]
    *others, found = change_points([*noise(chance, 40), changed])
    (alone,) = change_points([changed])
    assert not any(others)
    assert [one.place for one in found] == [one.place for one in alone] == [20, 40]
    assert all(one.adjusted_p < among.adjusted_p for one, among in zip(alone, found, strict=True))


def test_two_changes_are_found_at_their_places() -> None:
    chance = random.Random(4)
    levels = [1.0] * 12 + [1.3] * 10 + [0.9] * 14
    hits = 0
    for _ in range(50):
        (found,) = change_points([[level + chance.gauss(0, 0.05) for level in levels]])
        hits += {one.place for one in found} >= {12, 22}
    assert hits >= 45


def test_a_few_values_have_no_change() -> None:
    short, long, flat = change_points([[1] * 4 + [9] * 4, [1] * 8 + [9] * 8, [5.0] * 12])
    assert short == [] and [one.place for one in long] == [8] and flat == []


@pytest.mark.parametrize("repetitions", [1, 2])
def test_the_document_is_of_its_schema(tmp_path: Path, repetitions: int) -> None:
    """Also where there is no interval."""
    runs = [
        one
        for seconds in (1.0, 1.2, 1.1)
        for one in measured(tmp_path / "a.sqlite", seconds)[:repetitions]
    ]
    found = trends(runs)
    document = json.loads(json.dumps(trend_document.document(found), allow_nan=False))
    jsonschema_rs.validate(trend_document.schema(), document)
    stream = io.StringIO()
    trend_document.write_csv(found, stream)
    assert len(stream.getvalue().splitlines()) == 1 + len(document["points"])


def test_what_limits_the_runs_of_a_point_is_said(tmp_path: Path) -> None:
    path = tmp_path / "a.sqlite"
    valid = measured(path, 1.0)
    limited = measured(path, 2.0, verdict=("indicative", "short measurement"))
    found = trends([*valid, *limited])
    rows = trend_document.document(found)["points"]
    assert [row["runs_verdict"] for row in rows] == ["valid", "indicative"]
    assert rows[1]["runs_reasons"] == "short measurement"
    (chart,) = report.build(found, [path]).sections[0].figures
    assert [one.verdict for one in chart.series[0].points] == ["valid", "indicative"]
    assert chart.series[0].points[1].runs == tuple(run.id for _, run in limited)
    assert "hollow points: indicative" in draw.svg(chart)
    assert "[1] indicative: short measurement" in text_of(table, report.build(found, [path]), True)
