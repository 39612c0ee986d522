"""What the papers' tests ask, in CQL: what it can express gives right answers, and the rest is
refused with the reason."""

from __future__ import annotations

import pytest

from assay.provision.deployment import Deployment
from commands import Assay

pytestmark = pytest.mark.server


@pytest.fixture
def url(cassandra: Deployment) -> str:
    to = cassandra.address
    return f"cassandra://{to.host}:{to.port}/{to.database}"


def test_sets_of_updates_at_once_end_and_begin_rows_as_a_single_client(
    assay: Assay, url: str
) -> None:
    ended = assay(
        "run", "e831.load,append,update,select,reliability,contention", "--on", url,
        "--set", "records=40", "--set", "updates=20", "--set", "sets=disjoint", "--clients", "3",
    )  # fmt: skip
    assert ended.status == 0, ended.err
    runs = {run.test: run for run in ended.runs if run.state == "done"}
    assert set(runs) == {"load", "append", "update", "select", "reliability"}
    driven = {name: run.driven for name, run in runs.items()}
    reliability = driven["reliability"]
    assert reliability is not None and reliability.reference is not None
    assert reliability.reference.equal_dumps == 3
    assert all(
        one is not None and one.outcomes.ok == one.outcomes.scheduled > 0 for one in driven.values()
    )
    (refused,) = {run.reason for run in ended.runs if run.test == "contention"}
    assert "CQL" in refused and "no HAVING" in refused


def test_rows_without_a_key_are_kept_and_counted(assay: Assay, url: str) -> None:
    """The history of the bank has none; the balance of an account is found by its key."""
    ended = assay(
        "run", "tpcb.select-only,tpcb-like", "--on", url, "--clients", "2", "--duration", "1",
        "--warm-up", "0",
    )  # fmt: skip
    assert ended.status == 0, ended.err
    assert [run.state for run in ended.runs] == ["done", "refused"]
    assert "has no transactions" in ended.runs[1].reason
    found = ended.runs[0].driven
    assert found is not None
    assert found.outcomes.ok == found.outcomes.scheduled > 0


def test_many_clients_insert_into_few_tables(assay: Assay, url: str) -> None:
    ended = assay(
        "run", "ssd.insert,select-narrow", "--on", url, "--set", "tables=2", "--set", "rows=100",
        "--clients", "4", "--transactions", "50", "--warm-up", "0",
    )  # fmt: skip
    assert ended.status == 0, ended.err
