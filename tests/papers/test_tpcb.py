"""TPC-B-like tests on real systems: all sums agree, and one that does not is found."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from able import able_to_run, one_of_each_line
from assay import registry
from assay.judge.run import Run
from commands import IN_MEMORY, Assay, need
from smaller_workloads import smaller_tpcb

TESTS = "tpcb.tpcb-like,simple-update,select-only,strict"
BRIEFLY = ("--warm-up", "0.1", "--duration", "0.5", "--retries", "1000", *IN_MEMORY)
"""Some systems refuse the second of two writers of a row, which may then try again."""


def rules(run: Run) -> dict[str, bool]:
    return {check["id"]: check["ok"] for check in run.checks}


@pytest.mark.parametrize("system", one_of_each_line(able_to_run(TESTS)))
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
        "run",
        folder,
        "--on",
        "sqlite",
        "--clients",
        "2",
        "--warm-up",
        "0",
        "--transactions",
        "20",
        *IN_MEMORY,
    )
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
