"""What reaches the log of transactions, and when: durability of scripts and statements is seen."""

from __future__ import annotations

import csv
import math
import os
import sqlite3
import subprocess
from collections import Counter
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from able import able
from assay import registry
from assay.contracts.observation import Observation
from assay.contracts.storage_facts import StorageFacts
from assay.errors import ExperimentError
from assay.judge.result_checks import check_consistency
from assay.judge.statistics.samples import BY_NAME
from assay.provision.engine.engine_calls import session
from assay.record import DEFAULT_FILE_NAME, Run
from assay.storages.loop import LOOP
from assay.workload.values import Script
from commands import IN_MEMORY, Assay, need
from servers import provisioned
from step_workloads import folder_of

BUCKET = 2**-9
"""Of histograms with three digits, with the rank's own rounding."""
SERVERS = ("sqlite", "postgresql")


@pytest.fixture
def scripts(working_folder: Path) -> list[str]:
    (working_folder / "read.sql").write_text("SELECT 1;\n")
    (working_folder / "wrong.sql").write_text("SELECT nothing FROM nowhere;\n")
    return ["-f", "read.sql@9", "-f", "wrong.sql@1"]


def rows_in(file: Path) -> list[dict[str, str]]:
    with file.open(newline="") as text:
        return list(csv.DictReader(text))


def counted(driven: Observation) -> Counter[tuple[str, str]]:
    """By transaction type and outcome."""
    return Counter({
        (one.name, outcome): count
        for one in driven.outcomes_by_transaction
        for outcome in ("ok", "aborted", "failed", "unknown", "skipped")
        if (count := getattr(one, outcome))
    })  # fmt: skip


def insist_on_the_same(run: Run, rows: list[dict[str, str]]) -> None:
    driven = run.driven
    assert driven is not None and driven.log is not None
    assert Counter((row["transaction"], row["outcome"]) for row in rows) == counted(driven)
    assert {int(row["begun_unix_ns"]) for row in rows} == {driven.started_unix_ns}
    assert {int(row["run"]) for row in rows} == {run.id}
    done = [row for row in rows if row["outcome"] != "skipped"]
    for row in done:
        due, start, end = (int(row[f"{name}_ns"]) for name in ("due", "start", "end"))
        assert due <= start <= end <= driven.elapsed_ns
        assert int(row["latency_ns"]) == end - due
    latencies = sorted(int(row["latency_ns"]) for row in done if row["outcome"] == "ok")
    measured = driven.all_ok.latency
    assert (measured.count, measured.max_ns) == (len(latencies), latencies[-1])
    due_count = measured.due
    for name, share in BY_NAME.items():
        of_histogram, rank = getattr(measured, f"{name}_ns"), math.ceil(share * due_count)
        if rank > len(latencies):
            assert of_histogram is None, "it had no answer"
            continue
        exact = latencies[rank - 1]
        assert exact <= of_histogram <= exact * (1 + BUCKET) + 1, name


@pytest.mark.parametrize("system", SERVERS)
def test_a_closed_loop_has_a_row_for_each_transaction(
    assay: Assay, working_folder: Path, scripts: list[str], system: str
) -> None:
    need(system)
    ended = assay("run", *scripts, "--on", system, "-c", "3", "-t", "3000", "--log", "t.csv")
    assert "transactions in t.csv" in ended.err, ended.err
    (run,) = ended.runs
    rows = rows_in(working_folder / "t.csv")
    insist_on_the_same(run, rows)
    assert {row["client"] for row in rows} == {"0", "1", "2"}
    assert run.driven is not None and run.driven.log is not None
    assert run.driven.log.rows == len(rows) and run.driven.log.cpu_ns > 0


