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
CHECKS = {path.stem for path in (FOLDER / "checks").iterdir()}
DECK = {"new-order": 10, "payment": 10, "order-status": 1, "delivery": 1, "stock-level": 1}


def broken(run: RunRecord) -> set[str]:
    assert {check["id"] for check in run.checks} == CHECKS
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
