"""Single transactions in a file: as many rows as were counted, by type and outcome, and their
latencies are those of the histograms."""

from __future__ import annotations

import csv
import math
import os
import subprocess
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from assay.contracts.observation import Observation
from assay.judge.run import Run
from assay.judge.statistics.samples import BY_NAME
from commands import Assay, need

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
        "run", "slow.sql", "--on", system, "-c", "2", "-T", "2", "-R", "2000", "-L", "5",
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


def test_a_log_is_a_difference_between_cells(assay: Assay, working_folder: Path) -> None:
    (working_folder / "one.sql").write_text("SELECT 1;\n")
    common = ("run", "one.sql", "--on", "null", "-t", "100")
    assert assay(*common).status == 0
    assert assay(*common, "--log", "t.csv").status == 0
    compared = assay("compare", "1", "2", "--detail")
    assert "log_sample" in compared.out, compared.out


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