@pytest.mark.parametrize("system", SERVERS)
def test_an_open_loop_has_also_what_was_skipped(
    assay: Assay, working_folder: Path, system: str
) -> None:
    need(system)
    (working_folder / "slow.sql").write_text("\\sleep 2 ms\nSELECT 1;\n")
    ended = assay(
        "run", "slow.sql", "--on", system, "-c", "2", "-T", "2", "-R", "2000", "-L", "5ms",
        "--log", "t.csv",
    )  # fmt: skip
    (run,) = ended.runs
    rows = rows_in(working_folder / "t.csv")
    assert run.driven is not None and run.driven.outcomes.skipped > 100
    skipped = [row for row in rows if row["outcome"] == "skipped"]
    assert len(skipped) == run.driven.outcomes.skipped
    assert {row[name] for row in skipped for name in ("client", "start_ns", "latency_ns")} == {""}
    assert Counter((row["transaction"], row["outcome"]) for row in rows) == counted(run.driven)


def test_a_sample_is_the_same_for_the_same_seed(assay: Assay, working_folder: Path) -> None:
    (working_folder / "one.sql").write_text("SELECT 1;\n")

    def logged(name: str, seed: str) -> tuple[list[tuple[str, ...]], Run]:
        ended = assay(
            "run", "one.sql", "--on", "null", "-c", "4", "-t", "5000", "--seed", seed,
            "--repetitions", "2", "--log", name, "--log-sample", "0.05",
        )  # fmt: skip
        assert ended.status == 0, ended.err
        names = ("run", "client", "transaction", "outcome")
        rows = rows_in(working_folder / name)
        return sorted(tuple(row[one] for one in names) for row in rows), ended.runs[0]

    first, run = logged("a.csv", "7")
    again, _ = logged("b.csv", "7")
    other, _ = logged("c.csv", "8")
    assert {row[0] for row in first} == {"1", "2"}
    assert [row[1:] for row in first] == [row[1:] for row in again]
    assert [row[1:] for row in first] != [row[1:] for row in other]
    assert run.driven is not None and run.driven.log is not None
    assert run.driven.log.sample == 0.05 and 800 < run.driven.log.rows < 1200


def test_a_module_of_python_in_processes_is_logged_too(assay: Assay, working_folder: Path) -> None:
    (working_folder / "one.sql").write_text("SELECT 1;\n")
    ended = assay(
        "run", "one.sql", "--on", "dbapi:sqlite3[database=t.db]", "-c", "3", "-t", "50",
        "--log", "t.csv",
    )  # fmt: skip
    assert ended.status == 0, ended.err
    rows = rows_in(working_folder / "t.csv")
    assert Counter(row["client"] for row in rows) == {"0": 50, "1": 50, "2": 50}


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["--log", "there.csv"], "there.csv: already exists and is not overwritten"),
        (["--log", "t.txt"], "expected a file that ends in .csv or .parquet"),
        (["--log", "nowhere/t.csv"], "nowhere/t.csv: cannot be written"),
        (["--log-sample", "0.5"], "--log-sample needs --log"),
        (["--log", "t.csv", "--log-sample", "2"], "to 1"),
        (["--log", "t.csv", "--client-program", "native"], "say nothing of single transactions"),
    ],
)
def test_what_cannot_be_logged_is_refused_before_anything_begins(
    assay: Assay, working_folder: Path, words: list[str], says: str
) -> None:
    (working_folder / "there.csv").write_text("mine\n")
    ended = assay("run", "tpcb", "--on", "sqlite", "-T", "1", *words)
    assert (ended.status, says in " ".join(ended.err.split())) == (2, True), ended.err
    assert (working_folder / "there.csv").read_text() == "mine\n"
    assert not (working_folder / "assay-records.sqlite").exists()


@pytest.fixture
def full(tmp_path: Path) -> Iterator[Path]:
    """A file system of 64 KiB."""
    if os.geteuid() != 0:
        pytest.skip("needs root, to mount a small file system")
    place = tmp_path / "small"
    place.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", place], check=True)
    yield place
    subprocess.run(["umount", place], check=True)


def test_a_full_disk_ends_the_run_with_its_reason(
    assay: Assay, working_folder: Path, full: Path
) -> None:
    (working_folder / "one.sql").write_text("SELECT 1;\n")
    ended = assay(
        "run", "one.sql", "--on", "null", "-c", "2", "-T", "100", "--log", str(full / "t.csv")
    )
    assert ended.status == 3, ended.err
    (run,) = ended.runs
    assert run.state == "failed"
    assert "the log of transactions cannot be written: No space left on device" in str(run.reason)
    assert run.ended_unix_ns is not None and run.begun_unix_ns is not None
    assert run.ended_unix_ns - run.begun_unix_ns < 90e9, "it does not go on without its log"
    assert rows_in(full / "t.csv") == [], "no part of a run"


