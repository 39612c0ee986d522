"""The store returns what was written, and no password is in the file. Documents are read back as
what wrote them: an earlier record may lack fields, a later one has further ones."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from msgspec import structs

import invented_records as invented
from assay.contracts.documents import ShapeError
from assay.contracts.experiment import Experiment, ScriptFile, ServerMachine, StorageChoice
from assay.errors import ArgumentError, Bug
from assay.experiment import SystemChoice
from assay.load.dataset import Dataset
from assay.plan.fingerprint import fingerprint_of_cell
from assay.plan.values import Cell
from assay.record import Store
from assay.record.file.kept_texts import json_text
from assay.text.secrets import HIDDEN
from assay.workload import reader
from assay.workload.workload_record import WorkloadRecord

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


MACHINE = ServerMachine(1 << 30, 2.0, 0.001, StorageChoice("log", "loop", "/mnt", {"fs": "xfs"}))
SYSTEM = replace(invented.MARIADB, machine=MACHINE, stands_on=invented.SSD, at_default=("engine",))
CELL = replace(
    invented.plan([SYSTEM], [invented.SSD], parameters={"scale": 10}).runs[0].cell,
    scripts=(ScriptFile("a.sql", 9, "digest"),),
    workload_content="of its scripts",
    group_clients={"readers": 4},
)
EXPERIMENT = Experiment(
    "w", ("t",), (SYSTEM,), (invented.SSD,), (1, 8),
    levels={
        "memory": (1 << 30, None), "rtt": (0.001,), "log_storage": (MACHINE.log_storage, None),
        "cache": ("cold", "warm"),
    },
    parameters={"scale": (1, 10)}, of_tests={"t": {"clients": [2], "memory_bytes": [None]}},
    offered_rates_per_s=(100.0, "0s:200,60s:800"), feed="f.sql",
)  # fmt: skip


def kept(value: Any) -> Any:
    return json.loads(json_text(value.for_record()))


@pytest.mark.parametrize(
    ("written", "read"),
    [
        (CELL, Cell.of_record(kept(CELL), "cell")),
        (EXPERIMENT, Experiment.of_record(kept(EXPERIMENT), "experiment")),
        (invented.dataset(), Dataset.of_record(kept(invented.dataset()), "data set")),
    ],
)
def test_what_was_written_is_read(written: Any, read: Any) -> None:
    assert read == written
    assert json_text(read.for_record()) == json_text(written.for_record())


@pytest.mark.parametrize("name", ["bibsql", "ssd", "tpcc"])
def test_what_reports_need_of_a_workload_is_read(name: str) -> None:
    written = reader.read(name).for_record()
    read = WorkloadRecord.of_record(kept(written))
    assert json_text(read.for_record()) == json_text(written.for_record())
    assert [one.variables for one in read.derived] == [one.variables for one in written.derived]


def test_fields_of_another_version_change_nothing() -> None:
    document = kept(CELL)
    document["system"]["of_a_later_program"] = document["of_a_later_program"] = {"a": 1}
    del document["system"]["profile"], document["generators"]
    read = Cell.of_record(document, "cell")
    assert read == CELL and fingerprint_of_cell(read) == fingerprint_of_cell(CELL)
    assert Experiment.of_record({**kept(EXPERIMENT), "later": 1}, "experiment") == EXPERIMENT


def test_a_level_of_a_later_factor_identifies_a_cell() -> None:
    one, other = (Cell.of_record({**kept(CELL), "later": level}, "cell") for level in ("a", "b"))
    assert fingerprint_of_cell(one) != fingerprint_of_cell(other)


def test_a_secret_is_read_as_hidden() -> None:
    secret = replace(CELL, system=replace(SYSTEM, options={"password": "geheim"}))
    document = kept(secret)
    assert document["system"]["options"] == {"password": None}
    assert Cell.of_record(document, "cell").system.options == {"password": HIDDEN}


@pytest.mark.parametrize(
    ("place", "named"),
    [("clients", "clients"), ("system", "system"), ("scripts", "scripts"), ("cache", "levels")],
)
def test_a_wrong_shape_is_named(place: str, named: str) -> None:
    with pytest.raises(ShapeError, match=rf"^run 3: cell\.{named}"):
        Cell.of_record({**kept(CELL), place: [-1]}, "run 3: cell")
