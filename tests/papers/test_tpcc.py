"""TPC-C-like transactions on real systems: all conditions hold, and the deck is exact; that wrong
programs are found by their conditions is a proof (`proofs/tpcc.py`)."""

from __future__ import annotations

from pathlib import Path

import pytest

from able import able_to_run, one_of_each_line
from assay import registry
from assay.judge.run import Run
from assay.record.metrics.catalogue import METRICS
from commands import IN_MEMORY, Assay, need
from servers import ask, directory_for_servers, provisioned, url_of
from smaller_workloads import smaller_tpcc

FOLDER = Path(registry.__file__).parent / "workloads" / "tpcc"
SKIPPED = "skipped-deliveries"
CHECKS = {path.stem for path in (FOLDER / "checks").glob("[01]*.sql")}
DECK = {"new-order": 10, "payment": 10, "order-status": 1, "delivery": 1, "stock-level": 1}


def broken(run: Run, *, of_calls: bool = False, is_deferred: bool = False) -> set[str]:
    last, of_last = "17-acknowledged", "calls-17-acknowledged"
    expected = CHECKS - {last} | {of_last} if of_calls else CHECKS
    expected = expected | {SKIPPED} if is_deferred else expected
    assert {check["id"] for check in run.checks} == expected
    return {check["id"][:2] for check in run.checks if check["ok"] is False}


OF_SQL = [name for name in able_to_run("tpcc") if registry.system(name).dialect.language == "sql"]
"""Documents: `test_tpcc_documents.py`."""
TESTS = {
    "unbound": OF_SQL,
    "paced": ("postgresql",),  # in event loops; with threads of a library below
    "procedures": able_to_run("tpcc.procedures"),
}


@pytest.mark.parametrize("system", one_of_each_line(OF_SQL))
def test_all_conditions_hold_after_decks_of_each_client(
    assay: Assay, tmp_path: Path, system: str
) -> None:
    """By statements, with deferred deliveries, and by procedures where the system has them; with a
    fiftieth of the rows: `docs/guides/tpcc.md` loads all."""
    need(system)
    decks = 1 if system == "duckdb" else 2  # it plans each statement for milliseconds
    tests = [test for test, systems in TESTS.items() if system in systems]
    folder = smaller_tpcc(tmp_path)
    calls = folder / "new-order-call.sql"
    often = calls.read_text().replace("is_wrong random(1, 100) = 1", "is_wrong random(1, 4) = 1")
    calls.write_text(often)
    ended = assay(
        "run", f"{folder}.{','.join(tests)}", "--on", system, "--clients", "3",
        "--set", "warehouses=2", "--set", "pace=0", "--warm-up", "0",
        "--transactions", str(23 * decks), "--seed", "1", *IN_MEMORY,
    )  # fmt: skip
    assert ended.status == 0, ended.err
    runs = {run.test: run for run in ended.runs}
    assert [*runs] == tests
    assert broken(runs["unbound"]) == set()
    assert ended_ok(runs["unbound"]) == {name: 3 * decks * cards for name, cards in DECK.items()}
    if "paced" in runs:
        all_deferred_are_made(runs["paced"])
    if "procedures" in runs:
        run = runs["procedures"]
        assert broken(run, of_calls=True) == set()
        assert ended_ok(run) == {f"{name}-call": 6 * cards for name, cards in DECK.items()}
        assert run.driven is not None
        # The procedure rolls back by itself, and says so.
        aborted = {one.name: one.aborted for one in run.driven.outcomes_by_transaction}
        assert aborted["new-order-call"] > 0
        assert run.driven.headline_count == 60


def test_deliveries_are_deferred_and_all_of_them_are_made(assay: Assay, tmp_path: Path) -> None:
    ended = assay(
        "run", f"{smaller_tpcc(tmp_path)}.paced", "--on", "sqlite", "--set", "pace=0",
        "--clients", "3", "--warm-up", "0", "--transactions", "46", *IN_MEMORY,
    )  # fmt: skip
    assert ended.status == 0, ended.err
    (run,) = ended.runs
    all_deferred_are_made(run)
    assert "deferred" in ended.out and "6 queued, 0 late, 0 not run" in ended.out


def ended_ok(run: Run) -> dict[str, int]:
    assert run.driven is not None
    return {one.name: one.ok + one.aborted for one in run.driven.outcomes_by_transaction}


def all_deferred_are_made(run: Run) -> None:
    assert broken(run, is_deferred=True) == set()
    assert run.driven is not None
    completed = ended_ok(run)
    assert completed["defer-delivery"] == completed["deliver"] == 6
    clients, deferred = run.driven.groups
    assert (clients.clients, deferred.clients, run.driven.headline_count) == (3, 2, 60)
    values = {name: METRICS[name].value(run) for name in METRICS if name.startswith("deferred")}
    assert (values["deferred"], values["deferred_skipped"], values["deferred_late"]) == (6, 0, 0)
    assert values["deferred_longest_queue"] >= 1 and values["deferred_wait_max_ns"] > 0


def test_functions_of_the_user_are_not_replaced_and_none_are_left(
    assay: Assay, tmp_path: Path
) -> None:
    """On a server by URL, which others use as well."""
    need("postgresql")
    system = registry.system("postgresql")
    names = "SELECT proname FROM pg_proc WHERE proname LIKE 'tpcc%' ORDER BY 1"
    with directory_for_servers() as storage:
        options = {"transport": "tcp"}
        with provisioned(system, storage, options=options) as up:
            words = (
                "run", f"{smaller_tpcc(tmp_path)}.procedures", "--on", url_of(system, up),
                "--clients", "2", "--warm-up", "0", "--transactions", "23",
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
