"""What the papers' tests ask, in CQL: what it can express gives right answers, and the rest is
refused with the reason."""

from __future__ import annotations

from pathlib import Path

import pytest

from assay.contracts.deployment import Deployment
from commands import IN_MEMORY, Assay, need
from smaller_workloads import smaller_tpcb


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
    ended = assay(
        "run", "e831.reliability,contention", "--on", url, "--set", "records=60", "--set",
        "updates=20", "--set", "sets=disjoint", "--clients", "3",
    )  # fmt: skip
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
        "run", f"glidemon.{','.join(tests)}", "--on", f"sqlite,{url}", "--set", "scale=0.001",
        "--set", "queries=40", "--clients", "1", "--cache", "warm",
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
    for run in ended.runs:
        wrong = {check["id"] for check in run.checks if not check["ok"]} - {"lost-updates"}
        assert len(run.checks) == 5 and wrong == set(), run.test
        assert run.driven is not None
        assert (run.driven.outcomes.ok, run.driven.outcomes.failed) == (160, 0), run.test


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
