"""JSON and CSV reports: tidy tables that match the published schema."""

from __future__ import annotations

import csv
import io
import json
import lzma
import os
import sqlite3
import tomllib
from contextlib import closing
from functools import cache
from pathlib import Path
from typing import Any

import jsonschema_rs
import pytest
from msgspec.structs import replace
from msgspec.structs import replace as replace_field

import invented_records as invented
from assay.contracts.observation.parts.transactions import PassTime
from assay.record import ExperimentRecord, Store
from assay.report.build import build
from assay.report.forms import csv as csv_form
from assay.report.forms import json as json_form
from assay.report.forms import table
from assay.report.tidy.schema import schema
from assay.report.tidy.tables import DETAILS, TABLES
from shown_report import text_of

ROOT = Path(__file__).parents[3]
KEPT_RECORD = ROOT / "tests" / "data" / "records" / "version-25.sqlite.xz"


def document(experiment: ExperimentRecord, detail: bool | None = None) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(text_of(json_form, build(experiment), detail))
    _published().validate(found)
    return found


@cache
def _published() -> jsonschema_rs.Validator:
    return jsonschema_rs.validator_for(schema())


@pytest.fixture(scope="module")
def kept_record(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("records") / "r.sqlite"
    path.write_bytes(lzma.decompress(KEPT_RECORD.read_bytes()))
    return path


@pytest.fixture(scope="module")
def parallel(tmp_path_factory: pytest.TempPathFactory) -> ExperimentRecord:
    """Two client counts of a system with a parameter, three times each."""
    planned = invented.plan(
        [invented.POSTGRESQL], clients=(8, 16), repetitions=3, parameters={"copies": 10}
    )
    elapsed = {("postgresql", "here", 8): (4.0, 4.2, 4.1), ("postgresql", "here", 16): [8.0] * 3}
    path = tmp_path_factory.mktemp("records") / "r.sqlite"
    return invented.experiment(path, planned, elapsed)


@pytest.mark.parametrize("table", TABLES)
def test_no_two_columns_of_a_table_have_one_name(table: str) -> None:
    """The last one would hide the others."""
    names = [column.name for column in TABLES[table].every_column]
    assert sorted(names) == sorted(set(names))


def test_the_schema_is_one() -> None:
    jsonschema_rs.meta.validate(schema())


@pytest.mark.parametrize("number", range(1, 14))
def test_the_report_of_any_experiment_keeps_to_the_schema(number: int, kept_record: Path) -> None:
    with Store(kept_record, must_exist=True) as store:
        found = document(store.experiment(number))
    assert set(found["tables"]) == set(TABLES)
    assert found["tables"]["cells"]
    assert found["tables"]["runs"]


PRINTED = {
    f"{file.parent.name} {name}": table
    for file in sorted(ROOT.glob("python/assay/workloads/*/published.toml"))
    for name, table in tomllib.loads(file.read_text("utf-8")).items()
    if "rows" in table
}
"""All published tables of the workloads that come with Assay."""


@pytest.mark.parametrize("name", PRINTED)
def test_every_published_table_keeps_to_the_schema(name: str, parallel: ExperimentRecord) -> None:
    published = {"published": {parallel.runs[0].test: PRINTED[name]}}
    found = document(replace(parallel, workload={**parallel.workload, **published}))
    rows = found["tables"]["published"]
    assert len(rows) == sum(len(row["values"]) for row in PRINTED[name]["rows"])
    assert {type(row["value"]) for row in rows if row["words"]} <= {type(None)}


@pytest.mark.slow
def test_a_row_that_has_another_column_or_kind_is_refused_by_the_schema(
    parallel: ExperimentRecord,
) -> None:
    found = document(parallel)
    for change in ({"p99": 3}, {"throughput_per_s": "88"}, {"clients": None}):
        changed = json.loads(json.dumps(found))
        changed["tables"]["runs"][0].update(change)
        with pytest.raises(jsonschema_rs.ValidationError):
            _published().validate(changed)


def test_a_cell_has_its_factors_the_median_and_the_verdict(parallel: ExperimentRecord) -> None:
    first, second = document(parallel)["tables"]["cells"]
    assert (first["clients"], first["parameter_copies"], first["arrival"]) == (8, 10, "closed")
    assert (first["elapsed_ns"], first["elapsed_min_ns"], first["elapsed_max_ns"]) == (
        4_100_000_000, 4_000_000_000, 4_200_000_000,
    )  # fmt: skip
    assert first["throughput_per_s"] == pytest.approx(16 / 4.1)
    assert (first["repetitions"], first["measured"], first["verdict"]) == (3, 3, "valid")
    assert second["clients"] == 16


def test_a_run_has_a_column_for_each_factor_and_number(parallel: ExperimentRecord) -> None:
    runs = document(parallel)["tables"]["runs"]
    assert [run["repetition"] for run in runs] == [1, 1, 2, 2, 3, 3]
    first = runs[0]
    assert (first["state"], first["ok"], first["scheduled"]) == ("done", 16, 16)
    assert first["client_cpu_per_transaction_ns"] == 4e9 * 0.03 / 16
    assert (first["size_on_disk_bytes"], first["rows_loaded"]) == (20_500_000, 16_343)
    assert (first["checks_right"], first["checks_wrong"]) == (2, 0)


def test_a_percentile_of_too_few_samples_is_null(parallel: ExperimentRecord) -> None:
    one, *_ = document(parallel)["tables"]["transactions"]
    assert (one["transaction"], one["outcome"], one["count"]) == ("S01", "ok", 8)
    assert one["latency_p50_ns"] is not None
    assert one["latency_p99_ns"] is None
    assert one["latency_max_ns"] is not None


def test_a_percentile_of_a_second_needs_as_many_samples(tmp_path: Path) -> None:
    times = {"p50_ns": 1, "p99_ns": 2, "max_ns": 3}
    intervals = [{"second": at, "ok": ok, **times} for at, ok in enumerate((5, 6, 367, 368))]
    record = invented.experiment(
        tmp_path / "r.sqlite", invented.plan([invented.SQLITE]), 4.0,
        observation={"intervals": intervals},
    )  # fmt: skip
    rows = document(record)["tables"]["intervals"]
    names = ("latency_p50_ns", "latency_p99_ns", "latency_max_ns")
    found = [tuple(row[name] for name in names) for row in rows]
    assert found == [(None, None, 3), (1, None, 3), (1, None, 3), (1, 2, 3)]
    with closing(sqlite3.connect(tmp_path / "r.sqlite")) as connection:
        in_sql = connection.execute("SELECT p50_ns, p99_ns, max_ns FROM intervals ORDER BY second")
        assert in_sql.fetchall() == found


def test_the_times_of_passes_are_a_table(parallel: ExperimentRecord) -> None:
    first, *_ = document(parallel)["tables"]["passes"]
    assert (first["run"], first["group"], first["count"]) == (1, "", 8)
    assert (first["latency_p50_ns"], first["latency_p99_ns"]) == (1_000_000_000, None)


def test_each_pass_is_a_row_of_its_client_and_group(parallel: ExperimentRecord) -> None:
    (run, *_) = parallel.runs
    driven = run.driven
    assert driven is not None
    times = (PassTime(1, 2_000, 1_500), PassTime(0, 2_500, 2_400))
    with_times = replace(run, observation=replace_field(driven, pass_times=times))
    rows = document(replace(parallel, runs=(with_times,)))["tables"]["pass_times"]
    assert rows == [
        {"run": 1, "group": "", "client": 1, "end_ns": 2_000, "latency_ns": 1_500},
        {"run": 1, "group": "", "client": 0, "end_ns": 2_500, "latency_ns": 2_400},
    ]


def test_processor_states_that_the_ticks_contradict_are_marked(
    parallel: ExperimentRecord,
) -> None:
    """8 processors for 4 s: 32 s."""
    s = invented.S
    peaks = {"load_1min_peak": 0.0, "cached_peak_bytes": 0, "dirty_peak_bytes": 0}
    right = {"user_ns": 8 * s, "system_ns": 2 * s, "idle_ns": 20 * s, "iowait_ns": 2 * s,
             "steal_ns": 0, **peaks}  # fmt: skip
    run = parallel.runs[0]
    cost = dict(run.driven.document["client_cost"]) if run.driven else {}

    def column(states: dict[str, float], **of_client: int) -> str | None:
        found = invented.changed(
            run, "observation", machine_cost=states, client_cost={**cost, **of_client}
        )
        (row,) = document(replace(parallel, runs=(found,)))["tables"]["runs"]
        contradicted: str | None = row["machine_states_contradicted"]
        is_marked = "contradict the states" in " ".join(
            text_of(table, build(replace(parallel, runs=(found,))), True).split()
        )
        assert is_marked is (contradicted is not None)
        return contradicted

    assert column(right) is column(right, machine_busy_ns=11 * s) is None
    assert column(right, machine_busy_ns=20 * s) == (
        "user and system were 10.0 s, by the kernel's ticks 20.0 s"
    )
    assert column({**right, "idle_ns": 0}) == (
        "all states together were 12.0 s of the 32.0 s that 8 processors had"
    )
    assert "client and server alone used 30.0 s" in str(column(right, user_ns=30 * s))


def test_groups_of_clients_have_rows_of_their_own(tmp_path: Path) -> None:
    planned = invented.plan([invented.SQLITE])
    plain = invented.observation(planned.runs[0].cell, invented.S)
    group = {key: plain[key] for key in ("outcomes", "transactions", "clients")}
    groups = [{"name": "readers", **group}, {"name": "writers", **group}]
    record = invented.experiment(
        tmp_path / "r.sqlite", planned, 1.0, observation={"groups": groups}
    )
    found = document(record)["tables"]
    assert [(one["group"], one["throughput_per_s"]) for one in found["groups"]] == [
        ("readers", 16.0),
        ("writers", 16.0),
    ]
    assert [one["group"] for one in found["transactions"]] == ["readers"] * 2 + ["writers"] * 2


def test_a_continued_experiment_says_where_it_was_interrupted(tmp_path: Path) -> None:
    planned, path = invented.plan([invented.SQLITE, invented.MARIADB]), tmp_path / "r.sqlite"
    with pytest.raises(KeyboardInterrupt), Store(path) as store:
        store.begin_experiment(planned.experiment, planned, invented.FACTS, command={"file": "e"})
        store.begin_run(planned.runs[0])
        raise KeyboardInterrupt
    other = {**invented.FACTS, "machine": {**invented.MACHINE, "kernel": "6.2.0"}}
    with Store(path) as store:
        store.continue_experiment(planned, planned.runs, {"file": "e"}, other)
        (one,) = document(store.latest())["tables"]["continuations"]
    assert (one["position"], one["run_position"], one["run_state"]) == (1, 0, "provisioning")
    assert (one["process_id"], one["ended_process_id"]) == (os.getpid(), os.getpid())
    assert one["changes"] == ["machine.kernel was 6.1.0, is 6.2.0"]


def test_details_can_be_left_out(parallel: ExperimentRecord) -> None:
    found = document(parallel, detail=False)
    assert not set(DETAILS) & set(found["tables"])


def test_csv_is_a_line_per_run_with_a_version_and_numbers_as_numbers(
    parallel: ExperimentRecord,
) -> None:
    lines = list(csv.DictReader(io.StringIO(text_of(csv_form, build(parallel)))))
    rows = document(parallel)["tables"]["runs"]
    assert len(lines) == len(rows) == 6
    assert {line["version"] for line in lines} == {"2"}
    for line, row in zip(lines, rows, strict=True):
        assert float(line["throughput_per_s"]) == row["throughput_per_s"]
        assert (line["clients"], line["parameter_copies"]) == (str(row["clients"]), "10")
        assert line["reconnects"] == "0"
