"""Workloads A to F of YCSB on real systems: every value that is read and every check is right after
concurrent clients, and a wrong script is found by what is for it."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from able import able_to_run, one_of_each_line
from assay import registry
from assay.judge.run import Run
from commands import IN_MEMORY, Assay, need

FOLDER = Path(registry.__file__).parent / "workloads" / "ycsb"
TESTS = "ycsb.a,b,c,d,e,f"
BRIEFLY = (
    "--set", "recordcount=60", "--clients", "4", "--warm-up", "0", "--transactions", "40",
)  # fmt: skip


def wrong(run: Run) -> set[str]:
    return {check["id"] for check in run.checks if not check["ok"]} - {"lost-updates"}


def lost(run: Run) -> int | None:
    (found,) = [check["found"] for check in run.checks if check["id"] == "lost-updates"]
    return found


def all_right(runs: list[Run]) -> None:
    for run in runs:
        assert len(run.checks) == 5 and wrong(run) == set(), run.test
        assert run.driven is not None
        assert (run.driven.outcomes.ok, run.driven.outcomes.failed) == (160, 0), run.test


@pytest.mark.parametrize(
    "system",  # Cassandra: test_in_cql.py
    one_of_each_line([one for one in able_to_run(TESTS) if one != "cassandra"]),
)
def test_all_values_and_checks_are_right_after_concurrent_clients(
    assay: Assay, system: str
) -> None:
    need(system)
    # B and C have the statements of A.
    tests = TESTS if system == "sqlite" else "ycsb.a,d,e,f"
    ended = assay("run", tests, "--on", system, *BRIEFLY, *IN_MEMORY)
    assert ended.status == 0, ended.err
    assert len(ended.runs) == (6 if system == "sqlite" else 4)
    all_right(ended.runs)


@pytest.mark.parametrize(
    "settings",
    [
        {"readallfields": "false", "writeallfields": "true"},
        {"requestdistribution": "hotspot", "insertorder": "ordered", "zeropadding": "12"},
        {"requestdistribution": "exponential", "fieldcount": "1", "fieldlength": "55"},
        {"requestdistribution": "sequential", "writeallfields": "true", "fieldcount": "3"},
        {"requestdistribution": "uniform", "readallfields": "false", "insertproportion": "0.3"},
    ],
)
def test_what_may_be_set_leaves_everything_right(assay: Assay, settings: dict[str, str]) -> None:
    words = [word for name in settings for word in ("--set", f"{name}={settings[name]}")]
    ended = assay("run", TESTS, "--on", "sqlite", *words, *BRIEFLY, *IN_MEMORY)
    assert ended.status == 0, ended.err
    assert len(ended.runs) == 6
    all_right(ended.runs)


def test_lost_updates_are_counted_and_none_is_lost_in_a_transaction(assay: Assay) -> None:
    """All at one field of one record. Statements go on for longer than a processor's time slice; in
    a transaction a client is refused again and again while another one waits for a processor."""
    for form, transactions in (("statements", "20000"), ("transaction", "200")):
        ended = assay(
            "run", "ycsb.f", "--on", "sqlite", "--set", "recordcount=1", "--set", "fieldcount=1",
            "--set", f"readmodifywrite={form}", "--clients", "4", "--warm-up", "0",
            "--transactions", transactions, "--retries", "1000000", *IN_MEMORY,
        )  # fmt: skip
        assert ended.status == 0, ended.err
        (run,) = ended.runs
        assert (lost(run) > 0) == (form == "statements")
        assert wrong(run) == set()


@pytest.mark.parametrize(
    ("test", "script", "right", "mistake", "found_by"),
    [
        ("a", "update", ":key, ':', :field, ':'", "'user0', ':', :field, ':'", "values"),
        ("a", "update", "update usertable set :{field}", "update usertable set field3", "values"),
        ("a", "update", ":fieldlength, :hash - :field)", "60, :hash - :field)", "values"),
        ("a", "update", "where ycsb_key = :key;\n\\expect rows 1\n\\endif",
         "where ycsb_key = 'no';\n\\endif", "written"),
        ("d", "insert", "insert into usertable", "\\begin\ninsert into usertable", "records"),
        ("f", "read-modify-write", "(substr(:one, 1, 6) + 1)", "(substr(:one, 1, 6) + 2)",
         "versions"),
        ("f", "read-modify-write", "(substr(:one, 1, 6) + 1)", "(substr(:one, 1, 6) + 0)",
         "versions"),
    ],
)  # fmt: skip
def test_a_wrong_script_is_found(
    assay: Assay, tmp_path: Path, test: str, script: str, right: str, mistake: str, found_by: str
) -> None:
    folder = Path(shutil.copytree(FOLDER, tmp_path / "wrong"))
    path = folder / f"{script}.sql"
    text = path.read_text("utf-8")
    assert text.count(right) == 1
    text = text.replace(right, mistake) + ("rollback;\n" if "\\begin\n" in mistake else "")
    path.write_text(text, encoding="utf-8")
    if found_by == "records":  # the new keys are never read
        reading = ("--set", "readproportion=0", "--set", "insertproportion=1")
    else:
        reading = ()
    ended = assay(
        "run", f"{folder}.{test}", "--on", "sqlite", "--set", "recordcount=20", *reading,
        "--set", "readmodifywrite=transaction", "--set", "dataintegrity=false", "--clients", "1",
        "--warm-up", "0", "--transactions", "60", *IN_MEMORY,
    )  # fmt: skip
    assert ended.status == 1
    (run,) = ended.runs
    assert found_by in wrong(run)


def test_a_read_finds_a_value_that_is_not_of_its_field(assay: Assay, tmp_path: Path) -> None:
    folder = Path(shutil.copytree(FOLDER, tmp_path / "wrong"))
    path = folder / "update.sql"
    text = path.read_text("utf-8").replace(":hash - :field)", ":hash - :field - 1)")
    path.write_text(text, encoding="utf-8")
    ended = assay(
        "run", f"{folder}.a", "--on", "sqlite", "--set", "recordcount=2", "--clients", "1",
        "--warm-up", "0", "--transactions", "40", *IN_MEMORY,
    )  # fmt: skip
    assert ended.status == 1
    (run,) = ended.runs
    assert run.driven is not None
    (error,) = run.driven.errors
    assert (error.class_, error.count > 0) == ("expectation", True)
    assert "is_sealed(:field" in error.message and "hash = " in error.message
