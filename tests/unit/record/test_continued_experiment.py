"""An experiment goes on in another process: what has ended stays, all else is planned again."""

from __future__ import annotations

import shutil
import sqlite3
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from msgspec import structs

import invented_records as invented
from assay.errors import ArgumentError
from assay.experiment import Experiment, SystemChoice
from assay.experiment.choices.storage_words import storage_choices
from assay.experiment.origin import command_of, spelled_command
from assay.experiment.settings_catalogue import Words
from assay.judge.agreement import ComparedAnswer
from assay.plan import Plan, plan
from assay.plan.fingerprint import Content, content_of
from assay.record import Store
from assay.record.continuing import NO_VERSIONS, Continued
from assay.record.runs.records import RunEnd, end_of, exit_status
from assay.report.sections import conditions
from assay.workload import reader

TPCB = reader.read("tpcb")
COMMAND = {"file": "/somewhere/experiment.toml"}
CONTENT = Content("a", "", "", "", systems={"sqlite": "3.40"})
OTHER_MACHINE = {**invented.MACHINE, "kernel": "6.2.0"}


def signed(plan: Plan, content: str = "") -> Plan:
    """The plan, with a content in each run."""
    runs = (
        replace(run, content=f"{content}{run.cell.fingerprint} {run.repetition}")
        for run in plan.runs
    )
    return replace(plan, runs=tuple(runs))


PLAN = signed(
    invented.plan([invented.POSTGRESQL, invented.SQLITE, invented.MARIADB], repetitions=2)
)


def begin(store: Store, plan: Plan = PLAN) -> int:
    return store.begin_experiment(
        plan.experiment, plan, structs.replace(invented.FACTS, content=CONTENT), command=COMMAND
    )


def go_on(
    store: Store, plan: Plan = PLAN, versions: Mapping[str, str] = NO_VERSIONS, **facts: Any
) -> Continued | None:
    now = structs.replace(invented.FACTS, **{"content": CONTENT, **facts})
    return store.continue_experiment(plan, plan.runs, COMMAND, now, versions)


@contextmanager
def killed(path: Path) -> Iterator[Store]:
    """A process that is killed at the end of the block, seen from another one."""
    store = Store(path)
    yield store
    store._run_id = store._experiment_id = None  # nothing more is written
    store.__exit__(None, None, None)
    connection = sqlite3.connect(path)
    with connection:
        connection.execute("UPDATE experiments SET process_id = 999999999")
        connection.execute("UPDATE continuations SET process_id = 999999999")
    connection.close()


def test_the_command_that_continues_it_is_spelled_as_it_is_typed() -> None:
    words = Words(
        "sub/e.toml", on=("postgresql://me:secret@db/shop",), duration_s=30.0, quick=True,
        latency_limit_s=0.07, only=("null",),
    )  # fmt: skip
    command = command_of(words)
    assert command is not None
    typed = (
        "assay run sub/e.toml --on 'postgresql://me:***@db/shop' --quick --duration 30 "
        "--latency-limit 70ms"
    )
    for records, more in (
        ("r", ""),
        ("sub/other", " --records sub/other"),
        ("/o", " --records /o"),
    ):
        assert spelled_command(command, Path(records), "r").partition(" && ")[2] == f"{typed}{more}"


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """Two runs have ended, the third was under way when its process was killed."""
    path = tmp_path / "records.sqlite"
    with killed(path) as store:
        begin(store)
        for run in PLAN.runs[:2]:
            invented.write_run(store, run, 5 * invented.S)
        store.begin_run(PLAN.runs[2])
        store.provisioned(invented.deployment(PLAN.runs[2].cell))
    return path


def rows(path: Path, question: str) -> list[tuple[Any, ...]]:
    connection = sqlite3.connect(path)
    try:
        return connection.execute(question).fetchall()
    finally:
        connection.close()


@pytest.mark.parametrize(
    ("versions", "kept"),
    [({0: "{}, upgraded"}, [1]), ({0: "{}", 1: ""}, [0, 1])],
    ids=["another", "the same or none"],
)
def test_only_what_was_measured_on_another_version_of_a_server_is_measured_again(
    path: Path, versions: dict[int, str], kept: list[int]
) -> None:
    (was,) = rows(
        path, "SELECT json_extract(document, '$.version') FROM deployments WHERE run_id = 1"
    )[0]
    now = {PLAN.runs[at].cell.system.label: one.format(was) for at, one in versions.items()}
    with Store(path) as store:
        found = go_on(store, versions=now)
        assert found is not None
        assert (sorted(found.kept), found.superseded) == (kept, 2 - len(kept))