def test_rows_are_kept_as_parquet(assay: Assay, working_folder: Path) -> None:
    parquet = pytest.importorskip("pyarrow.parquet")
    (working_folder / "one.sql").write_text("SELECT 1;\n")
    ended = assay(
        "run", "one.sql", "--on", "null", "-c", "2", "-t", "1000", "--repetitions", "2",
        "--log", "t.parquet",
    )  # fmt: skip
    assert ended.status == 0, ended.err
    table = parquet.read_table(working_folder / "t.parquet")
    assert table.num_rows == 4000
    assert str(table.schema.field("due_ns").type) == "int64"
    assert Counter(table.column("outcome").to_pylist()) == {"ok": 4000}
    assert [file.name for file in working_folder.glob(".t*")] == []


NEEDS_LOOP = pytest.mark.skipif(
    LOOP.why_unavailable() is not None, reason="needs root and loop devices"
)
UPDATE = """\\set aid random(1, 100000)
update pgbench_accounts set abalance = abalance + 1 where aid = :aid;
"""
PAUSES = ("--think-time", "constant:5ms")
SET = "set synchronous_commit = off;\n"
SET_UNSEEN = "do $$ begin perform set_config('synchronous_commit', 'off', false); end $$;\n"
"""The same, within a block that is not looked into."""


def run(assay: Assay, folder: Path, script: str, clients: int, *more: str) -> tuple[Run, str]:
    (folder / "mine.sql").write_text(script)
    ended = assay(
        "run", "tpcb", "-f", "mine.sql", "--on", "postgresql", "--storage", "loop[size=400M]",
        "--clients", str(clients), "--warm-up", "0.2", "--duration", "1", "--no-probe", *more,
    )  # fmt: skip
    (run,) = ended.runs
    assert run.driven is not None, ended.err
    return run, ended.out


def of_record(run: Run) -> tuple[str | None, bool]:
    assert run.deployment is not None
    found = run.deployment.durability
    assert found is not None
    return found.durability_class, found.is_contradicted


def flushes_per_commit(run: Run) -> float:
    assert run.driven is not None and run.driven.device_cost is not None
    flushes, commits = run.driven.device_cost.flushes, run.driven.commits
    assert flushes is not None and commits
    return flushes / commits


def warnings(run: Run) -> dict[str, str]:
    return {one.name: one.detail for one in run.warnings}


@pytest.mark.flushes
@NEEDS_LOOP
def test_what_a_script_sets_counts_for_its_class(assay: Assay, working_folder: Path) -> None:
    need("postgresql")
    found, _ = run(assay, working_folder, SET + UPDATE, 1)
    assert of_record(found) == ("D2", False)
    assert (
        "its sessions execute set synchronous_commit = off" in warnings(found)["durability-lowered"]
    )
    assert flushes_per_commit(found) < 0.5


@pytest.mark.flushes
@NEEDS_LOOP
def test_a_class_that_the_flushes_of_a_run_contradict_is_withdrawn(
    assay: Assay, working_folder: Path
) -> None:
    """Of many clients, whose commits might have shared a flush."""
    need("postgresql")
    found, shown = run(assay, working_folder, SET_UNSEEN + UPDATE, 16, *PAUSES)
    assert of_record(found) == (None, True)
    assert "D3 was measured, but the device ended" in warnings(found)["class-contradicted"]
    assert "durability   contradicted" in shown
    assert flushes_per_commit(found) < 0.5


@pytest.mark.flushes
@NEEDS_LOOP
def test_commits_that_share_a_flush_contradict_nothing(assay: Assay, working_folder: Path) -> None:
    """Sixteen clients on rows of their own: one flush for several commits."""
    need("postgresql")
    found, _ = run(assay, working_folder, UPDATE, 16)
    assert flushes_per_commit(found) < 0.5
    assert of_record(found) == ("D3", False)
    assert "class-contradicted" not in warnings(found)


