"""The store returns what was written, and no password is in the file."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest
from msgspec import structs

import invented_records as invented
from assay.errors import ArgumentError, Bug
from assay.experiment import SystemChoice
from assay.record import Store

PASSWORD = "s3cret-horse:battery@staple"


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "assay-records.sqlite"


def begin(store: Store, *systems: SystemChoice) -> invented.Plan:
    planned = invented.plan(systems or [invented.POSTGRESQL])
    store.begin_experiment(planned.experiment, planned, invented.FACTS)
    return planned


def test_a_run_is_read_back_as_it_was_written(path: Path) -> None:
    with Store(path) as store:
        planned = begin(store)
        run_id = invented.write_run(store, planned.runs[0], 3 * invented.S)
    with Store(path, must_exist=True) as store:
        run = store.run(run_id)
    cell = planned.runs[0].cell
    assert run.observation == invented.report_of(cell, 3 * invented.S)
    assert run.data == invented.dataset()
    assert list(run.checks) == invented.checks()
    samples = [
        structs.replace(timed, sample=structs.replace(timed.sample, handles={}))
        for timed in invented.samples()
    ]
    assert list(run.samples) == samples
    assert run.open_files == (("bibtab.MYD", 249), ("bibtab.MYI", 1))
    assert [script.text for script in run.scripts] == ["select 'S01';", "select 'S02';"]
    assert run.seed == planned.runs[0].seed == 2**64 - 1
    assert [state for state, _ in run.stages] == [
        "provisioning", "loading", "driving", "checking", "done"
    ]  # fmt: skip


def test_the_whole_plan_is_kept_before_anything_starts(path: Path) -> None:
    with Store(path) as store:
        begin(store, invented.POSTGRESQL, invented.MARIADB)
        with Store(path, must_exist=True) as reader:
            listed = [(run.system_label, run.state) for run in reader.runs()]
    assert listed == [("postgresql", "planned"), ("mariadb engine=MyISAM", "planned")]


def test_no_password_is_in_the_file(path: Path) -> None:
    system = SystemChoice(
        "postgresql",
        url=f"postgresql://reader:{PASSWORD}@db.example/bibtex?sslpassword={PASSWORD}",
        options={"password": PASSWORD},
    )
    with Store(path) as store:
        planned = begin(store, replace(system, options={}))
        store.begin_run(planned.runs[0])
        store.provisioned(
            invented.deployment(
                replace(planned.runs[0].cell, system=system),
                password=PASSWORD,
                settings={"primary_conninfo": f"user=x password='{PASSWORD}'"},
            )
        )
        store.driving(invented.drive_document(planned.runs[0].cell, PASSWORD))
        store.end_run("failed", reason=f"cannot reach {system.url}")
        files = [file.read_bytes() for file in path.parent.iterdir()]
        store.end_experiment()
    files.append(path.read_bytes())
    assert len(files) > 2, "the write-ahead log was looked at too"
    for fragment in (PASSWORD, "battery", "staple"):
        assert not any(fragment.encode() in content for content in files)


def test_no_password_of_a_reason_or_a_warning_is_in_the_file(path: Path) -> None:
    said = f"it was given as password={PASSWORD}"
    with Store(path) as store:
        planned = begin(store)
        store.begin_run(planned.runs[0])
        store.end_run("failed", said, ("invalid", said), [("few-samples", said)])
    assert PASSWORD.encode() not in path.read_bytes()


def test_settings_with_password_in_their_name_are_kept(path: Path) -> None:
    with Store(path) as store:
        run_id = invented.write_run(store, begin(store).runs[0], invented.S)
        deployment = store.run(run_id).deployment
    assert deployment is not None
    assert deployment.settings["password_encryption"] == "strong"


def test_references_find_their_runs_and_experiments(path: Path) -> None:
    with Store(path) as store:
        with pytest.raises(ArgumentError, match="no experiment yet"):
            store.latest()
        for _ in range(2):
            planned = begin(store, invented.POSTGRESQL, invented.SQLITE)
            for run in planned.runs:
                invented.write_run(store, run, invented.S)
        assert store.find("latest").id == store.find("2").id == store.latest().id == 2
        assert [run.id for run in store.find("experiment 1").runs] == [1, 2]
        assert [run.id for run in store.find("run 3").runs] == [3]
        assert store.find("run 3").id == 2
        for wrong, words in (("run 5", "no run 5"), ("last", "found 'last'"), ("9" * 30, "no exp")):
            with pytest.raises(ArgumentError, match=words):
                store.find(wrong)


def test_an_error_in_the_block_ends_the_run_under_way(path: Path) -> None:
    with pytest.raises(ZeroDivisionError), Store(path) as store:
        store.begin_run(begin(store).runs[0])
        raise ZeroDivisionError("a stage broke")
    with pytest.raises(KeyboardInterrupt), Store(path) as store:
        store.begin_run(begin(store).runs[0])
        raise KeyboardInterrupt
    with Store(path) as store:
        assert [run.state_shown for run in store.runs()] == [
            "failed (a stage broke)",
            "interrupted",
        ]
        assert [run.verdict for run in store.runs()] == ["invalid"] * 2
        assert not store.latest().is_under_way


def test_a_failed_run_is_invalid(path: Path) -> None:
    with Store(path) as store:
        store.begin_run(begin(store).runs[0])
        store.end_run("failed", reason="no such page size", verdict=("valid", ""))
        (run,) = store.runs()
    assert (run.verdict, run.verdict_reason) == ("invalid", "no such page size")


def test_a_run_that_loads_nothing_is_driving_while_it_drives(path: Path) -> None:
    with Store(path) as store:
        run = begin(store).runs[0]
        run_id = store.begin_run(run)
        store.provisioned(invented.deployment(run.cell))
        store.driving(invented.drive_document(run.cell, ""))
        assert store.run(run_id).state == "driving"
        store.observed(invented.report_of(run.cell, invented.S))
        store.end_run("done")
    with closing(sqlite3.connect(path)) as connection:
        stages = [state for (state,) in connection.execute("SELECT state FROM stages")]
    assert stages == ["provisioning", "loading", "driving", "checking", "done"]


def test_a_stage_out_of_order_is_an_internal_error(path: Path) -> None:
    with Store(path) as store:
        planned = begin(store)
        with pytest.raises(Bug):
            store.observed(invented.report_of(planned.runs[0].cell, invented.S))
        store.begin_run(planned.runs[0])
        with pytest.raises(Bug):
            store.begin_run(planned.runs[0])
        store.observed(invented.report_of(planned.runs[0].cell, invented.S))
        with pytest.raises(Bug):
            store.observed(invented.report_of(planned.runs[0].cell, invented.S))
        store.end_run("done")


def test_the_views_have_the_values_of_the_documents(path: Path) -> None:
    with Store(path) as store:
        run_id = invented.write_run(
            store, begin(store).runs[0], 2 * invented.S, deployment={"settings_asked": {"a": "1"}}
        )
    connection = sqlite3.connect(path)

    def ask(question: str) -> list[tuple[object, ...]]:
        return connection.execute(f"{question} WHERE run_id = {run_id}").fetchall()

    assert ask("SELECT elapsed_ns, scheduled, ok FROM outcomes") == [(2 * invented.S, 16, 16)]
    assert ask("SELECT transaction_name, count, p50_ns FROM latencies") == [
        ("S01", 8, 20_000_000),
        ("S02", 8, 40_000_000),
        (None, 8, 500_000_000),
    ]
    assert ask("SELECT count(*) FROM intervals") == [(2,)]
    assert ask("SELECT count(*) FROM client_ends") == [(8,)]
    assert ask("SELECT transaction_name, row_count FROM results") == [("S01", 156), ("S02", 0)]
    assert ask("SELECT id, expected, found, is_right FROM check_results") == [
        ("S01", 156, 156, 1),
        ("S02", 0, 0, 1),
    ]
    assert ("max_connections", "1000", None) in ask("SELECT name, effective, asked FROM settings")
    assert ask("SELECT items, size_on_disk_bytes FROM loads") == [(9733, 20_500_000)]
    assert ("strtab", 1610) in ask("SELECT table_name, row_count FROM dataset_rows")
    assert ask("SELECT * FROM errors") == []
    connection.close()


def test_steps_keep_what_each_of_them_did_and_the_run_has_the_numbers_of_the_last_drive(
    tmp_path: Path,
) -> None:
    with Store(tmp_path / "r.sqlite") as store:
        (run,) = begin(store, invented.SQLITE).runs
        store.begin_run(run)
        store.provisioned(invented.deployment(run.cell))
        store.begin_step(0, "load")
        store.loaded(invented.dataset())
        store.end_step("done")
        for position, seconds in ((1, 1), (2, 3)):
            store.begin_step(position, "drive", f"drive {seconds} s")
            store.driving(invented.drive_document(run.cell))
            store.observed(invented.report_of(run.cell, seconds * invented.S))
            store.checked(invented.checks())
            store.end_step("done")
        store.begin_step(3, "compare")
        store.end_run("failed", reason="the rows differ")
        found = store.latest().runs[0]
    assert [(one.position, one.do, one.name, one.state) for one in found.steps] == [
        (0, "load", "", "done"),
        (1, "drive", "drive 1 s", "done"),
        (2, "drive", "drive 3 s", "done"),
        (3, "compare", "", "failed"),
    ]
    assert found.steps[3].reason == found.reason == "the rows differ"
    assert found.driven is not None and found.driven.elapsed_ns == 3 * invented.S
    assert found.data is not None and len(found.checks) == 2 * len(invented.CHECKS)
    assert [state for state, _ in found.stages] == [
        "provisioning", "loading", "loading", "driving", "driving", "checking", "failed"
    ]  # fmt: skip


def test_a_run_that_names_no_step_has_one(tmp_path: Path) -> None:
    record = invented.experiment(tmp_path / "r.sqlite", invented.plan([invented.SQLITE]), 1.0)
    assert [(one.do, one.state) for one in record.runs[0].steps] == [("drive", "done")]


def test_a_step_begins_only_after_the_one_before_it_ended(tmp_path: Path) -> None:
    with Store(tmp_path / "r.sqlite") as store:
        planned = begin(store, invented.SQLITE)
        store.begin_run(planned.runs[0])
        store.begin_step(0, "load")
        with pytest.raises(Bug, match="step 0 has not ended"):
            store.begin_step(1, "drive")
        store.end_step("done")
        with pytest.raises(Bug, match="none is under way"):
            store.end_step("done")
