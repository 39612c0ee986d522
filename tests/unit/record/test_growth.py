"""What is done for each run of a long experiment does not grow with the number of its runs: counted
calls, since times belong to the machine."""

from __future__ import annotations

import gc
import io
import sqlite3
import statistics
import sys
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

import invented_records as invented
from assay.cli.output.report_output import said_meanwhile, without_garbage_collection
from assay.contracts.events import Event, RunBegun
from assay.experiment.from_command_line import Words, experiment
from assay.lab import lab, pool
from assay.load.dataset import Dataset, SameData
from assay.load.row_sources.protocol import DataRequest
from assay.plan import PlannedRun
from assay.record import Store, merging
from assay.record.merging import judge_cell
from assay.record.runs import reading
from assay.report.build import build
from assay.report.cell_runs import CellRuns
from assay.report.forms import table

pytestmark = pytest.mark.slow

_THROUGH_THE_STORE = 4
"""Runs of the first experiment that are not copies; their times differ."""


def large_experiment(path: Path, *, cells: int = 1, repetitions: int = 1) -> int:
    """An experiment of so many cells, each with so many ended runs; returns its number."""
    planned = invented.plan(
        [invented.POSTGRESQL], clients=range(1, cells + 1), repetitions=repetitions
    )
    with invented.at_once(path) as store:
        number = invented.begin(store, planned)
        templates = [
            invented.write_run(store, run, (10 + place) * invented.S)
            for place, run in enumerate(planned.runs[:_THROUGH_THE_STORE])
        ]
        store.end_experiment()
    connection = sqlite3.connect(path)
    with connection:
        rest = connection.execute(
            "SELECT id FROM runs WHERE experiment_id = ? AND state = 'planned' ORDER BY position",
            (number,),
        ).fetchall()
        for place, (run_id,) in enumerate(rest):
            _copy_run(connection, templates[place % len(templates)], run_id)
        _judge(connection, number)
    connection.close()
    return number


def large_experiments(path: Path, count: int) -> None:
    """A record of ``count`` experiments, of one run each, begun one after the other."""
    first = large_experiment(path)
    connection = sqlite3.connect(path)
    with connection:
        (template,) = connection.execute(
            "SELECT id FROM runs WHERE experiment_id = ?", (first,)
        ).fetchone()
        for place in range(1, count):
            number = _copy_row(connection, "experiments", first, begun_unix_ns=place)
            run_id = _copy_row(connection, "runs", template, experiment_id=number)
            _copy_run(connection, template, run_id)
            connection.execute(
                "INSERT INTO cells SELECT ?, " + _columns(connection, "cells", "experiment_id")
                + " FROM cells WHERE experiment_id = ?",
                (number, first),
            )  # fmt: skip
    connection.close()


def _copy_row(connection: sqlite3.Connection, table: str, number: int, **changes: int) -> int:
    names = _columns(connection, table, "id", *changes)
    cursor = connection.execute(
        f"INSERT INTO {table} ({', '.join(changes)}, {names}) "
        f"SELECT {', '.join('?' * len(changes))}, {names} FROM {table} WHERE id = ?",
        (*changes.values(), number),
    )
    return int(cursor.lastrowid or 0)


def _copy_run(connection: sqlite3.Connection, template: int, run_id: int) -> None:
    """All that is kept of the run ``template`` is also of the other one, and how it ended."""
    for kept in reading.tables_of_runs(connection):
        names = _columns(connection, kept, "id", "run_id")
        connection.execute(
            f"INSERT INTO {kept} (run_id, {names}) SELECT ?, {names} FROM {kept} WHERE run_id = ?",
            (run_id, template),
        )
    connection.execute(
        "UPDATE runs SET (state, reason, verdict, verdict_reason, begun_unix_ns, ended_unix_ns) = "
        "(SELECT state, reason, verdict, verdict_reason, begun_unix_ns, ended_unix_ns FROM runs "
        "WHERE id = ?) WHERE id = ?",
        (template, run_id),
    )


def _judge(connection: sqlite3.Connection, number: int) -> None:
    """Keeps the verdicts of its cells."""
    question = "SELECT min(id) FROM runs WHERE experiment_id = ? GROUP BY cell_fingerprint"
    for (run_id,) in connection.execute(question, (number,)).fetchall():
        judge_cell(connection, run_id)


def _columns(connection: sqlite3.Connection, table: str, *without: str) -> str:
    found = connection.execute(f"SELECT name FROM pragma_table_info('{table}')").fetchall()
    return ", ".join(name for (name,) in found if name not in without)