MARIADB = "mariadb[engine=MyISAM]"


@pytest.mark.parametrize(
    ("system", "script", "expected"),
    [
        (MARIADB, "INSERT INTO data (id, value) VALUES (:n, 1), (-:n, 2), (:n, 3);\n", "unknown"),
        ("mariadb", "INSERT INTO data (id, value) VALUES (:n, 1), (-:n, 2), (:n, 3);\n", "failed"),
        (MARIADB, "BEGIN;\nINSERT INTO data (id, value) VALUES (:n, 1);\n\\abort\n", "unknown"),
        ("sqlite", "INSERT OR FAIL INTO data (id, value) VALUES (:n, 1), (:n, 2);\n", "unknown"),
        ("sqlite", "INSERT INTO data (id, value) VALUES (:n, 1), (:n, 2);\n", "failed"),
    ],
)
def test_what_may_stay_is_unknown(
    assay: Assay, tmp_path: Path, system: str, script: str, expected: str
) -> None:
    need(system.partition("[")[0])
    folder = folder_of(tmp_path / "w", 'scripts = ["write.sql"]\ntransactions = 10\n')
    (folder / "write.sql").write_text("\\set n 1000000 + :transaction_number\n" + script)
    ended = assay(
        "run", str(folder), "--on", system, "--clients", "1", "--retries", "3", *IN_MEMORY
    )
    (run,) = ended.runs
    assert run.driven is not None
    outcomes = run.driven.outcomes
    assert getattr(outcomes, expected) == outcomes.scheduled == 10
    assert outcomes.attempts == 10


def test_a_password_in_a_statement_that_fails_is_hidden(
    assay: Assay, working_folder: Path, tmp_path: Path
) -> None:
    need("postgresql")
    script = tmp_path / "role.sql"
    script.write_text("ALTER ROLE nobody_x PASSWORD 'geheim';\n")
    ended = assay("run", str(script), "--on", "postgresql", "--transactions", "2", *IN_MEMORY)
    assert "***" in ended.out and "geheim" not in ended.out + ended.err
    with closing(sqlite3.connect(working_folder / DEFAULT_FILE_NAME)) as record:
        kept = [line for line in record.iterdump() if "geheim" in line]
    assert all('INTO "scripts"' in line for line in kept), "the script itself, and nothing else"


WRITING = [
    "DELETE FROM t WHERE a = :a;",
    "INSERT INTO t SELECT 1 + a FROM t;",
    "SELECT 1;\nUPDATE t SET a = 2;",
    "DROP TABLE t;",
]


@pytest.mark.parametrize("name", able("read only sessions"))
def test_a_check_that_writes_is_refused_with_its_file(name: str, storage: StorageFacts) -> None:
    need(name)
    system = registry.system(name)
    with provisioned(system, storage) as deployment, session(deployment.address) as opened:
        opened.execute("CREATE TABLE t (a int)")
        opened.execute("INSERT INTO t VALUES (1)")

        def ask(text: str) -> list[object]:
            script = Script("bad", "checks/bad.sql", text)
            variables = {"a": 1}
            found = check_consistency(
                deployment, [script], variables, {}, system.dialect, Path("w")
            )
            return [(one["found"], one["ok"]) for one in found]

        for text in WRITING:
            with pytest.raises(ExperimentError, match=r"w/checks/bad\.sql: a check must only read"):
                ask(text)
        assert ask("SELECT * FROM t WHERE a <> :a;") == [(0, True)]
        assert ask("SELECT * FROM t;") == [(1, False)]
        # The rows of every statement count.
        assert ask("SELECT * FROM t; SELECT * FROM t WHERE a <> :a;") == [(1, False)]
        assert ask("SELECT * FROM t; SELECT * FROM t;") == [(2, False)]
        assert ask("\\set b 1") == [(None, False)]
        # Any other error is the check's own result.
        assert ask("SELECT nothing FROM t;") == [(None, False)]
        assert opened.execute("SELECT a FROM t").rows == [("1",)]
