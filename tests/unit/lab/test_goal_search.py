"""The highest rate that meets a goal is found by bisection, whatever a trial answers and however
much trials scatter."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from msgspec import structs

import invented_records as invented
from assay.comparison import goals
from assay.comparison.goals import CONFIRMED, SearchSoFar, Trial, TrialAnswer
from assay.experiment import Driving, Experiment, SystemChoice
from assay.judge.run import Run
from assay.judge.statistics.samples import UNREACHED
from assay.lab.goal_search import MOST_IN_PLACE, GoalSearch, level_of
from assay.plan import PlannedRun, fingerprint, layout
from assay.record.metrics import catalogue

A, B = invented.POSTGRESQL, invented.SQLITE
GOAL = "p99 < 5ms"
Truth = Callable[[PlannedRun], TrialAnswer]


def asked(repetitions: int = 1, **more: object) -> Experiment:
    base = invented.plan([A]).experiment
    return replace(base, goal=GOAL, repetitions=repetitions, **more)  # type: ignore[arg-type]


_PLANNED: dict[object, list[PlannedRun]] = {}
"""By what they depend on: to find the fingerprints of some hundred cells takes a while."""


def planned(experiment: Experiment, systems: Sequence[SystemChoice] = (A,)) -> list[PlannedRun]:
    key = (experiment.offered_rates_per_s, experiment.repetitions, len(systems))
    if key in _PLANNED:
        return _PLANNED[key]
    base = invented.plan([A]).runs[0]
    runs: list[PlannedRun] = []
    for repetition in range(1, experiment.repetitions + 1):
        for rate in layout.offered_rates(experiment):
            for system in systems:
                driving = Driving(duration_s=2.0, arrival="constant", offered_rate_per_s=rate)
                cell = replace(base.cell, system=system, driving=driving, fingerprint="")
                cell = replace(cell, fingerprint=fingerprint.fingerprint_of_cell(cell))
                runs.append(replace(base, cell=cell, repetition=repetition, position=len(runs)))
    _PLANNED[key] = runs
    return runs


def of_sizes(
    sizes: Sequence[int], repetitions: int = 1, systems: Sequence[SystemChoice] = (A,)
) -> list[PlannedRun]:
    """Of a parameter with these levels."""
    base = invented.plan([A]).runs[0]
    cells = [
        replace(base.cell, system=system, parameters={"tuples": size, "other": 1})
        for size in sizes
        for system in systems
    ]
    runs = [(cell, 1 + number) for cell in cells for number in range(repetitions)]
    return [
        replace(base, position=position, cell=cell, repetition=repetition)
        for position, (cell, repetition) in enumerate(runs)
    ]


Read = Callable[[PlannedRun], Trial]


def performed(
    experiment: Experiment,
    runs: Sequence[PlannedRun],
    read: Read,
    earlier: Sequence[PlannedRun] = (),
    *,
    repeats: bool = True,
) -> list[PlannedRun]:
    """The runs that take place; each of the others that were planned is spared, and none twice."""
    simulated, spared = invented.SimulatedRuns([*runs, *earlier]), list[PlannedRun]()
    search = GoalSearch(
        experiment,
        runs,
        lambda position, _: read(simulated.runs[position]),
        spared.extend,
        simulated.further,
        simulated.in_place_of if repeats else None,
    )
    ended = {run.position for run in earlier}
    done = list(search.needed([run for run in runs if run.position not in ended], earlier))
    every = [*earlier, *done]
    assert len([run for run in every if run.in_place_of is None]) <= search.most_runs
    planned_runs = {run.position for run in runs}
    positions = [run.position for run in (*every, *spared) if run.position in planned_runs]
    assert sorted(positions) == sorted(planned_runs)
    return done


def executed(
    experiment: Experiment,
    runs: Sequence[PlannedRun],
    truth: Truth,
    earlier: Sequence[PlannedRun] = (),
) -> list[PlannedRun]:
    """The same where each run answers what is true of it."""
    return performed(
        experiment, runs, lambda run: Trial(level_of(run), truth(run), "", None, ()), earlier
    )


def found(experiment: Experiment, runs: Sequence[PlannedRun], read: Read) -> SearchSoFar:
    """What these runs say, as reports have it."""
    condition = goals.goal(experiment.goal)
    of_levels: dict[float, list[Trial]] = {}
    for run in runs:
        trial = read(run)
        of_levels.setdefault(trial.level, []).append(trial)
    return goals.search_so_far(
        condition, [goals.joined_trial(each, condition) for each in of_levels.values()]
    )


def tried(runs: Sequence[PlannedRun]) -> list[float]:
    """The rates of the first runs, in order."""
    return [*dict.fromkeys(map(level_of, runs))]


def capacity(per_s: float) -> Truth:
    return lambda run: TrialAnswer.MET if level_of(run) <= per_s else TrialAnswer.NOT_MET


def bracket(runs: Sequence[PlannedRun], truth: Truth) -> tuple[float | None, float | None]:
    so_far = found(asked(), runs, lambda run: Trial(level_of(run), truth(run), "", None, ()))
    return so_far.met and so_far.met.level, so_far.missed and so_far.missed.level


@pytest.mark.parametrize("true_per_s", [1.0, 7.7, 1234.5, 999_999.0])
def test_the_capacity_is_found_within_the_tolerance(true_per_s: float) -> None:
    experiment, truth = asked(), capacity(true_per_s)
    runs = executed(experiment, planned(experiment), truth)
    met, missed = bracket(runs, truth)
    assert len(tried(runs)) <= 9
    assert met is not None and missed is not None
    assert met <= true_per_s < missed <= met * 1.06


def test_the_ends_are_tried_before_they_are_believed() -> None:
    experiment = asked(offered_rates_per_s=(10.0, 2000.0))
    runs = planned(experiment)
    for truth, expected in ((capacity(1e9), (2000.0, None)), (capacity(0.0), (None, 10.0))):
        assert bracket(executed(experiment, runs, truth), truth) == expected
    few = asked(goal_trials=3)
    assert len(tried(executed(few, planned(few), capacity(321.0)))) == 3, "no more than may be"


def test_systems_take_turns_and_each_has_its_own_answer() -> None:
    def truth(run: PlannedRun) -> TrialAnswer:
        return capacity(50.0 if run.cell.system == A else 5000.0)(run)

    experiment = asked()
    runs = executed(experiment, planned(experiment, (A, B)), truth)
    assert [run.cell.system for run in runs[:4]] == [A, B, A, B]
    for system, true_per_s in ((A, 50.0), (B, 5000.0)):
        met, missed = bracket([run for run in runs if run.cell.system == system], truth)
        assert met is not None and missed is not None and met <= true_per_s < missed


def test_one_repetition_that_does_not_meet_it_decides() -> None:
    experiment = asked(repetitions=3, offered_rates_per_s=(10.0, 10.5))

    def truth(run: PlannedRun) -> TrialAnswer:
        return (
            TrialAnswer.NOT_MET if (level_of(run), run.repetition) == (10.5, 2) else TrialAnswer.MET
        )

    runs = executed(experiment, planned(experiment), truth)
    assert sum(level_of(run) == 10.5 for run in runs) == 2
    assert sum(level_of(run) == 10.0 for run in runs) == CONFIRMED


def test_of_a_parameter_the_repetition_in_the_middle_decides() -> None:
    """One that was disturbed, in either direction, decides nothing."""
    condition = goals.goal("elapsed < 9s")
    seconds = {100: (3.0, 30.0, 4.0), 200: (8.0, 7.0, 20.0), 300: (12.0, 2.0, 14.0)}

    def read(run: PlannedRun) -> Trial:
        level = level_of(run, "tuples")
        took = seconds[int(level)][run.repetition - 1]
        answer = TrialAnswer.MET if took < 9 else TrialAnswer.NOT_MET
        return Trial(level, answer, "", took * 1e9, (), "tuples")

    experiment = asked(repetitions=3, goal_over="tuples")
    done = performed(experiment, of_sizes((100, 200, 300), 3), read)
    assert [level_of(run, "tuples") for run in done] == [200] * 3 + [300] * 3
    trials = [goals.joined_trial(list(map(read, done[at : at + 3])), condition) for at in (0, 3)]
    assert [trial.value for trial in trials] == [8e9, 12e9]
    so_far = goals.search_so_far(condition, trials)
    assert so_far.met == trials[0] and so_far.missed == trials[1]
    failed = structs.replace(trials[0], answer=TrialAnswer.FAILED)
    of_all = goals.joined_trial([trials[0], failed, trials[1]], condition)
    assert of_all.answer is TrialAnswer.FAILED


def test_what_cannot_be_judged_is_no_evidence_that_the_rate_can_be_had() -> None:
    experiment = asked(offered_rates_per_s=(10.0, 1000.0))
    runs = planned(experiment)

    def truth(run: PlannedRun) -> TrialAnswer:
        if level_of(run) < 50:
            return TrialAnswer.TOO_FEW
        return TrialAnswer.NOT_STEADY if level_of(run) > 200 else TrialAnswer.MET

    met, missed = bracket(executed(experiment, runs, truth), truth)
    assert met is not None and missed is not None and met <= 200 < missed
    assert len(executed(experiment, runs, lambda _: TrialAnswer.FAILED)) == 1


def test_the_highest_level_of_a_parameter_is_found_among_those_that_are_asked_for() -> None:
    """Each system has a search of its own; of ten sizes four are tried."""
    experiment = asked(goal_over="tuples")
    sizes = [10_000 * size for size in (1, 2, 5, 10, 20, 50, 100, 200, 500, 1000)]
    capacities = {A.name: 200_000, B.name: 5_000_000}

    def read(run: PlannedRun) -> Trial:
        level = level_of(run, "tuples")
        fits = level <= capacities[run.cell.system.name]
        answer = TrialAnswer.MET if fits else TrialAnswer.NOT_MET
        return Trial(level, answer, "", None, (), "tuples")

    done = performed(experiment, of_sizes(sizes, systems=(A, B)), read)
    for system, capacity_of in capacities.items():
        of_system = [run for run in done if run.cell.system.name == system]
        so_far = found(experiment, of_system, read)
        assert len(so_far.trials) <= 4
        assert [one.counted for one in so_far.ends] == [2] * len(so_far.ends)
        assert so_far.met is not None and so_far.met.level == capacity_of
        assert f"met up to tuples {capacity_of} (2 runs)" in so_far.words


def test_the_level_at_the_limit_lies_between_the_two_next_to_it() -> None:
    """A time that grows with the square of the size: 4 s at 200, 16 s at 400, so 9 s at 300."""

    def of(level: float, seconds: float, answer: TrialAnswer) -> Trial:
        return Trial(level, answer, "", seconds * 1e9, (), "tuples")

    condition = goals.goal("elapsed < 9s")
    met, missed = of(200, 4, TrialAnswer.MET), of(400, 16, TrialAnswer.NOT_MET)
    assert goals.search_so_far(condition, [missed, met]).at_limit == pytest.approx(300)
    for alone in (met, missed):
        assert goals.search_so_far(condition, [alone]).at_limit is None
    not_steady = of(400, 16, TrialAnswer.NOT_STEADY)
    assert goals.search_so_far(condition, [met, not_steady]).at_limit is None


def test_a_run_that_was_ended_early_missed_the_limit_and_has_no_number() -> None:
    condition = goals.goal("elapsed < 9s")
    found = goals.excess_of_goal(condition)
    assert found == (27e9, "elapsed time more than 27 s: ended, 3 times the limit")
    assert goals.excess_of_goal(goals.goal("p99 < 5ms")) is None
    run = Run(**invented.PLACE | {"state": "exceeded", "reason": found.reason})
    run = invented.of_cell(run, parameters={"tuples": 400})
    ended = goals.trial_of_run(run, condition, "tuples")
    met = Trial(200, TrialAnswer.MET, "", 4e9, (), "tuples")
    search = goals.search_so_far(condition, [met, ended])
    assert search.missed == ended and search.at_limit is None
    assert search.left([100, 300, 500]) == [300]
    assert search.words == (
        "met up to tuples 200 (elapsed time 4.00 s), not at tuples 400 (elapsed time more than "
        "27 s: ended, 3 times the limit)"
    )
    measured = structs.replace(ended, value=16e9)
    assert goals.joined_trial([measured, met, ended], condition).value == 16e9


@pytest.mark.parametrize(("seconds", "number"), [((None, None, 2.0), 2), ((None, 2.0, None), 3)])
def test_repetitions_that_cannot_change_the_one_in_the_middle_are_spared(
    seconds: tuple[float | None, ...], number: int
) -> None:
    """None: it was ended early."""

    def read(run: PlannedRun) -> Trial:
        took = seconds[run.position]
        answer = TrialAnswer.NOT_MET if took is None else TrialAnswer.MET
        value = UNREACHED if took is None else took * 1e9
        return Trial(100, answer, "", value, (), "tuples")

    experiment = asked(repetitions=3, goal_over="tuples")
    assert len(performed(experiment, of_sizes((100,), 3), read)) == number


def test_a_run_that_ends_the_search_is_named_first_with_its_reason() -> None:
    condition = goals.goal("elapsed < 9s")
    met = Trial(200, TrialAnswer.MET, "", 4e9, (), "tuples")
    why = "the server died" + " and more" * 40
    failed = Trial(400, TrialAnswer.FAILED, why, None, (), "tuples")
    words = goals.search_so_far(condition, [met, failed]).words
    assert words.startswith(
        "ended by the run at tuples 400, which was not measured (the server died and more and"
    )
    assert "…), met up to tuples 200 (elapsed time 4.00 s)" in words


def test_the_lower_percentiles_are_those_that_there_are() -> None:
    for name, lower in (
        ("latency_p99_ns[insert]", ["latency_p95_ns[insert]", "latency_p90_ns[insert]"]),
        ("latency_p99_9_ns", ["latency_p99_ns", "latency_p95_ns"]),
        ("deferred_wait_p99_ns", ["deferred_wait_p90_ns", "deferred_wait_p50_ns"]),
        ("staleness_p99_ns", ["staleness_p50_ns"]),
        ("throughput_per_s", []),
    ):
        found = catalogue.lower_percentiles(catalogue.metric(name))
        assert [one.name for one in found][:2] == lower


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


def assert_found(so_far: SearchSoFar, capacity_per_s: float) -> None:
    """What a queue of this capacity can have lies between the two ends."""
    assert so_far.met is not None and so_far.missed is not None
    assert so_far.met.level <= met_up_to(capacity_per_s) < so_far.missed.level


WIDE = asked(offered_rates_per_s=(100.0, 10_000.0))


@pytest.mark.slow
@pytest.mark.parametrize("noise", [0.02, 0.08])
def test_the_true_limit_lies_in_the_interval_of_a_noisy_search(noise: float) -> None:
    """By chance, one of some hundred ends next to it."""
    beyond = 0
    for search in range(40):
        capacity_per_s = random.Random(f"{search} {noise}").uniform(300, 3000)

        def read(run: PlannedRun, search: int = search, capacity: float = capacity_per_s) -> Trial:
            chance = random.Random(f"{noise} {search} {level_of(run)} {run.repetition}")
            value = p99(capacity * chance.lognormvariate(0, noise))
            return trial(level_of(run), value(level_of(run)))

        so_far = found(WIDE, performed(WIDE, planned(WIDE), read), read)
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
        return trial(level_of(run), 50e6 if is_first else p99(6250)(level_of(run)))

    assert_found(found(experiment, performed(experiment, planned(experiment), read), read), 6250)


def test_a_disturbed_trial_is_measured_again_until_it_is_not() -> None:
    """Other programs come twice, for some runs."""
    taken: list[int] = []

    def read(run: PlannedRun) -> Trial:
        if run.position not in taken:
            taken.append(run.position)
        if taken.index(run.position) in (0, 1, 6):
            return trial(level_of(run), 900e6, others=0.73)
        return trial(level_of(run), p99(1000)(level_of(run)))

    done = performed(WIDE, planned(WIDE), read)
    assert [level_of(run) for run in done[:3]] == [level_of(done[0])] * 3
    assert [run.in_place_of for run in done[:3]] == [None, 1, 1]
    assert done[0].seed == done[2].seed
    so_far = found(WIDE, done, read)
    assert so_far.not_decided == ""
    assert_found(so_far, 1000)


def test_what_stays_disturbed_is_repeated_three_times_and_decides_nothing() -> None:
    def read(run: PlannedRun) -> Trial:
        return trial(level_of(run), 900e6, others=0.73)

    done = performed(WIDE, planned(WIDE), read)
    again = Counter(level_of(run) for run in done if run.in_place_of)
    assert again == dict.fromkeys(map(level_of, done), MOST_IN_PLACE)
    so_far = found(WIDE, done, read)
    assert so_far.words == "not decided: other programs used 73 % of the CPUs at 100/s"
    assert (so_far.highest, so_far.others) == (None, 0.73)
    once = performed(WIDE, planned(WIDE), read, repeats=False)
    assert not any(run.in_place_of for run in once)
    assert found(WIDE, once, read).not_decided

    def at_the_end(run: PlannedRun) -> Trial:
        """Other programs begin when the search is nearly over: an end cannot be confirmed."""
        others = 0.3 if run.repetition > 1 else 0.0
        return trial(level_of(run), p99(1000)(level_of(run)), others)

    done = performed(WIDE, planned(WIDE), at_the_end)
    assert sum(run.in_place_of is not None for run in done) <= 2 * MOST_IN_PLACE
    said = found(WIDE, done, at_the_end).words
    assert said.startswith("not decided: other programs used 30 % of the CPUs at ")


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
    made = structs.replace(trial(rate, value_ns), **changes)  # type: ignore[arg-type]
    return goals.joined_trial([made], goals.goal("p99 < 5ms"))


def words(*trials: Trial) -> str:
    return goals.search_so_far(goals.goal("p99 < 5ms"), trials).words


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


def test_how_fast_work_is_done_is_decided_beside_others_where_they_explain_no_difference(
    tmp_path: Path,
) -> None:
    """They used 30 % of the CPUs, which explains a factor of 2."""
    plan = invented.plan([invented.SQLITE], parameters={"scale": 10})
    for seconds, is_decided in ((4.0, True), (8.9, True), (9.1, False), (20.0, True)):
        record = invented.experiment(tmp_path / f"{seconds}.sqlite", plan, seconds)
        run = invented.disturbed(record.runs[0], 0.3)
        shown = goals.trial_of_run(run, goals.goal("elapsed < 9s"), "scale")
        assert shown.is_disturbed is not is_decided
        latency = goals.trial_of_run(run, goals.goal("p99 < 1us"), "scale")
        assert latency.is_disturbed, "how long one waits behind them has no bound"
