"""Repetitions that other programs disturbed are measured again, and no others."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import count

import pytest

import invented_records as invented
from assay.lab.repetitions import Repeating, Repetition
from assay.plan import Plan, PlannedRun, again

A, B = invented.POSTGRESQL, invented.SQLITE
Truth = Callable[[PlannedRun], bool]


class Simulated:
    """An experiment whose runs are disturbed where ``truth`` says so."""

    def __init__(self, plan: Plan, truth: Truth) -> None:
        self.plan, self._truth = plan, truth
        self.runs = {run.position: run for run in plan.runs}
        self._positions = count(len(plan.runs))

    def executed(
        self, earlier: Sequence[PlannedRun] = (), most: int = 1000, *, repeats: bool = True
    ) -> list[PlannedRun]:
        gone = {run.position for run in earlier}
        for run in earlier:
            self.runs[run.position] = run
        self._positions = count(max(self.runs) + 1)
        left = [run for run in self.plan.runs if run.position not in gone]
        repeating = Repeating(
            self.plan.experiment,
            [*earlier, *left],
            lambda position: Repetition(1.0, 1.0, 1.0, self._truth(self.runs[position])),
            lambda _: None,
            self._in_place_of if repeats else None,
        )
        done: list[PlannedRun] = []
        for run in repeating.needed(left, earlier):
            if len(done) == most:
                break
            done.append(run)
        return done

    def _in_place_of(self, run: PlannedRun) -> PlannedRun:
        of_cell = [one for one in self.runs.values() if one.cell == run.cell]
        repetition = 1 + max(one.repetition for one in of_cell)
        found = again.in_place(run, repetition, next(self._positions))
        self.runs[found.position] = found
        return found


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
    simulated = Simulated(plan, disturbed("A2", "B3"))
    done = simulated.executed()
    assert shown(done) == "A1 B1 A2 A2' B2 A3 B3 B3'"
    first, second = done[2:4]
    assert second.seed == first.seed, "it does the same work"
    assert second.repetition == 4, "and no two runs of a cell have one number"
    assert shown(simulated.executed(repeats=False)) == "A1 B1 A2 B2 A3 B3"


def test_no_more_runs_are_added_than_were_planned() -> None:
    plan = invented.plan([A], repetitions=10)
    assert len(Simulated(plan, lambda _: True).executed()) == 20
    of_a_phase = Simulated(plan, lambda run: run.repetition in (4, *range(11, 13)))
    assert shown(of_a_phase.executed()) == "A1 A2 A3 A4 A4' A4' A4' A5 A6 A7 A8 A9 A10"


def test_one_run_and_repetitions_as_needed_are_not_measured_again() -> None:
    assert len(Simulated(invented.plan([A]), lambda _: True).executed()) == 1
    plan = invented.plan([A], repetitions=30)
    precise = replace(plan.experiment, repetitions=1, precision=0.05)
    done = Simulated(replace(plan, experiment=precise), lambda _: True).executed()
    assert len(done) == 3


@pytest.mark.parametrize("ended", range(9))
def test_an_experiment_that_is_continued_measures_the_same_again(ended: int) -> None:
    plan = invented.plan([A, B], repetitions=3)
    truth = disturbed("A1", "A2", "A2'", "B3")
    whole = Simulated(plan, truth).executed()
    assert shown(whole) == "A1 A1' B1 A2 A2' B2 A3 B3 B3'"
    earlier = sorted(whole[:ended], key=lambda run: run.position)
    assert shown(Simulated(plan, truth).executed(earlier)) == shown(whole[ended:])
