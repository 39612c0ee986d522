"""TPC-C-like transactions on real systems: all conditions hold, and the deck is exact; that wrong
programs are found by their conditions is a proof (`proofs/tpcc.py`)."""

from __future__ import annotations

from pathlib import Path

import pytest

from able import able_to_run, one_of_each_line
from assay import registry
from assay.record.metrics.catalogue import METRICS
from assay.record.runs.records import RunRecord
from commands import IN_MEMORY, Assay, need
from servers import ask, directory_for_servers, provisioned, url_of

FOLDER = Path(registry.__file__).parent / "workloads" / "tpcc"
SKIPPED = "skipped-deliveries"
CHECKS = {path.stem for path in (FOLDER / "checks").glob("[01]*.sql")}
DECK = {"new-order": 10, "payment": 10, "order-status": 1, "delivery": 1, "stock-level": 1}


def broken(run: RunRecord, *, of_calls: bool = False, is_deferred: bool = False) -> set[str]:
    last, of_last = "17-acknowledged", "calls-17-acknowledged"
    expected = CHECKS - {last} | {of_last} if of_calls else CHECKS
    expected = expected | {SKIPPED} if is_deferred else expected
    assert {check["id"] for check in run.checks} == expected
    return {check["id"][:2] for check in run.checks if check["ok"] is False}


OF_SQL = [name for name in able_to_run("tpcc") if registry.system(name).dialect.language == "sql"]
"""On documents a smaller database is used (`test_tpcc_documents.py`)."""


@pytest.mark.parametrize("system", one_of_each_line(OF_SQL))
def test_all_conditions_hold_after_two_decks_of_each_client(assay: Assay, system: str) -> None:
    need(system)
    ended = assay(
        "run", "tpcc", "--on", system, "--clients", "4", "--warm-up", "0", "--transactions", "46",
        *IN_MEMORY,
    )  # fmt: skip
    assert ended.status == 0, ended.err
    (run,) = ended.runs
    assert broken(run) == set()
    assert run.driven is not None
    ended_ok = {one.name: one.ok + one.aborted for one in run.driven.outcomes_by_transaction}
    assert ended_ok == {name: 8 * cards for name, cards in DECK.items()}


@pytest.mark.parametrize("system", ["sqlite", "postgresql"])
def test_deliveries_are_deferred_and_all_of_them_are_made(assay: Assay, system: str) -> None:
    """With threads of a library, and in event loops."""
    need(system)
    ended = assay(
        "run", "tpcc.paced", "--on", system, "--set", "pace=0", "--clients", "3", "--warm-up", "0",
        "--transactions", "92", *IN_MEMORY,
    )  # fmt: skip
    assert ended.status == 0, ended.err
    (run,) = ended.runs
    assert broken(run, is_deferred=True) == set()
    assert run.driven is not None
    completed = {one.name: one.completed for one in run.driven.outcomes_by_transaction}
    assert completed["defer-delivery"] == completed["deliver"] == 12
    clients, deferred = run.driven.groups
    assert (clients.clients, deferred.clients, run.driven.headline_count) == (3, 2, 120)
    values = {name: METRICS[name].value(run) for name in METRICS if name.startswith("deferred")}
    assert (values["deferred"], values["deferred_skipped"], values["deferred_late"]) == (12, 0, 0)
    assert values["deferred_longest_queue"] >= 1 and values["deferred_wait_max_ns"] > 0
    assert "deferred" in ended.out and "12 queued, 0 late, 0 not run" in ended.out


@pytest.mark.parametrize("system", one_of_each_line(able_to_run("tpcc.procedures")))
def test_all_conditions_hold_after_calls_of_procedures(assay: Assay, system: str) -> None:
    need(system)
    ended = assay(
        "run", "tpcc.procedures", "--on", system, "--clients", "4", "--warm-up", "0",
        "--transactions", "69", "--seed", "1", *IN_MEMORY,
    )  # fmt: skip
    assert ended.status == 0, ended.err
    (run,) = ended.runs
    assert broken(run, of_calls=True) == set()
    assert run.driven is not None
    by_type = {one.name: one for one in run.driven.outcomes_by_transaction}
    completed = {name.removesuffix("-call"): one.completed for name, one in by_type.items()}
    assert completed == {name: 12 * cards for name, cards in DECK.items()}
    # The procedure rolls back by itself, and says so: with this seed in two orders.
    assert by_type["new-order-call"].aborted > 0
    assert run.driven.headline_count == 120


def test_functions_of_the_user_are_not_replaced_and_none_are_left(assay: Assay) -> None:
    """On a server by URL, which others use as well."""
    need("postgresql")
    system = registry.system("postgresql")
    names = "SELECT proname FROM pg_proc WHERE proname LIKE 'tpcc%' ORDER BY 1"
    with directory_for_servers() as storage:
        options = {"transport": "tcp"}
        with provisioned(system, storage, options=options) as up:
            words = (
                "run", "tpcc.procedures", "--on", url_of(system, up), "--clients", "2",
                "--warm-up", "0", "--transactions", "23",
            )  # fmt: skip
            ended = assay(*words)
            assert ended.status == 0, ended.err
            assert ask(up, names) == []
            ask(up, "CREATE FUNCTION tpcc_payment(int) RETURNS int LANGUAGE sql AS 'SELECT 42'")
            ask(up, "CREATE FUNCTION tpcc_stock_level(int, int, int) RETURNS bigint LANGUAGE sql "
                "AS 'SELECT 42::bigint'")  # fmt: skip
            refused = assay(*words)
            assert refused.status != 0 and "already exists" in refused.err, refused.err
            assert ask(up, "SELECT tpcc_stock_level(1, 2, 3)") == [("42",)]
            assert ask(up, "SELECT tpcc_payment(1)") == [("42",)]
