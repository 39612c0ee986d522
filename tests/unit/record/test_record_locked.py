"""A record that another process has locked, moved, deleted or emptied: a run continues in a rescue
file."""

from __future__ import annotations

import os
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path

import pytest

import invented_records as invented
from assay.errors import ArgumentError, SystemUnderTestError
from assay.record import Run, Store
from assay.record.merging import merge


@contextmanager
def locked(path: Path) -> Iterator[sqlite3.Connection]:
    other = sqlite3.connect(path, isolation_level=None, check_same_thread=False)
    other.execute("BEGIN IMMEDIATE")
    try:
        yield other
    finally:
        other.close()


def begin(store: Store) -> invented.Plan:
    planned = invented.plan([invented.POSTGRESQL, invented.MARIADB])
    store.begin_experiment(planned.experiment, planned, invented.FACTS)
    return planned


def without_place(run: Run) -> tuple[object, ...]:
    return (
        run.observation, run.data, run.deployment, run.scripts, run.samples, run.checks,
        run.state,
    )  # fmt: skip


def test_a_run_whose_record_stays_locked_is_rescued_and_merged_later(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ASSAY_RECORD_TIMEOUT_S", "0")
    path, waits, warnings = tmp_path / "r.sqlite", [], []
    invented.experiment(path, invented.plan([invented.SQLITE]), 1.0)  # so that numbers differ
    with Store(path, waiting=waits.append, warning=warnings.append) as store:
        planned = begin(store)
        invented.write_run(store, planned.runs[0], invented.S)
        store.begin_run(planned.runs[1])
        store.provisioned(invented.deployment(planned.runs[1].cell))
        with locked(path):
            store.loaded(invented.dataset())
            assert store.path != path
            store.driving(invented.drive_document(planned.runs[1].cell))
            store.observed(invented.report_of(planned.runs[1].cell, 7 * invented.S))
            store.sampled(invented.samples())
            store.checked(invented.checks())
            store.end_run("done", verdict=("valid", ""), warnings=[("x", "y")])
            store.end_experiment()
        rescue = store.path
    assert len(warnings) == 1 and f"assay merge {rescue}" in warnings[0]
    with Store(rescue, must_exist=True) as store:
        rescued = store.latest().runs
    assert [run.state for run in rescued] == ["done", "done"]

    with Store(path, must_exist=True) as store:
        before = store.find("2")
    assert [run.state for run in before.runs] == ["done", "loading"]
    merged = merge(rescue, path, waiting=waits.append)
    assert (merged.experiments, merged.runs) == ([2], 1)
    with Store(path, must_exist=True) as store:
        after = store.find("2")
    assert after.ended_unix_ns is not None
    assert without_place(after.runs[0]) == without_place(before.runs[0])
    assert without_place(after.runs[1]) == without_place(rescued[1])
    assert [name for name, _ in after.runs[1].stages] == [
        "provisioning", "loading", "driving", "checking", "done"
    ]  # fmt: skip
    assert merge(rescue, path, waiting=waits.append).runs == 0, "a second time changes nothing"


def delete(path: Path) -> None:
    path.unlink()


def move(path: Path) -> None:
    path.rename(path.with_name("moved.sqlite"))


def replace(path: Path) -> None:
    invented.experiment(path.with_name("new.sqlite"), invented.plan([invented.SQLITE]), 1.0)
    path.with_name("new.sqlite").rename(path)


@pytest.mark.parametrize("lose", [delete, move, replace])
def test_a_record_that_is_no_longer_at_its_path_is_noticed_and_nothing_is_lost(
    tmp_path: Path, lose: Callable[[Path], None]
) -> None:
    path, warnings = tmp_path / "r.sqlite", []
    invented.experiment(path, invented.plan([invented.SQLITE]), 1.0)
    with Store(path, warning=warnings.append) as store:
        planned = begin(store)
        invented.write_run(store, planned.runs[0], invented.S)
        store.begin_run(planned.runs[1])
        lose(path)
        store.provisioned(invented.deployment(planned.runs[1].cell))
        rescue = store.path
        assert rescue != path, "at the first write"
        store.end_run("done", verdict=("valid", ""))
        store.end_experiment()
    moved = tmp_path / "moved.sqlite"
    what, target = (f"moved to {moved}", moved) if lose is move else ("deleted", path)
    assert warnings[0].startswith(f"{path} was {what} during the experiment")
    assert warnings[0].endswith(f"assay merge {rescue} --records {target}")
    merge(rescue, target, waiting=print)
    assert {one.name for one in tmp_path.iterdir()} == {rescue.name, target.name}
    with Store(target, must_exist=True) as store:
        assert [run.state for run in store.latest().runs] == ["done", "done"]
        assert store.find("1").runs[0].driven is not None, "the experiment before it too"


def begin_another(path: Path) -> None:
    invented.experiment(path, invented.plan([invented.MARIADB]), 2.0)


@pytest.mark.parametrize("then", [None, begin_another])
def test_a_record_that_is_emptied_is_noticed_and_the_experiment_is_not_lost(
    tmp_path: Path, then: Callable[[Path], None] | None
) -> None:
    path, warnings = tmp_path / "r.sqlite", []
    invented.experiment(path, invented.plan([invented.SQLITE]), 1.0)
    with Store(path, warning=warnings.append) as store:
        planned = begin(store)
        invented.write_run(store, planned.runs[0], invented.S)
        store.begin_run(planned.runs[1])
        os.truncate(path, 0)
        if then is not None:
            begun = subprocess.run(
                [sys.executable, "-c", "import sys, pathlib, test_record_locked as t; "
                 "t.begin_another(pathlib.Path(sys.argv[1]))", path],
                cwd=Path(__file__).parent, capture_output=True, text=True,
            )  # fmt: skip
        store.provisioned(invented.deployment(planned.runs[1].cell))
        rescue = store.path
        assert rescue != path, "at the first write"
        store.end_run("done", verdict=("valid", ""))
        store.end_experiment()
    assert warnings[0].startswith(f"{path} was emptied during the experiment; this experiment, ")
    assert warnings[0].endswith(f"assay merge {rescue} --records {path}")
    if then is None:
        assert {one.name for one in tmp_path.iterdir()} == {rescue.name, path.name}
        assert path.stat().st_size == 0
    else:
        print(begun.stderr)
        with closing(sqlite3.connect(path)) as other:
            assert other.execute("PRAGMA integrity_check").fetchone() == ("ok",)
    merge(rescue, path, waiting=print)
    with Store(path, must_exist=True) as store:
        assert [run.state for run in store.latest().runs] == ["done", "done"]
        assert store.latest().runs[0].driven is not None, "the run that had ended before"


def test_a_record_that_is_lost_before_an_experiment_begins_is_an_error(tmp_path: Path) -> None:
    with Store(tmp_path / "r.sqlite") as store:
        delete(tmp_path / "r.sqlite")
        with pytest.raises(SystemUnderTestError, match="was deleted while it was in use"):
            begin(store)
    assert not list(tmp_path.glob("*rescue*"))


def test_a_record_of_another_machine_is_merged_whole(tmp_path: Path) -> None:
    one, other = tmp_path / "one.sqlite", tmp_path / "other.sqlite"
    invented.experiment(one, invented.plan([invented.SQLITE]), 1.0)
    invented.experiment(other, invented.plan([invented.POSTGRESQL, invented.MARIADB]), 2.0)
    merged = merge(other, one, waiting=print)
    assert (merged.experiments, merged.runs) == ([2], 2)
    with Store(one, must_exist=True) as store, Store(other, must_exist=True) as theirs:
        assert [*map(without_place, store.find("2").runs)] == [
            *map(without_place, theirs.find("1").runs)
        ]
    with pytest.raises(ArgumentError, match="is the record itself"):
        merge(one, one, waiting=print)


@pytest.mark.slow
def test_a_short_lock_is_waited_for_with_a_message(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ASSAY_RECORD_TIMEOUT_S", "60")
    path, waits, locks = tmp_path / "r.sqlite", list[str](), ExitStack()

    def waiting(words: str) -> None:
        waits.append(words)
        locks.close()

    with Store(path, waiting=waiting) as store:
        planned = begin(store)
        locks.enter_context(locked(path))
        invented.write_run(store, planned.runs[0], invented.S)
        assert store.path == path
    assert len(waits) == 1 and "another process has locked" in waits[0]


def test_an_interrupted_wait_loses_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ASSAY_RECORD_TIMEOUT_S", "60")
    monkeypatch.setattr(time, "sleep", lambda _: (_ for _ in ()).throw(KeyboardInterrupt))
    path = tmp_path / "r.sqlite"
    with pytest.raises(KeyboardInterrupt), Store(path) as store:
        planned = begin(store)
        store.begin_run(planned.runs[0])
        with locked(path):
            store.observed(invented.report_of(planned.runs[0].cell, invented.S))
    with Store(store.path, must_exist=True) as rescue:
        (run, *_) = rescue.latest().runs
    assert store.path != path
    assert (run.state, run.driven is not None) == ("interrupted", True)


def test_a_record_that_is_locked_at_the_start_is_an_error_with_the_fix(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "r.sqlite"
    invented.experiment(path, invented.plan([invented.SQLITE]), 1.0)
    monkeypatch.setenv("ASSAY_RECORD_TIMEOUT_S", "0")
    with locked(path), Store(path) as store:
        with pytest.raises(SystemUnderTestError, match="was locked by another process") as refused:
            begin(store)
        assert "--records" in str(refused.value.hint)
    assert list(tmp_path.glob("*rescue*")) == []
    monkeypatch.setenv("ASSAY_RECORD_TIMEOUT_S", "soon")
    with pytest.raises(ArgumentError, match="ASSAY_RECORD_TIMEOUT_S: expected seconds"):
        Store(path)
