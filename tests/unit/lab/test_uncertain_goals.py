"""What a search finds where runs are noisy, where other programs disturb them, and where latency
does not grow with the rate: an interval that holds, or that nothing is decided."""

from __future__ import annotations

import random
from collections.abc import Callable
from pathlib import Path

import pytest
from msgspec.structs import replace
from test_goal_search import asked, found, performed, planned

import invented_records as invented
from assay.comparison import goal_bracket, goals
from assay.comparison.goal_bracket import CONFIRMED
from assay.comparison.goals import Trial, TrialAnswer
from assay.lab.goal_search import MOST_IN_PLACE, level_of
from assay.plan import PlannedRun

LIMIT_NS = 5e6
"""Of `test_goal_search.GOAL`."""
Value = Callable[[float], float | None]
"""Offered rate → p99 in ns; None: the rate is not reached."""


def p99(capacity_per_s: float) -> Value:
    """Of a queue whose p99 without load is 1 ms."""
    return lambda rate: 1e6 / (1 - rate / capacity_per_s) if rate < capacity_per_s else None


def met_up_to(capacity_per_s: float) -> float:
    return capacity_per_s * (1 - 1e6 / LIMIT_NS)


def trial(rate: float, value: float | None, others: float = 0.0) -> Trial:
    is_met = value is not None and value < LIMIT_NS
    answer = TrialAnswer.MET if is_met else TrialAnswer.NOT_MET
    why = "" if is_met else "p99"
    return Trial(rate, answer, why, value, (), "", value is not None, others, 1, is_met, others)


@pytest.mark.parametrize("noise", [0.02, 0.08])
def test_the_true_limit_lies_in_the_interval_of_a_noisy_search(noise: float) -> None:
    """By chance, one of some hundred ends next to it."""
    experiment = asked(offered_rates_per_s=(100.0, 10_000.0))
    runs = planned(experiment)
    beyond = 0
    for search in range(40):
        capacity_per_s = random.Random(f"{search} {noise}").uniform(300, 3000)

        def read(run: PlannedRun, search: int = search, capacity: float = capacity_per_s) -> Trial:
            chance = random.Random(f"{noise} {search} {level_of(run)} {run.repetition}")
            value = p99(capacity * chance.lognormvariate(0, noise))
            return trial(level_of(run), value(level_of(run)))

        so_far = found(experiment, performed(experiment, runs, read), read)
        if so_far.not_decided:
            continue
        met, missed = so_far.met, so_far.missed
        assert met is not None and missed is not None
        assert met.met_in == met.counted >= CONFIRMED
        assert missed.met_in == 0 and missed.counted >= CONFIRMED
        assert f"{met.counted} runs" in so_far.words
        true_per_s = met_up_to(capacity_per_s)
        assert met.level / 1.03 <= true_per_s < missed.level * 1.03, so_far.words
        beyond += not met.level <= true_per_s < missed.level
    assert beyond <= 1


def test_one_run_that_missed_by_chance_does_not_end_the_search_below() -> None:
    """The first run, at 1000/s, of a system that keeps 5000/s."""
    experiment = asked()

    def read(run: PlannedRun) -> Trial:
        is_first = (level_of(run), run.repetition) == (1000.0, 1)
        value = p99(6250)(level_of(run))
        return trial(level_of(run), 50e6 if is_first else value)

    so_far = found(experiment, performed(experiment, planned(experiment), read), read)
    assert so_far.met is not None and so_far.missed is not None
    assert so_far.met.level <= met_up_to(6250) < so_far.missed.level <= so_far.met.level * 1.06


def test_a_disturbed_trial_is_measured_again_until_it_is_not() -> None:
    """Other programs come twice, for some runs."""
    experiment = asked(offered_rates_per_s=(100.0, 10_000.0))
    taken: list[int] = []

    def read(run: PlannedRun) -> Trial:
        if run.position not in taken:
            taken.append(run.position)
        is_beside_others = taken.index(run.position) in (0, 1, 6)
        if is_beside_others:
            return trial(level_of(run), 900e6, others=0.73)
        return trial(level_of(run), p99(1000)(level_of(run)))

    done = performed(experiment, planned(experiment), read)
    assert [level_of(run) for run in done[:3]] == [level_of(done[0])] * 3
    assert [run.in_place_of for run in done[:3]] == [None, 1, 1]
    assert done[0].seed == done[2].seed
    so_far = found(experiment, done, read)
    assert so_far.not_decided == ""
    assert so_far.met is not None and so_far.missed is not None
    assert so_far.met.level <= met_up_to(1000) < so_far.missed.level


def test_what_stays_disturbed_is_repeated_three_times_and_decides_nothing() -> None:
    experiment = asked(offered_rates_per_s=(100.0, 10_000.0))

    def read(run: PlannedRun) -> Trial:
        return trial(level_of(run), 900e6, others=0.73)

    runs = planned(experiment)
    done = performed(experiment, runs, read)
    for level in {*map(level_of, done)}:
        assert sum(level_of(run) == level and bool(run.in_place_of) for run in done) == (
            MOST_IN_PLACE
        )
    so_far = found(experiment, done, read)
    assert so_far.words == "not decided: other programs used 73 % of the CPUs at 100/s"
    assert (so_far.highest, so_far.others) == (None, 0.73)
    once = performed(experiment, runs, read, repeats=False)
    assert not any(run.in_place_of for run in once)
    assert found(experiment, once, read).not_decided