def counted(monkeypatch: pytest.MonkeyPatch, place: Any, name: str) -> Counter[str]:
    """Counts the calls of what stands there under that name."""
    calls: Counter[str] = Counter()
    real: Callable[..., Any] = getattr(place, name)

    def call(*values: Any, **named: Any) -> Any:
        calls[name] += 1
        return real(*values, **named)

    monkeypatch.setattr(place, name, call)
    return calls


@pytest.mark.parametrize("is_of_one_cell", [True, False])
def test_a_report_of_four_times_as_many_runs_is_four_times_the_work(
    is_of_one_cell: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    read = counted(monkeypatch, CellRuns, "level")
    calls = []
    for runs in (30, 120):
        path = tmp_path / f"{runs}.sqlite"
        each = {"repetitions": runs} if is_of_one_cell else {"cells": runs}
        large_experiment(path, **each)
        read.clear()
        with Store(path, must_exist=True) as store:
            record = store.latest()
        table.render(build(record), io.StringIO())
        calls.append(read["level"])
    few, many = calls
    assert many <= 4.5 * few


def test_the_runs_of_an_experiment_are_read_with_as_many_questions_as_one(tmp_path: Path) -> None:
    asked = []
    for runs in (1, 60):
        path = tmp_path / f"{runs}.sqlite"
        number = large_experiment(path, cells=runs)
        with sqlite3.connect(path) as connection:
            questions: list[str] = []
            connection.set_trace_callback(questions.append)
            assert len(reading.experiment(connection, path, number).runs) == runs
        connection.close()
        asked.append(len(questions))
    assert asked[0] == asked[1]


def test_rows_for_programs_are_made_only_for_forms_that_show_them(tmp_path: Path) -> None:
    path = tmp_path / "r.sqlite"
    large_experiment(path, repetitions=3)
    with Store(path, must_exist=True) as store:
        report = build(store.latest())
    tables = report.tidy["tables"]
    table.render(report, io.StringIO())
    assert not tables.made
    assert len(tables["runs"]) == 3
    assert tables.made == {"runs"}


def test_a_row_about_one_run_names_that_run_alone(tmp_path: Path) -> None:
    """Else a table of n runs holds n times n numbers."""
    path = tmp_path / "r.sqlite"
    large_experiment(path, repetitions=5)
    with Store(path, must_exist=True) as store:
        report = build(store.latest())
    tables = [one for section in report.sections for one in section.tables]
    of_each = [one for one in tables if len(one.rows) == 5]
    assert {"Each run", "Transactions per client, and in flight at the end"} <= {
        one.title for one in of_each
    }
    for one in of_each:
        named = [{run for cell in row.cells for run in cell.runs} for row in one.rows]
        assert [len(runs) for runs in named] == [1] * 5, one.title


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_a_terminal_shows_that_the_report_is_made_and_a_file_does_not(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for stream, shown in ((Terminal(), "making\r\x1b[K"), (io.StringIO(), "")):
        monkeypatch.setattr(sys, "stderr", stream)
        with said_meanwhile("making"):
            pass
        assert stream.getvalue() == shown


def test_a_merge_looks_at_each_experiment_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """SQLite's own steps are counted: a query that scans all runs is one call."""
    steps = []
    real = merging._merged

    def merged(source: sqlite3.Connection, target: sqlite3.Connection, progress: Any) -> Any:
        def count() -> int:
            steps[-1] += 1
            return 0

        target.set_progress_handler(count, 100)
        return real(source, target, progress)

    monkeypatch.setattr(merging, "_merged", merged)
    for experiments in (40, 160):
        source = tmp_path / f"{experiments}.sqlite"
        large_experiments(source, experiments)
        steps.append(0)
        said: list[tuple[str, int, int]] = []
        merging.merge(
            source,
            tmp_path / f"into-{experiments}.sqlite",
            waiting=print,
            progress=lambda *now, said=said: said.append(now),
        )
        assert said[-1] == ("adding", experiments, experiments)
    assert steps[1] <= 4.8 * steps[0]


def test_a_merge_that_is_stopped_leaves_the_record_as_it_was(tmp_path: Path) -> None:
    source, target = tmp_path / "source.sqlite", tmp_path / "target.sqlite"
    large_experiments(source, 6)
    large_experiment(target, repetitions=2)
    with Store(target, must_exist=True) as store:
        before = [one.identity for one in store.runs()]

    def stop(doing: str, number: int, _: int) -> None:
        if (doing, number) == ("adding", 4):
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        merging.merge(source, target, waiting=print, progress=stop)
    with Store(target, must_exist=True) as store:
        assert [one.identity for one in store.runs()] == before
    assert merging.merge(source, target, waiting=print).runs == 6


def test_a_run_does_not_look_at_all_runs_behind_it(monkeypatch: pytest.MonkeyPatch) -> None:
    planned = invented.plan([invented.POSTGRESQL, invented.MARIADB], repetitions=100)
    placed = counted(monkeypatch, pool, "place_of")
    made = pool.Pool(planned)
    for run in planned.runs:
        made.release(run)
    assert placed["place_of"] <= 4 * len(planned.runs)


def test_data_are_wanted_again_by_a_run_behind_one_that_changes_them() -> None:
    planned = invented.plan([invented.POSTGRESQL, invented.MARIADB], repetitions=5)
    of_one = planned.runs[::2]
    asked: Counter[int] = Counter()

    def may_change(run: PlannedRun) -> bool:
        asked[run.position] += 1
        return run in changing

    def wanted(
        made: pool.Pool, refused: Sequence[PlannedRun] = (), order: Sequence[PlannedRun] = of_one
    ) -> list[bool]:
        answers = []
        for run in order:
            answers.append(made.needs_data_again(run, lambda one: one not in refused, may_change))
            made.release(run)
        return answers

    changing: Sequence[PlannedRun] = planned.runs
    assert wanted(pool.Pool(planned)) == [True] * 4 + [False]
    backwards = wanted(pool.Pool(planned), order=of_one[::-1])
    assert backwards == [True] * 4 + [False], "whatever the order, as with a goal"
    asked.clear()
    assert wanted(pool.Pool(planned)) == [True] * 4 + [False]
    assert max(asked.values()) == 1, "not once for each run before it"
    assert wanted(pool.Pool(planned), refused=of_one[3:]) == [True] * 2 + [False] * 3
    changing = [of_one[2], of_one[4], planned.runs[7]]
    assert wanted(pool.Pool(planned)) == [True] * 3 + [False] * 2
    made = pool.Pool(planned)
    made.spare(of_one[3:])
    assert wanted(made) == [False] * 5, "nothing is left behind the only one that changes them"
    changing = [of_one[0]]
    made = pool.Pool(planned)
    made.spare(of_one[1:])
    assert wanted(made) == [False] * 5


class Counting:
    """Counts the calls of each run behind the ``first`` ones; theirs stay 0."""

    def __init__(self, first: int) -> None:
        self._first = first
        self.of_runs: list[int] = []

    def __call__(self, event: Event) -> None:
        if isinstance(event, RunBegun):
            self.of_runs.append(0)
            if len(self.of_runs) > self._first:
                sys.setprofile(self._count)  # a call takes several times as long then

    def _count(self, _frame: Any, event: str, _: Any) -> None:
        if event in ("call", "c_call"):
            self.of_runs[-1] += 1


def test_what_is_done_between_two_runs_does_not_grow_with_their_number(tmp_path: Path) -> None:
    """All calls are counted, from the beginning of a run to that of the next."""
    script = tmp_path / "one.sql"
    script.write_text("select 1;\n")
    between = []
    for repetitions in (10, 80):
        asked, _ = experiment(
            Words(str(script), on=("null",), repetitions=repetitions, transactions=1)
        )
        progress = Counting(repetitions - 8)
        try:
            lab.run(asked, records=tmp_path / f"{repetitions}.sqlite", sinks=[progress])
        finally:
            sys.setprofile(None)
        assert len(progress.of_runs) == repetitions
        between.append(statistics.median(progress.of_runs[-8:-1]))
    assert 1000 < between[1] <= 1.1 * between[0]


def test_data_are_compared_with_the_first_that_were_loaded_alike_and_not_with_all(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    keys: Counter[str] = Counter()

    def key(request: DataRequest) -> str:
        keys["asked"] += 1
        return request.fingerprint

    monkeypatch.setattr(DataRequest, "key", property(key))
    same = SameData()

    def loaded(label: str, fingerprint: str = "f", **rows: int) -> str | None:
        request = DataRequest({}, "generated", "rows of a test", fingerprint, 3)
        return same.difference({}, label, "sql", Dataset(request, rows, 0, 0, 0, 0, 0, None))

    for number in range(200):
        assert loaded("a", t=3, **{f"only_{number}": 1}) is None
    assert keys["asked"] <= 2 * 200
    assert loaded("b", t=4) == ("b was loaded with other data than a: rows of t: 4 on b, 3 on a")
    assert "rows of only_7: 2 on c, 1 on a" in str(loaded("c", t=3, only_7=2))
    assert "source of its rows: g on d, f on a" in str(loaded("d", "g", t=3))


def test_the_collector_works_again_after_a_report() -> None:
    with pytest.raises(ZeroDivisionError), without_garbage_collection():
        assert not gc.isenabled()
        _ = 1 / 0
    assert gc.isenabled()
