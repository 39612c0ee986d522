"""Repetitions are added until a cell is precise enough, or the budget has passed."""

from __future__ import annotations

import random
import statistics
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from test_continued_experiment import begin, go_on, killed, signed

import invented_records as invented
from assay.experiment import Driving
from assay.judge.statistics.samples import half_width_of_mean, is_precise, number_to_be_precise
from assay.lab.repetitions import Repeating, Repetition
from assay.plan import Plan, PlannedRun
from assay.record import Run, Store

QUIET, NOISY, BROKEN = invented.POSTGRESQL, invented.SQLITE, invented.MARIADB
RUN_S = 10.0
OPEN = Driving(duration_s=2.0, arrival="constant", offered_rate_per_s=100.0)


def planned(precision: float | None = 0.05, budget_s: float | None = None) -> Plan:
    found = invented.plan([QUIET, NOISY, BROKEN], repetitions=30)
    asked = replace(found.experiment, repetitions=1, precision=precision, budget_s=budget_s)
    return replace(found, experiment=asked)


def number(run: PlannedRun) -> float | None:
    """Always the same for the same run; the noisy cell varies by half, one broken run fails."""
    chance = random.Random(f"{run.cell.system.name} {run.repetition}")
    if run.cell.system == BROKEN and run.repetition == 2:
        return None
    return chance.gauss(100, 50 if run.cell.system == NOISY else 1)


def executed(
    plan: Plan, earlier: Sequence[PlannedRun] = (), most: int = 10_000
) -> tuple[list[PlannedRun], str]:
    """The runs that take place, each of `RUN_S` seconds, and what is said of the budget."""
    now = [0.0]
    gone = {run.position for run in earlier}
    runs = [run for run in plan.runs if run.position not in gone]

    def read(position: int) -> Repetition:
        return Repetition(number(plan.runs[position]), RUN_S, RUN_S)

    spared: list[PlannedRun] = []
    repeating = Repeating(
        plan.experiment, plan.runs, read, lambda more: spared.extend(more), clock=lambda: now[0]
    )
    done: list[PlannedRun] = []
    for run in repeating.needed(runs, earlier):
        if len(done) == most:
            break
        done.append(run)
        now[0] += RUN_S
    if most == 10_000:
        positions = {run.position for run in (*done, *earlier, *spared)}
        assert positions == {run.position for run in plan.runs}, "each run or spared, none twice"
        assert len(positions) == len(done) + len(earlier) + len(spared)
    return done, repeating.too_short_budget()


def times(runs: Sequence[PlannedRun], system: object) -> int:
    return sum(run.cell.system == system for run in runs)


def test_each_cell_ends_by_itself_and_the_order_stays() -> None:
    done, _ = executed(planned())
    assert 3 <= times(done, QUIET) <= 4
    assert times(done, NOISY) == 30
    assert times(done, BROKEN) == 3, "what fails is not repeated for its precision"
    assert done == sorted(done, key=lambda run: run.position)


def test_the_budget_ends_all_cells() -> None:
    done, said = executed(planned(precision=None, budget_s=8.5 * RUN_S))
    assert [times(done, one) for one in (QUIET, NOISY, BROKEN)] == [3, 3, 2]
    assert len(done) * RUN_S <= 8.5 * RUN_S
    assert said == ""


def test_a_budget_shorter_than_a_run_gives_each_cell_one_and_says_so() -> None:
    done, said = executed(planned(budget_s=1))
    assert [times(done, one) for one in (QUIET, NOISY, BROKEN)] == [1, 1, 1]
    assert said == "the budget of 1 s was too short: to run each cell once took 30 s"


@pytest.mark.parametrize("budget_s", [None, 20 * RUN_S])
def test_an_experiment_goes_on_as_if_it_had_not_been_interrupted(budget_s: float | None) -> None:
    plan = planned(budget_s=budget_s)
    whole, _ = executed(plan)
    for ended in range(len(whole)):
        before, _ = executed(plan, most=ended)
        after, _ = executed(plan, before)
        assert [*before, *after] == whole, ended


def _ends(draw: Callable[[], float], asked: float) -> list[float]:
    numbers: list[float] = []
    while len(numbers) < 30 and not (len(numbers) >= 3 and is_precise(numbers, asked)):
        numbers.append(draw())
    return numbers


@pytest.mark.slow
def test_looking_after_every_repetition_does_not_make_the_interval_wrong() -> None:
    """Of cells that ended as precise enough, the true mean is within the asked share."""
    chance = random.Random(2026)
    for deviation, least in ((3, 0.97), (8, 0.93)):
        ended = [_ends(lambda: chance.gauss(100, deviation), 0.05) for _ in range(400)]  # noqa: B023
        right = [abs(statistics.fmean(one) - 100) <= 5 for one in ended if is_precise(one, 0.05)]
        assert len(right) > 390
        assert sum(right) / len(right) >= least


def test_the_half_width_is_that_of_students_t() -> None:
    # t(0.975, 2) = 4.303; the standard deviation is 1.
    assert half_width_of_mean([9, 10, 11]) == pytest.approx(4.303 / 3**0.5 / 10, rel=1e-3)
    assert half_width_of_mean([10]) is None and half_width_of_mean([]) is None


def test_a_spared_run_is_no_part_of_the_experiment_and_comes_back_if_it_goes_on(
    tmp_path: Path,
) -> None:
    path = tmp_path / "records.sqlite"
    plan = signed(invented.plan([QUIET, NOISY], repetitions=4))
    with killed(path) as store:
        begin(store, plan)
        for run in plan.runs[:4]:
            invented.write_run(store, run, 5 * invented.S)
        assert store.taken(3).elapsed_s >= 0
        store.spare([4, 6])
        found = store.latest()
        assert len(found.runs) == 6 and found.is_unfinished
        assert found.cells[plan.runs[0].cell.fingerprint, ""].verdict.word
        kept = found.cells[plan.runs[0].cell.fingerprint, ""]
        assert (kept.repetitions, kept.measured) == (2, 2)
    with Store(path) as store:
        continued = go_on(store, plan)
        assert continued is not None and set(continued.kept) == {0, 1, 2, 3}
        store.spare([4, 5, 6, 7])
        store.end_experiment()
    with Store(path, must_exist=True) as store:
        found = store.latest()
        assert len(found.runs) == 4 and not found.is_unfinished
    with Store(path) as store:
        assert go_on(store, plan) is None, "it is finished"


def test_an_open_loop_is_precise_when_its_latency_is(tmp_path: Path) -> None:
    """Its throughput is what was offered, and never varies."""
    for driving, varies in ((Driving(passes=1), False), (OPEN, True)):
        planned_runs = invented.plan([QUIET], repetitions=2, driving=[driving])
        found = invented.experiment(tmp_path / f"{varies}.sqlite", planned_runs, 2.0)
        slower = invented.changed(found.runs[1], "observation", all_ok=_twice(found.runs[1]))
        numbers = [number_to_be_precise(run) for run in (found.runs[0], slower)]
        assert (numbers[0] != numbers[1]) is varies


def _twice(run: Run) -> dict[str, Any]:
    assert run.driven is not None
    all_ok: dict[str, Any] = run.driven.document["all_ok"]
    mean_ns = all_ok["latency"]["mean_ns"]
    return {**all_ok, "latency": {**all_ok["latency"], "mean_ns": 2 * mean_ns}}
