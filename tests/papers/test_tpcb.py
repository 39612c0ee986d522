"""Short transactions: TPC-B, those of sysbench, and inserts on solid-state disks."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path

import pytest

import servers
from able import able_to_run, of_each_kind, one_of_each_line
from assay import registry
from assay.judge.run import Run
from commands import IN_MEMORY, Assay, need, run_in
from smaller_workloads import changed_copy, smaller_tpcb

TESTS = "tpcb.tpcb-like,simple-update,select-only,strict"
BRIEFLY = ("--warm-up", "0.1", "--duration", "0.5", "--retries", "1000", *IN_MEMORY)
"""Some systems refuse the second of two writers of a row, which may then try again."""


def rules(run: Run) -> dict[str, bool]:
    return {check["id"]: check["ok"] for check in run.checks}


@pytest.mark.parametrize("system", of_each_kind(able_to_run(TESTS), turn=0))
def test_all_sums_agree_after_concurrent_clients(assay: Assay, tmp_path: Path, system: str) -> None:
    """In all four tests, the strict one included, which keeps each branch in balance."""
    need(system)
    ended = assay(
        "run", f"{smaller_tpcb(tmp_path)}.{TESTS.partition('.')[2]}", "--on", system,
        "--set", "scale=2", "--clients", "4", *BRIEFLY,
    )  # fmt: skip
    assert ended.status == 0, ended.err
    both, simple, select, strict = ended.runs
    assert rules(both) == {"balances": True, "rows": True}
    assert rules(simple) == {"accounts": True, "rows": True}
    assert rules(select) == {"balances": True, "rows": True}, "the data were not brought back"
    names = ("strict-balances", "strict-branches", "strict-rows")
    assert rules(strict) == dict.fromkeys(names, True)
    for run in ended.runs:
        assert run.driven is not None
        assert run.driven.outcomes.ok > 0


@pytest.mark.parametrize(("options", "is_valid"), [((), True), (("--retries", "0"), False)])
def test_conflicts_with_checked_snapshots_are_retried(
    assay: Assay, options: tuple[str, ...], is_valid: bool
) -> None:
    """The default of MariaDB 11.6.2 and later."""
    need("mariadb")
    ended = assay(
        "run", "tpcb.tpcb-like", "--on", "mariadb", "--clients", "8", "--warm-up", "0.2",
        "--duration", "1", "--set", "mariadb.innodb_snapshot_isolation=ON", *options, *IN_MEMORY,
    )  # fmt: skip
    if "innodb_snapshot_isolation" in ended.err and not ended.runs:
        pytest.skip("this MariaDB does not have the setting")
    (run,) = ended.runs
    assert rules(run) == {"balances": True, "rows": True}
    assert run.driven is not None
    if is_valid:
        assert run.driven.outcomes.failed == 0 and run.driven.outcomes.retries > 0
    else:
        assert run.driven.outcomes.failed > 0
        assert "fix: innodb_snapshot_isolation=OFF" in ended.err


def test_without_transactions_only_single_reads_run(assay: Assay, tmp_path: Path) -> None:
    need("ferretdb")
    ended = assay(
        "run", f"{smaller_tpcb(tmp_path)}.{TESTS.partition('.')[2]}", "--on", "ferretdb",
        "--clients", "4", *BRIEFLY,
    )  # fmt: skip
    assert ended.status == 0, ended.err
    states = {run.test: run.state for run in ended.runs}
    assert states == dict.fromkeys(states, "refused") | {"select-only": "done"}
    (select,) = (run for run in ended.runs if run.state == "done")
    assert rules(select) == {"balances": True, "rows": True}
    assert select.driven is not None
    assert select.driven.outcomes.ok > 0


def test_a_transaction_that_forgets_the_teller_fails_the_run(assay: Assay, tmp_path: Path) -> None:
    folder = Path(shutil.copytree(registry.workload_folder("tpcb"), tmp_path / "forgetful"))
    script = folder / "tpcb-like.sql"
    lines = script.read_text("utf-8").splitlines(keepends=True)
    kept = [line for line in lines if "pgbench_tellers" not in line]
    assert len(kept) == len(lines) - 1
    script.write_text("".join(kept), encoding="utf-8")
    ended = assay(
        "run", folder, "--on", "sqlite", "--clients", "2", "--warm-up", "0", "--transactions", "20",
        *IN_MEMORY,
    )  # fmt: skip
    assert ended.status == 1
    (run,) = ended.runs
    assert run.state == "failed"
    assert "balances returned 1 row" in run.reason
    assert rules(run) == {"balances": False, "rows": True}


def test_pgbench_own_scripts_run_on_these_tables_as_they_stand(
    assay: Assay, working_folder: Path
) -> None:
    need("postgresql")
    pgbench = next(Path("/usr/lib/postgresql").glob("*/bin/pgbench"), None)
    if pgbench is None:
        pytest.skip("pgbench is not on this machine")
    words: list[str | Path] = []
    for name in ("tpcb-like", "simple-update", "select-only"):
        shown = subprocess.run([pgbench, f"--show-script={name}"], capture_output=True, text=True)
        script = working_folder / f"own-{name}.sql"
        script.write_text(shown.stdout or shown.stderr, encoding="utf-8")
        words += ["--script", script]
    ended = assay(
        "run", "tpcb.simple-update", *words, "--on", "postgresql", "--clients", "2",
        "--warm-up", "0", "--transactions", "60", *IN_MEMORY,
    )  # fmt: skip
    (run,) = ended.runs
    assert run.driven is not None, ended.err
    assert run.driven.outcomes.ok == 120, ended.err
    kinds = {one.name for one in run.driven.transactions}
    assert kinds == {"own-tpcb-like", "own-simple-update", "own-select-only"}


OLTP_TESTS = (
    "oltp.point-select,read-only,read-write,write-only,update-index,update-non-index,insert,delete"
)


def wrong(run: Run) -> set[str]:
    return {check["id"] for check in run.checks if not check["ok"]}


@pytest.mark.parametrize("system", of_each_kind(able_to_run(OLTP_TESTS), turn=1))
def test_all_checks_hold_after_clients_at_few_rows(assay: Assay, system: str) -> None:
    need(system)
    ended = assay(
        "run", OLTP_TESTS, "--on", system, "--set", "table_size=301", "--clients", "4",
        "--warm-up", "0", "--transactions", "10", *IN_MEMORY,
    )  # fmt: skip
    assert ended.status == 0, ended.err
    assert len(ended.runs) == len(OLTP_TESTS.split(","))
    for run in ended.runs:
        assert run.checks and wrong(run) == set(), run.test
        assert run.driven is not None
        assert run.driven.outcomes.ok == 40, run.test


@pytest.mark.parametrize("rand_type", ["special", "uniform", "gaussian"])
def test_ids_are_drawn_from_all_tables_and_the_sum_of_k_is_known(
    assay: Assay, rand_type: str
) -> None:
    ended = assay(
        "run", "oltp.read-write,update-index", "--on", "sqlite", "--set", f"rand_type={rand_type}",
        "--set", "tables=3", "--set", "table_size=50", "--clients", "2", "--warm-up", "0",
        "--transactions", "20", *IN_MEMORY,
    )  # fmt: skip
    assert ended.status == 0, ended.err
    assert [wrong(run) for run in ended.runs] == [set(), set()]


@pytest.mark.parametrize(
    ("script", "right", "mistake", "found_by"),
    [
        ("read-write", "values (:id,", "values (:table_size + 1 + :transaction_number,", "rows"),
        ("read-write", "(:id, :k, :c, :pad)", "(:id, :k, 'c', :pad)", "texts"),
        ("read-write", "(:id, :k, :c, :pad)", "(:id, 0, :c, :pad)", "k-range"),
        ("update-index", "k = k + 1", "k = k + 2", "k-sum"),
        ("update-index", "update :{sbtest}", "\\begin\nupdate :{sbtest}", "k-sum"),
        ("update-non-index", "set c = :c", "set pad = :pad", "c-written"),
        ("insert", "values (:id,", "values (-:id,", "inserted"),
        ("delete", "where id = :id", "where id = :id and id < 0", "deleted"),
    ],
)
def test_a_wrong_script_is_found_by_its_check(
    assay: Assay, tmp_path: Path, script: str, right: str, mistake: str, found_by: str
) -> None:
    folder = changed_copy("oltp", tmp_path, (f"{script}.sql", right, mistake))
    text = (path := folder / f"{script}.sql").read_text("utf-8")
    if "\\begin" in mistake:
        text += "rollback;\n"
    if ":pad" in mistake and "\\set pad" not in text:
        text = "\\set pad concat(digits(11), '-')\n" + text
    path.write_text(text, encoding="utf-8")
    ended = assay(
        "run", f"{folder}.{script}", "--on", "sqlite", "--set", "table_size=300",
        "--clients", "1", "--warm-up", "0", "--transactions", "20", *IN_MEMORY,
    )  # fmt: skip
    assert ended.status == 1
    (run,) = ended.runs
    assert found_by in wrong(run)


@pytest.mark.parametrize(
    "system",  # Cassandra: test_in_cql.py
    of_each_kind([one for one in able_to_run("ssd.insert") if one != "cassandra"], turn=0),
)
def test_every_row_is_found_by_each_of_its_keys_and_inserts_are_never_duplicates(
    assay: Assay, system: str
) -> None:
    """`select.sql` computes the generated keys, and expects one row; many clients insert into few
    tables."""
    need(system)
    ended = assay(
        "run", "ssd.select-wide,insert", "--on", system, "--set", "tables=3", "--set", "rows=100",
        "--clients", "6", "--warm-up", "0", "--transactions", "40", *IN_MEMORY,
    )  # fmt: skip
    assert ended.status == 0, ended.err
    assert [run.test for run in ended.runs] == ["select-wide", "insert"]
    for run in ended.runs:
        assert run.driven is not None
        assert run.driven.outcomes.ok == run.driven.outcomes.scheduled == 240


def test_the_buffer_as_given_is_kept_where_no_ratio_to_the_data_is_asked_for(assay: Assay) -> None:
    """As `cubrid-2010.toml` has it at full size, with the printed buffer of 4 GB."""
    need("postgresql")
    ended = assay(
        "run", "ssd.insert", "--on", "postgresql", "--set", "postgresql.buffer=24MB", "--set",
        "data_to_buffer=0,6", "--set", "tables=2", "--set", "rows=100", "--clients", "2",
        "--warm-up", "0", "--duration", "0.5", *IN_MEMORY,
    )  # fmt: skip
    assert ended.status == 0, ended.err
    buffers = {
        run.parameters["data_to_buffer"]: run.data.buffer_bytes for run in ended.runs if run.data
    }
    assert buffers[0] is None, "it was not sized"
    assert buffers[6] is not None and buffers[6] < 24_000_000
    as_given = next(run for run in ended.runs if run.parameters["data_to_buffer"] == 0)
    assert as_given.deployment is not None
    assert as_given.deployment.settings["shared_buffers"] in ("24MB", "3072")


def test_a_server_by_url_keeps_its_buffer_and_the_report_says_so(tmp_path: Path) -> None:
    need("postgresql")
    system = registry.system("postgresql")
    with (
        servers.directory_for_servers() as storage,
        servers.provisioned(system, storage, options={"transport": "tcp"}) as server,
    ):
        ended = run_in(
            tmp_path, "run", "ssd.select-wide", "--on", servers.url_of(system, server), "--set",
            "tables=2", "--set", "rows=100", "--clients", "2", "--warm-up", "0", "--transactions",
            "50", "--records", "r.sqlite", "--format", "json",
        )  # fmt: skip
    assert ended.returncode == 0, ended.stderr
    document = json.loads(ended.stdout)
    (warning,) = (one for one in document["warnings"] if one["name"] == "buffer-not-sized")
    (detail,) = warning["details"]
    assert "6 times the buffer asked; it has 128 MiB, the data are 0.0" in detail


def hit_ratio(run: Run) -> float:
    assert run.driven is not None
    counters = run.driven.server_counters
    return float(counters["buffer_hits"] / (counters["buffer_hits"] + counters["buffer_misses"]))


@pytest.mark.parametrize("system", one_of_each_line(["postgresql", "mariadb", "mysql"]))
def test_server_counters_distinguish_a_narrow_from_a_wide_range(assay: Assay, system: str) -> None:
    need(system)
    ended = assay(
        "run", "ssd.select-narrow,select-wide", "--on", system, "--set", "tables=8", "--set",
        "rows=6000", "--clients", "4", "--warm-up", "1.5", "--duration", "1.5",
        *IN_MEMORY,
    )  # fmt: skip
    assert ended.status == 0, ended.err
    narrow, wide = ended.runs
    assert hit_ratio(narrow) > 0.99
    assert hit_ratio(wide) < hit_ratio(narrow) - 0.03
