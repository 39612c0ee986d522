"""The tests of sysbench's ``oltp_*`` on real systems: the checks hold after concurrent clients, and
a wrong script is found by the check that is for it."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from able import able_to_run, one_of_each_line
from assay import registry
from assay.judge.run import Run
from commands import IN_MEMORY, Assay, need

FOLDER = Path(registry.__file__).parent / "workloads" / "oltp"
TESTS = (
    "oltp.point-select,read-only,read-write,write-only,update-index,update-non-index,insert,delete"
)


def wrong(run: Run) -> set[str]:
    return {check["id"] for check in run.checks if not check["ok"]}


@pytest.mark.parametrize("system", one_of_each_line(able_to_run(TESTS)))
def test_all_checks_hold_after_clients_at_few_rows(assay: Assay, system: str) -> None:
    need(system)
    ended = assay(
        "run", TESTS, "--on", system, "--set", "table_size=301", "--clients", "4",
        "--warm-up", "0", "--transactions", "10", *IN_MEMORY,
    )  # fmt: skip
    assert ended.status == 0, ended.err
    assert len(ended.runs) == len(TESTS.split(","))
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
    folder = Path(shutil.copytree(FOLDER, tmp_path / "wrong"))
    path = folder / f"{script}.sql"
    text = path.read_text("utf-8")
    assert text.count(right) == 1
    text = text.replace(right, mistake)
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
