"""YCSB in every language, and further workloads in CQL."""

from __future__ import annotations

from pathlib import Path

import pytest

from able import able_to_run, of_each_kind
from assay import registry
from assay.contracts.deployment import Deployment
from assay.judge.run import Run
from commands import IN_MEMORY, Assay, is_delayed, need
from smaller_workloads import changed_copy, smaller_tpcb

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
    of_each_kind([one for one in able_to_run(TESTS) if one != "cassandra"], turn=1),
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
        ("a", "update", "where ycsb_key = :key;\n{expect_changed(1)}\n\\endif",
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
    folder = changed_copy("ycsb", tmp_path, (f"{script}.sql", right, mistake))
    if "\\begin\n" in mistake:
        with (folder / f"{script}.sql").open("a", encoding="utf-8") as text:
            text.write("rollback;\n")
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
    mistake = ("update.sql", ":hash - :field)", ":hash - :field - 1)")
    folder = changed_copy("ycsb", tmp_path, mistake)
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


@pytest.fixture
def url(cassandra: Deployment) -> str:
    to = cassandra.address
    return f"cassandra://{to.host}:{to.port}/{to.database}"


def test_one_client_loads_updates_and_selects(assay: Assay, url: str) -> None:
    ended = assay(
        "run", "e831.load,append,update,select", "--on", url, "--set", "records=40",
        "--set", "updates=20",
    )  # fmt: skip
    assert ended.status == 0, ended.err
    for run in ended.runs:
        assert run.driven is not None
        assert run.driven.outcomes.ok == run.driven.outcomes.scheduled > 0


def test_sets_of_updates_at_once_end_and_begin_rows_as_a_single_client(
    assay: Assay, url: str
) -> None:
    for _ in range(6):
        ended = assay(
            "run", "e831.reliability,contention", "--on", url, "--set", "records=60", "--set",
            "updates=20", "--set", "sets=disjoint", "--clients", "3",
        )  # fmt: skip
        if not is_delayed(ended):
            break
    assert ended.status == 0, ended.err
    found, refused = ended.runs
    assert found.driven is not None and found.driven.reference is not None
    assert found.driven.reference.equal_dumps == 3
    assert refused.state == "refused"
    assert "CQL" in refused.reason and "no HAVING" in refused.reason


def test_rows_without_a_key_are_kept_and_counted(assay: Assay, url: str, tmp_path: Path) -> None:
    """The history of the bank has none; the balance of an account is found by its key."""
    ended = assay(
        "run", f"{smaller_tpcb(tmp_path)}.select-only,tpcb-like", "--on", url, "--clients", "2",
        "--duration", "0.5", "--warm-up", "0",
    )  # fmt: skip
    assert ended.status == 0, ended.err
    assert [run.state for run in ended.runs] == ["done", "refused"]
    assert "has no transactions" in ended.runs[1].reason
    found = ended.runs[0].driven
    assert found is not None
    assert found.outcomes.ok == found.outcomes.scheduled > 0


GLIDEMON_REFUSED = {
    "materialize": "CQL cannot fill a table from a query",
    "failures": "CQL does not count distinct values, and groups rows only by the beginning of "
    "a table's key",
}


def test_the_questions_of_glidemon_are_answered_as_in_sql_or_refused_with_the_reason(
    assay: Assay, url: str
) -> None:
    tests = ["aggregate", "tasks", "count", "page", *GLIDEMON_REFUSED]
    ended = assay(
        "run", f"glidemon.{','.join(tests)}", "--on", f"sqlite,{url}", "--set", "scale=0.0005",
        "--set", "queries=10", "--clients", "1", "--cache", "warm",
    )  # fmt: skip
    assert ended.status == 0, ended.err
    answers: dict[tuple[str, str], set[tuple[int, str]]] = {}
    for run in ended.runs:
        if run.system != "sqlite" and run.test in GLIDEMON_REFUSED:
            assert run.state == "refused"
            assert GLIDEMON_REFUSED[run.test] in run.reason
            continue
        assert run.state == "done" and run.driven is not None
        for one in run.driven.answer_sums:
            answers.setdefault((run.test, one.transaction), set()).add((one.rows, one.digest))
    of_both = [found for (test, _), found in answers.items() if test not in GLIDEMON_REFUSED]
    assert len(of_both) == 14 + 3
    assert all(len(found) == 1 for found in of_both)


def test_values_of_ycsb_are_right_after_concurrent_clients(assay: Assay, url: str) -> None:
    """Workloads B and C have the statements of A."""
    ended = assay(
        "run", "ycsb.a,d,e,f", "--on", url, "--set", "recordcount=60", "--clients", "4",
        "--warm-up", "0", "--transactions", "40",
    )  # fmt: skip
    assert ended.status == 0, ended.err
    assert len(ended.runs) == 4
    all_right(ended.runs)


def test_a_script_of_cql_is_run_by_itself(assay: Assay, url: str, tmp_path: Path) -> None:
    script = tmp_path / "local.cql"
    script.write_text(
        "\\set key 'local'\n"
        "SELECT cluster_name FROM system.local // of one row\nWHERE key = ':key';\n"
        "\\expect rows 1\n"
    )
    ended = assay("run", str(script), "--on", url, "--transactions", "5")
    assert ended.status == 0, ended.err
    [run] = ended.runs
    assert run.driven is not None and run.driven.outcomes.ok == 5


@pytest.mark.same_line  # it starts three times; buffers of others: `test_tpcb.py`
def test_many_clients_insert_with_a_buffer_made_for_the_data(assay: Assay) -> None:
    """Started again for it, on the data that it was loaded with."""
    need("cassandra")
    ended = assay(
        "run", "ssd.insert,select-narrow", "--on", "cassandra", "--set", "tables=2", "--set",
        "rows=100", "--clients", "4", "--transactions", "50", "--warm-up", "0",
        *IN_MEMORY,
    )  # fmt: skip
    assert ended.status == 0, ended.err
    inserted, refused = ended.runs
    assert inserted.driven is not None
    assert inserted.driven.outcomes.ok == 4 * 50
    assert "orders rows by the table's key alone" in refused.reason
