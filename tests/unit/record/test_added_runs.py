"""Runs that were added to the plan of an experiment stay when another process goes on with it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from test_continued_experiment import PLAN, begin, go_on, killed, signed

import invented_records as invented
from assay.plan import PlannedRun, layout
from assay.record import Store


def in_place_of(store: Store, run: PlannedRun) -> PlannedRun:
    return store.plan_again(
        lambda position: replace(layout.in_place(run, 3, position), content=f"{run.content} again")
    )


def test_an_added_run_that_has_ended_is_kept_and_another_one_is_forgotten(tmp_path: Path) -> None:
    path = tmp_path / "records.sqlite"
    with killed(path) as store:
        begin(store)
        first, second = PLAN.runs[:2]
        invented.write_run(store, first, invented.S)
        again = in_place_of(store, first)
        assert (again.position, again.seed) == (len(PLAN.runs), first.seed)
        invented.write_run(store, again, 2 * invented.S)
        invented.write_run(store, second, invented.S)
        in_place_of(store, second)
    with killed(path) as store:
        continued = go_on(store)
        assert continued is not None
        assert continued.added == (again,)
        assert set(continued.kept) == {0, 1, again.position}
        assert continued.superseded == 0
        further = store.plan_again(lambda position: layout.further(second, 1, 4, position))
        assert further.position == again.position + 1
        assert further.seed not in {run.seed for run in PLAN.runs}
    with Store(path) as store:
        found = {run.position: run for run in store.latest().runs}
        kept = found[again.position]
        assert (kept.in_place_of, kept.repetition, kept.of_repetition) == (1, 3, 1)
        changed = signed(PLAN, "changed ")
        only_first = replace(changed, runs=(PLAN.runs[0], *changed.runs[1:]))
        again_later = go_on(store, only_first)
        assert again_later is not None
        assert again_later.added == (again,), "its cell has a run that counts"
    with Store(path, must_exist=True) as store:
        assert len(store.latest().runs) == len(PLAN.runs) + 1


def test_runs_that_two_experiments_add_at_once_stay_apart(tmp_path: Path) -> None:
    """Each keeps a copy of its own, in case the record is lost: with the numbers of the record."""
    path = tmp_path / "records.sqlite"
    with Store(path) as first, Store(path) as second:
        begin(first)
        begin(second)
        for store in (second, first):
            invented.write_run(store, in_place_of(store, PLAN.runs[0]), invented.S)
        (tmp_path / "moved").mkdir()
        path.rename(tmp_path / "moved" / path.name)
        invented.write_run(first, PLAN.runs[1], invented.S)
