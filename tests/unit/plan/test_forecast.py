"""What further runs take is learned from those of the same cell; where it is not known, a lower
bound is given, never a guess from other cells."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest

from assay.contracts.events import Event, RunBegun, TimeNeeded
from assay.experiment.from_command_line import Words, experiment
from assay.lab import lab
from assay.lab.continuation import Request
from assay.plan import Plan, plan
from assay.plan.forecast import CellTimes, Forecast


def planned(tmp_path: Path, **words: object) -> Plan:
    script = tmp_path / "one.sql"
    script.write_text("select 1;\n")
    asked, workload = experiment(Words(str(script), on=("null",), **words))  # type: ignore[arg-type]
    return plan(asked, workload)


def times(first_s: float | None, later_s: float | None = None, driven_s: float = 0.0) -> CellTimes:
    return CellTimes(first_s, later_s, driven_s)


def test_runs_that_end_by_counts_take_what_others_of_their_own_cell_took(tmp_path: Path) -> None:
    runs = planned(tmp_path, clients="1,32", transactions=10, repetitions=2).runs
    one, many = (run.cell.fingerprint for run in runs[:2])
    forecast = Forecast(runs)
    assert forecast.runs(runs) == TimeNeeded(0.0, is_known=False)
    forecast.learn({one: times(100.0, driven_s=90.0)})
    # 100 s say nothing of 32 clients; whether the second repetition loads again is not known.
    assert forecast.runs(runs[1:]) == TimeNeeded(90.0, is_known=False)
    forecast.learn({one: times(100.0, 91.0), many: times(3.0, 2.0)})
    assert forecast.runs(runs[2:]) == TimeNeeded(93.0, is_known=True)
    assert forecast.runs(runs) == TimeNeeded(196.0, is_known=True)
    assert forecast.runs([]) == TimeNeeded(0.0, is_known=True)


def test_runs_that_end_by_time_take_as_much_besides_as_others_of_the_test(tmp_path: Path) -> None:
    runs = planned(tmp_path, clients="1,2,4", duration_s=30.0).runs
    forecast = Forecast(runs)
    assert forecast.runs(runs) == TimeNeeded(90.0, is_known=False)
    forecast.learn({runs[0].cell.fingerprint: times(50.0)})
    assert forecast.runs(runs[1:]) == TimeNeeded(100.0, is_known=True)


def test_one_run_that_took_much_longer_does_not_count_besides(tmp_path: Path) -> None:
    """The median of an odd and of an even number of cells."""
    runs = planned(tmp_path, clients="1,2,4,8,16", duration_s=30.0).runs
    forecast = Forecast(runs)
    for run, whole_s in zip(runs, (40.0, 90.0, 50.0), strict=False):
        forecast.learn({run.cell.fingerprint: times(whole_s)})
    assert forecast.runs(runs[4:]) == TimeNeeded(50.0, is_known=True)
    forecast.learn({runs[3].cell.fingerprint: times(60.0)})
    assert forecast.runs(runs[4:]) == TimeNeeded(55.0, is_known=True)


class Expected:
    """Keeps what each run was expected to take; ends the experiment before a run."""

    def __init__(self, ends_before: int | None = None) -> None:
        self.needed: list[tuple[int, TimeNeeded, TimeNeeded]] = []
        self._ends_before = ends_before

    def __call__(self, event: Event) -> None:
        if not isinstance(event, RunBegun):
            return
        if event.position == self._ends_before:
            raise KeyboardInterrupt
        self.needed.append((event.position, event.own, event.after))


def test_an_experiment_that_goes_on_counts_the_runs_to_do_and_learns_from_those_kept(
    tmp_path: Path,
) -> None:
    """With invented durations: a run of one client took 1000 s, one of two clients 10 s."""
    script, records = tmp_path / "one.sql", tmp_path / "r.sqlite"
    script.write_text("select 1;\n")
    words = Words(str(script), on=("null",), clients="1,2", repetitions=3, transactions=5)
    asked, _ = experiment(words)
    request = Request({"file": "one"})
    with pytest.raises(KeyboardInterrupt):
        lab.run(asked, records=records, sinks=[Expected(ends_before=4)], request=request)
    invent = (
        "UPDATE runs SET ended_unix_ns = begun_unix_ns + 1000000000 * iif(clients = 1, 1000, 10)"
    )
    with sqlite3.connect(records) as connection:
        connection.execute(f"{invent} WHERE state = 'done'")
    connection.close()
    expected = Expected()
    lab.run(asked, records=records, sinks=[expected], request=request)
    assert expected.needed[0] == (4, TimeNeeded(1000.0, True), TimeNeeded(10.0, True))
    assert [position for position, *_ in expected.needed] == [4, 5]
    assert expected.needed[1][1:] == (TimeNeeded(10.0, True), TimeNeeded(0.0, True))
