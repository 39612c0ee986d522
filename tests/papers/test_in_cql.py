"""What the papers' tests ask, in CQL: what it can express gives right answers, and the rest is
refused with the reason."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from assay import registry
from assay.contracts.deployment import Deployment
from commands import IN_MEMORY, Assay, need

pytestmark = pytest.mark.server


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
    """The history of the bank has none; the balance of an account is found by its key. Of a bank
    with fewer accounts: `docs/guides/cassandra.md` loads all."""
    folder = Path(shutil.copytree(registry.workload_folder("tpcb"), tmp_path / "tpcb"))
    for file in folder.rglob("*.*"):
        file.write_text(file.read_text("utf-8").replace("100000", "500"), encoding="utf-8")
    ended = assay(
        "run", f"{folder}.select-only,tpcb-like", "--on", url, "--clients", "2", "--duration",
        "0.5", "--warm-up", "0",
    )  # fmt: skip
    assert ended.status == 0, ended.err
    assert [run.state for run in ended.runs] == ["done", "refused"]
    assert "has no transactions" in ended.runs[1].reason
    found = ended.runs[0].driven
    assert found is not None
    assert found.outcomes.ok == found.outcomes.scheduled > 0


def test_values_of_ycsb_are_right_after_concurrent_clients(assay: Assay, url: str) -> None:
    ended = assay(
        "run", "ycsb.a,b,c,d,e,f", "--on", url, "--set", "recordcount=60", "--clients", "4",
        "--warm-up", "0", "--transactions", "40",
    )  # fmt: skip
    assert ended.status == 0, ended.err
    assert len(ended.runs) == 6
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
