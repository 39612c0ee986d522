"""Repetitions that other programs disturbed are measured again, and no others."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import pytest

import invented_records as invented
from assay.lab.repetitions import Repeating, Repetition
from assay.plan import Plan, PlannedRun
from simulated_runs import SimulatedRuns

A, B = invented.POSTGRESQL, invented.SQLITE
Truth = Callable[[PlannedRun], bool]


def executed(
    plan: Plan,
    is_disturbed: Truth,
    earlier: Sequence[PlannedRun] = (),
    *,
    repeats: bool = True,
) -> list[PlannedRun]:
    """The runs that take place after ``earlier`` ones."""
    gone = {run.position for run in earlier}
    left = [run for run in plan.runs if run.position not in gone]
    simulated = SimulatedRuns([*plan.runs, *earlier])
    repeating = Repeating(
        plan.experiment,
        [*earlier, *left],
        lambda position: Repetition(1.0, 1.0, 1.0, is_disturbed(simulated.runs[position])),
        lambda _: None,
        simulated.in_place_of if repeats else None,
    )
    return list(repeating.needed(left, earlier))


def shown(runs: Sequence[PlannedRun]) -> str:
    """``A1 B1 A2' B2``: with a mark for each time that it was measured again."""
    words = []
    for run in runs:
        name = "A" if run.cell.system == A else "B"
        mark = "" if run.in_place_of is None else "'"
        words.append(f"{name}{run.in_place_of or run.repetition}{mark}")
    return " ".join(words)


def disturbed(*named: str) -> Truth:
    return lambda run: shown([run]) in named


def test_a_disturbed_repetition_is_measured_again_beside_its_partner() -> None:
    plan = invented.plan([A, B], repetitions=3)
    truth = disturbed("A2", "B3")
    done = executed(plan, truth)
    assert shown(done) == "A1 B1 A2 A2' B2 A3 B3 B3'"
    first, second = done[2:4]
    assert second.seed == first.seed, "it does the same work"
    assert second.repetition == 4, "and no two runs of a cell have one number"
    assert shown(executed(plan, truth, repeats=False)) == "A1 B1 A2 B2 A3 B3"


def test_no_more_runs_are_added_than_were_planned() -> None:
    plan = invented.plan([A], repetitions=10)
    assert len(executed(plan, lambda _: True)) == 20
    of_a_phase = executed(plan, lambda run: run.repetition in (4, 11, 12))
    assert shown(of_a_phase) == "A1 A2 A3 A4 A4' A4' A4' A5 A6 A7 A8 A9 A10"


def test_one_run_and_repetitions_as_needed_are_not_measured_again() -> None:
    assert len(executed(invented.plan([A]), lambda _: True)) == 1
    plan = invented.plan([A], repetitions=30)
    precise = replace(plan.experiment, repetitions=1, precision=0.05)
    done = executed(replace(plan, experiment=precise), lambda _: True)
    assert len(done) == 3


@pytest.mark.parametrize("ended", range(9))
def test_an_experiment_that_is_continued_measures_the_same_again(ended: int) -> None:
    plan = invented.plan([A, B], repetitions=3)
    truth = disturbed("A1", "A2", "A2'", "B3")
    whole = executed(plan, truth)
    assert shown(whole) == "A1 A1' B1 A2 A2' B2 A3 B3 B3'"
    earlier = sorted(whole[:ended], key=lambda run: run.position)
    assert shown(executed(plan, truth, earlier)) == shown(whole[ended:])
