"""TPC-C-like transactions on real systems: all conditions hold, and the deck is exact; that wrong
programs are found by their conditions is a proof (`proofs/tpcc.py`)."""

from __future__ import annotations

from pathlib import Path

import pytest

from able import able_to_run
from assay import registry
from assay.record.runs.records import RunRecord
from commands import IN_MEMORY, Assay, need

FOLDER = Path(registry.__file__).parent / "workloads" / "tpcc"
CHECKS = {path.stem for path in (FOLDER / "checks").glob("[01]*.sql")}
DECK = {"new-order": 10, "payment": 10, "order-status": 1, "delivery": 1, "stock-level": 1}


def broken(run: RunRecord, *, of_calls: bool = False) -> set[str]:
    last, of_last = "17-acknowledged", "calls-17-acknowledged"
    expected = CHECKS - {last} | {of_last} if of_calls else CHECKS
    assert {check["id"] for check in run.checks} == expected
    return {check["id"][:2] for check in run.checks if not check["ok"]}


@pytest.mark.parametrize("system", able_to_run("tpcc"))
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


@pytest.mark.parametrize("system", able_to_run("tpcc.procedures"))
def test_all_conditions_hold_after_calls_of_procedures(assay: Assay, system: str) -> None:
    need(system)
    ended = assay(
        "run", "tpcc.procedures", "--on", system, "--clients", "4", "--warm-up", "0",
        "--transactions", "69", "--seed", "2", *IN_MEMORY,
    )  # fmt: skip
    assert ended.status == 0, ended.err
    (run,) = ended.runs
    assert broken(run, of_calls=True) == set()
    assert run.driven is not None
    by_type = {one.name: one for one in run.driven.outcomes_by_transaction}
    completed = {name.removesuffix("-call"): one.completed for name, one in by_type.items()}
    assert completed == {name: 12 * cards for name, cards in DECK.items()}
    # The procedure rolls back by itself, and says so.
    assert by_type["new-order-call"].aborted > 0
    assert run.driven.headline_count == 120