def test_ended_runs_stay_and_the_interrupted_one_begins_again(path: Path) -> None:
    before = rows(path, "SELECT * FROM runs WHERE state = 'done' ORDER BY id")
    with Store(path) as store:
        found = go_on(store, machine=OTHER_MACHINE)
        assert found is not None
        assert (found.experiment_id, sorted(found.kept), found.interrupted) == (
            1,
            [0, 1],
            "loading",
        )
        assert rows(path, "SELECT count(*) FROM deployments WHERE run_id = 3") == [(0,)]
        for run in PLAN.runs[2:]:
            invented.write_run(store, run, 7 * invented.S)
        store.end_experiment()
    assert rows(path, "SELECT * FROM runs WHERE id < 3 ORDER BY id") == before
    with Store(path, must_exist=True) as store:
        experiment = store.latest()
    assert [run.state for run in experiment.runs] == ["done"] * 6
    assert [run.machine["kernel"] for run in experiment.runs] == ["6.1.0"] * 2 + ["6.2.0"] * 4
    assert len(experiment.cells) == 3
    (one,) = experiment.continuations
    assert (one.run_position, one.run_state, one.is_interruption) == (2, "loading", True)
    assert one.changes == {"machine.kernel": ("6.1.0", "6.2.0")}
    with Store(path) as store:
        assert go_on(store) is None, "it is finished"


def test_it_can_be_interrupted_again(path: Path) -> None:
    with killed(path) as store:
        go_on(store)
        invented.write_run(store, PLAN.runs[2], 5 * invented.S)
        store.begin_run(PLAN.runs[3])
    with Store(path, must_exist=True) as store:
        experiment = store.latest()
        assert [run.state for run in experiment.runs][2:4] == ["done", "interrupted"]
        assert not experiment.is_under_way
    with Store(path) as store:
        found = go_on(store)
        assert found is not None and (found.position, sorted(found.kept)) == (2, [0, 1, 2])


def test_runs_whose_content_has_changed_are_done_again_and_the_old_ones_kept(path: Path) -> None:
    changed = replace(PLAN.runs[1], content="changed")
    plan = replace(PLAN, runs=(PLAN.runs[0], changed, *PLAN.runs[2:]))
    with Store(path) as store:
        found = go_on(store, plan)
        assert found is not None and (sorted(found.kept), found.superseded) == ([0], 1)
        assert found.no_longer_planned == 0
        for run in plan.runs[1:]:
            invented.write_run(store, run, 7 * invented.S)
        experiment = store.latest()
        assert len(experiment.runs) == 6, "the superseded run is no part of it"
        (old,) = (run for run in store.runs() if run.is_superseded)
        assert old.state_shown == "done, superseded"
        assert store.run(old.id).driven is not None


def test_another_order_or_cell_of_the_file_keeps_what_has_ended(path: Path) -> None:
    turned = [replace(run, position=place) for place, run in enumerate(reversed(PLAN.runs))]
    plan = replace(PLAN, runs=(*turned[:-2], replace(turned[-1], position=4)))
    with Store(path) as store:
        found = go_on(store, plan)
        assert found is not None and (sorted(found.kept), found.superseded) == ([4], 1)
        assert found.no_longer_planned == 1
    assert rows(path, "SELECT position, id, superseded FROM runs ORDER BY position") == [
        (0, 6, 0), (1, 5, 0), (2, 4, 0), (3, 3, 0), (4, 1, 0), (5, 2, 1),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("before", "now"),
    [
        ({"levels": {"cache": ("as-is", "cold")}}, {"levels": {"cache": ("as-is", "warm")}}),
        ({"levels": {"memory": (None, 1 << 30)}}, {"levels": {"memory": (None, 1 << 31)}}),
        ({"levels": {"cpus": (None, 2.0)}}, {"levels": {"cpus": (None, 1.0)}}),
        ({"levels": {"rtt": (0.0, 0.001)}}, {"levels": {"rtt": (0.0, 0.002)}}),
        ({"storages": ("here", "loop[size=1G]")}, {"storages": ("here", "loop[size=2G]")}),
        (
            {"storages": ("here", "modelled[profile=scsi-15k]")},
            {"storages": ("here", "modelled[profile=nvme]")},
        ),
        ({"clients": (1, 2)}, {"clients": (1, 4)}),
        ({"parameters": {"scale": (1, 2)}}, {"parameters": {"scale": (1, 3)}}),
    ],
)
def test_a_changed_level_of_a_factor_does_only_its_cells_anew(
    tmp_path: Path, before: dict[str, Any], now: dict[str, Any]
) -> None:
    def planned(levels: dict[str, Any]) -> Plan:
        if "storages" in levels:
            levels = {"storages": storage_choices(levels["storages"])}
        whole = plan(Experiment("tpcb", ("select-only",), (SystemChoice("null"),), **levels), TPCB)
        return content_of(whole.experiment, TPCB, "", {"null": "1"}, "0.1").in_plan(whole)

    path, first, other = tmp_path / "records.sqlite", planned(before), planned(now)
    assert len(first.runs) == len(other.runs) == 2
    with killed(path) as store:
        begin(store, first)
        for run in first.runs:
            invented.write_run(store, run, 5 * invented.S)
    with Store(path) as store:
        found = go_on(store, other)
    assert found is not None and (sorted(found.kept), found.superseded) == ([0], 1)
    assert rows(path, "SELECT position, state FROM runs WHERE NOT superseded ORDER BY 1") == [
        (0, "done"), (1, "planned"),
    ]  # fmt: skip