def test_an_end_that_cannot_be_confirmed_decides_nothing() -> None:
    """Other programs begin when the search is nearly over."""
    experiment = asked(offered_rates_per_s=(100.0, 10_000.0))

    def read(run: PlannedRun) -> Trial:
        others = 0.3 if run.repetition > 1 else 0.0
        return trial(level_of(run), p99(1000)(level_of(run)), others)

    done = performed(experiment, planned(experiment), read)
    assert sum(run.in_place_of is not None for run in done) <= 2 * MOST_IN_PLACE
    assert found(experiment, done, read).words.startswith(
        "not decided: other programs used 30 % of the CPUs at "
    )


def test_a_continued_search_measures_the_same_again() -> None:
    experiment = asked(offered_rates_per_s=(100.0, 1000.0))

    def read(run: PlannedRun) -> Trial:
        chance = random.Random(f"{level_of(run)} {run.repetition}")
        others = 0.2 if chance.random() < 0.2 else 0.0
        value = p99(500 * chance.lognormvariate(0, 0.05))(level_of(run))
        return trial(level_of(run), value, others)

    runs = planned(experiment)
    whole = performed(experiment, runs, read)
    assert any(run.in_place_of for run in whole) and len(whole) > 2 * CONFIRMED
    for ended in range(len(whole)):
        earlier = sorted(whole[:ended], key=lambda run: run.position)
        after = performed(experiment, runs, read, earlier)
        named = [[(level_of(run), run.repetition) for run in part] for part in (after, whole)]
        assert named[0] == named[1][ended:], ended


def of(rate: float, value_ns: float, **changes: object) -> Trial:
    made = replace(trial(rate, value_ns), **changes)  # type: ignore[arg-type]
    return goals.together([made], goals.goal("p99 < 5ms"))


def words(*trials: Trial) -> str:
    return goal_bracket.search(goals.goal("p99 < 5ms"), trials).words


def test_a_latency_that_does_not_grow_with_the_rate_decides_nothing() -> None:
    assert words(of(7.02, 40e6), of(60, 3e6), of(100, 9e6)) == (
        "not decided: the p99 latency does not grow with the offered rate, as the search assumes: "
        "not met at 7.02/s (p99 latency 40.0 ms), but met at 60/s (p99 latency 3.00 ms)"
    )
    falling = words(of(1, 40e6), of(10, 20e6), of(100, 10e6))
    assert "not met at 1/s (p99 latency 40.0 ms), but not met at 10/s" in falling
    assert words(of(10, 6e6), of(100, 6.1e6)) == "none met it, not even at 10/s (p99)"
    full = of(100, 1e6, is_reached=False, answer=TrialAnswer.NOT_MET)
    assert words(of(10, 40e6), full) == "none met it, not even at 10/s (p99)"
    overload = words(of(900, 1.5e9), of(1000, 0.9e9))
    assert overload == "none met it, not even at 900/s (p99)"
    disturbed = of(7.02, 40e6, others=0.73)
    assert words(disturbed, of(60, 3e6)) == (
        "not decided: other programs used 73 % of the CPUs at 7.02/s"
    )


def test_a_search_ends_when_both_trials_that_contradict_it_are_certain() -> None:
    """An idle CPU is slow below 500/s."""
    experiment = asked(offered_rates_per_s=(10.0, 10_000.0))

    def read(run: PlannedRun) -> Trial:
        rate = level_of(run)
        return trial(rate, 40e6 if rate < 500 else p99(1000)(rate))

    done = performed(experiment, planned(experiment), read)
    so_far = found(experiment, done, read)
    assert so_far.met is None
    assert "does not grow with the offered rate" not in so_far.words, "no trial shows it"

    def falling(run: PlannedRun) -> Trial:
        rate = level_of(run)
        return trial(rate, 1e12 / rate**2)

    done = performed(experiment, planned(experiment), falling)
    so_far = found(experiment, done, falling)
    assert "does not grow with the offered rate" in so_far.words
    assert {one.counted for one in so_far.ends} == {CONFIRMED}


@pytest.mark.parametrize(
    ("seconds", "is_decided"), [(4.0, True), (8.9, True), (9.1, False), (20.0, True)]
)
def test_how_fast_work_is_done_is_decided_beside_others_where_they_explain_no_difference(
    seconds: float, is_decided: bool, tmp_path: Path
) -> None:
    """They used 30 % of the CPUs, which explains a factor of 2."""
    plan = invented.plan([invented.SQLITE], parameters={"scale": 10})
    record = invented.experiment(tmp_path / "records.sqlite", plan, seconds)
    run = invented.disturbed(record.runs[0], 0.3)
    shown = goals.of_run(run, goals.goal("elapsed < 9s"), "scale")
    assert shown.is_disturbed is not is_decided
    latency = goals.of_run(run, goals.goal("p99 < 1us"), "scale")
    assert latency.is_disturbed, "how long one waits behind them has no bound"
