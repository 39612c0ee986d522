"""An offered rate may be a profile in time: how it is read, what it makes due, and what reports and
judges make of it."""

from __future__ import annotations

from pathlib import Path

import pytest

import assay
from assay.errors import ArgumentError, ExperimentError
from assay.experiment import from_file as experiment_file
from assay.experiment.from_command_line import Words, asked
from assay.record import Store
from assay.report.build import build
from assay.text import rates
from assay.text.quantities import OFFERED_RATE_PER_S

SPIKE = "0s:100,1s:400,2s:100..300,4s:0,5s:50"


@pytest.fixture(autouse=True)
def _folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("one.sql").write_text("SELECT 1;\n")


def test_what_is_due_is_what_the_steps_say() -> None:
    assert rates.due_in_seconds(SPIKE, 7) == [100, 400, 150, 250, 0, 50, 50]
    assert rates.due(SPIKE, 2.5) == pytest.approx(500 + 62.5)
    assert rates.mean_per_s(SPIKE, 5) == 180
    assert rates.due(250.0, 3) == 750


def test_the_mean_of_a_profile_is_over_the_time_that_it_lasts() -> None:
    """A rate of 0 at the end ends the run; one before others is a pause."""
    assert rates.mean_per_s("0s:800,1s:0", 3) == rates.mean_per_s("0s:800,1s:0", 1) == 800
    assert rates.mean_per_s("0s:800,1s:0", 0.5) == 800
    assert rates.mean_per_s("0s:800,1s:0,2s:800", 4) == 600


@pytest.mark.parametrize(
    ("word", "says"),
    [
        ("5s:200", "begins at 0s"),
        ("0s:200,9s:300,5s:100", "in the order of time, found 5s behind 9s"),
        ("0s:200,5s:200..800", "a step at which the ramp 200..800 ends"),
        ("0s:200,5s:200-800,9s:1", "a ramp is written FIRST..LAST"),
        ("0s:0,5s:0", "a rate above 0"),
        ("0s:200,1 parsec:5", "expected a number of seconds"),
        ("0s:200,5s:-1", "from 0 to 10,000,000"),
        ("0s:200,5s:1:2", "expected TIME:RATE"),
    ],
)
def test_a_profile_that_cannot_be_is_refused(word: str, says: str) -> None:
    with pytest.raises(ArgumentError, match=says) as refused:
        asked(Words("one.sql", on=("null",), offered_rate_per_s=word, duration_s=20))
    assert refused.value.message.startswith("--offered-rate: ")
    assert refused.value.hint == "--offered-rate 0s:200,60s:800,90s:200"


def test_a_step_after_the_end_is_refused() -> None:
    with pytest.raises(ArgumentError, match=r"has a step at 60s, .* ends after 30s"):
        assay.run("one.sql", on="null", offered_rate_per_s="0s:200,60s:800", duration_s=30)


def test_a_ramp_may_last_as_long_as_the_measurement() -> None:
    def run(rate: str) -> assay.Result:
        return assay.run("one.sql", on="null", offered_rate_per_s=rate, duration_s=1, warm_up_s=0)

    (whole,) = run("0s:100..300,1s:300").runs
    assert whole.outcomes.scheduled == 200
    with pytest.raises(ArgumentError, match=r"has a step at 2s, .* ends after 1s") as refused:
        run("0s:100..300,2s:300")
    assert str(refused.value.hint).startswith("end the ramp at 1s, or a longer")
    with pytest.raises(ArgumentError, match="has a step at 1s"):
        run("0s:100,1s:300")


def test_profiles_and_numbers_are_levels_in_all_three_places() -> None:
    levels = (500.0, "0s:200,5s:800", "0s:1..9,5s:9")
    text = "500,0s:200,5s:800,0s:1..9,5s:9"
    words = Words("one.sql", on=("null",), offered_rate_per_s=text, duration_s=9)
    assert asked(words)[0].offered_rates_per_s == levels
    listed = '[500, "0:200,5s:800", "0s:1..9,5s:9"]'
    Path("e.toml").write_text(
        f'script = "one.sql"\nsystems = "null"\n[drive]\noffered_rate_per_s = {listed}\n'
    )
    assert experiment_file.read(Path("e.toml"))[0].offered_rates_per_s == levels
    Path("e.toml").write_text(
        'script = "one.sql"\nsystems = "null"\n[drive]\noffered_rate_per_s = "0s:1,x:2"\n'
    )
    with pytest.raises(ExperimentError, match=r"e\.toml:4: .*offered_rate_per_s.*seconds"):
        experiment_file.read(Path("e.toml"))


def test_each_second_of_a_run_has_what_its_profile_says() -> None:
    result = assay.run(
        "one.sql", on="null", clients=4, offered_rate_per_s=SPIKE, duration_s=6, warm_up_s=0
    )
    (run,) = result.runs
    assert run.outcomes.scheduled == run.outcomes.ok == 950
    with Store(Path("assay-records.sqlite"), must_exist=True) as store:
        kept = store.experiment(1)
    (kept_run,) = kept.runs
    assert not {"drift", "short-warm-up"} & {one.name for one in kept_run.warnings}
    figures = [figure for section in build(kept).sections for figure in section.figures]
    (chart,) = [figure for figure in figures if figure.name.endswith("timeline_1")]
    of_completed, of_offered = chart.series
    assert of_offered.name.endswith("offered")
    assert [point.y for point in of_offered.points] == [100, 400, 150, 250, 0]
    assert sum(point.y for point in of_completed.points) == pytest.approx(900, abs=5)


def test_a_word_of_a_list_is_a_rate_or_a_whole_profile() -> None:
    assert OFFERED_RATE_PER_S.split("5,0s:1,2s:3,0ms:4,1s:5,6") == [
        "5", "0s:1,2s:3", "0ms:4,1s:5", "6",
    ]  # fmt: skip