def test_the_run_that_was_under_way_is_named_by_its_place_in_the_plan_of_now(path: Path) -> None:
    was_at = PLAN.runs[2].cell.fingerprint
    others = [run for run in PLAN.runs if run.cell.fingerprint != was_at]
    without = tuple(replace(run, position=place) for place, run in enumerate(others))
    turned = tuple(replace(run, position=5 - run.position) for run in reversed(PLAN.runs))
    for runs, place, said in (
        (without, None, "in a run (loading) that is no longer planned; continued"),
        (turned, 3, "in run 4 (loading), which is to begin again; continued"),
    ):
        copy = path.with_name(f"{place}.sqlite")
        shutil.copyfile(path, copy)
        with Store(copy) as store:
            assert go_on(store, replace(PLAN, runs=runs)) is not None
            experiment = store.latest()
        (one,) = experiment.continuations
        assert (one.run_position, one.run_state) == (place, "loading")
        assert said in conditions.facts(experiment)["interrupted"]


def test_where_everything_has_changed_a_new_one_begins(path: Path) -> None:
    with Store(path) as store:
        assert go_on(store, signed(PLAN, "other ")) is None
    assert rows(path, "SELECT count(*) FROM runs WHERE superseded = 1") == [(0,)]


@pytest.mark.parametrize("is_new", [True, False])
def test_an_experiment_under_way_is_left_alone(tmp_path: Path, path: Path, is_new: bool) -> None:
    """Of two processes one continues it."""
    records = tmp_path / "new.sqlite" if is_new else path
    with Store(records) as first, Store(records) as second:
        begin(first) if is_new else go_on(first)
        with pytest.raises(ArgumentError, match="experiment 1 of this file is under way in proc"):
            go_on(second)


def test_answers_of_ended_runs_are_compared_with_later_ones(tmp_path: Path) -> None:
    path = tmp_path / "records.sqlite"
    answer = ComparedAnswer("asked", "S01", 0, "postgresql", 156, "abc")
    with killed(path) as store:
        begin(store)
        store.begin_run(PLAN.runs[0])
        store.compared([answer])
        store.end_run("done")
    with Store(path) as store:
        found = go_on(store)
    assert found is not None and found.kept[0].answers == (answer,)


@pytest.mark.parametrize("exit_code", [1, 2, 3])
def test_a_failed_run_has_the_same_exit_status_when_the_experiment_goes_on(
    tmp_path: Path, exit_code: int
) -> None:
    """It has no observation from which the status could be derived."""
    path = tmp_path / "records.sqlite"
    with killed(path) as store:
        begin(store)
        store.begin_run(PLAN.runs[0])
        store.end_run("failed", reason="7 rows are missing", exit_status=exit_code)
    with Store(path) as store:
        found = go_on(store)
        assert found is not None and found.kept[0].end == RunEnd("failed", exit_code)
        assert end_of(store.latest().runs[0]) == found.kept[0].end


@pytest.mark.parametrize(
    ("ends", "status"),
    [
        ([], 0),
        ([RunEnd("done"), RunEnd("refused")], 0),
        ([RunEnd("refused")] * 2, 2),
        ([RunEnd("refused"), RunEnd("failed", 3)], 3),
        ([RunEnd("failed", 3), RunEnd("failed", 2)], 2),
        ([RunEnd("failed", 2), RunEnd("done", 1)], 1),
    ],
)
def test_the_exit_status_follows_from_how_all_runs_ended(ends: list[RunEnd], status: int) -> None:
    assert exit_status(ends) == status
