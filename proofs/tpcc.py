"""Each of 18 wrong programs of the workload tpcc is found by the consistency conditions that are
made for it, and by no other.

A case changes one place of one transaction (a payment is not added to its warehouse, a line counts
a remote warehouse that it does not have, a delivery takes the newest order …) and runs two decks of
23 transactions on SQLite; the first case runs the right program, which no condition refuses.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import NamedTuple

from assay import registry
from assay.record import Store
from proofs._proof import Found


class Change(NamedTuple):
    """A wrong program: what it does, and the numbers of the conditions that find it."""

    title: str
    script: str
    right: str
    wrong: str
    by: str


CHANGES = (
    Change("the right program", "payment", "", "", ""),
    Change(
        "a payment is not added to its warehouse",
        "payment",
        "w_ytd = w_ytd + :amount",
        "w_ytd = w_ytd",
        "01 08",
    ),
    Change(
        "a remote line is counted where none is",
        "new-order",
        "s_remote_cnt + :is_remote",
        "s_remote_cnt + 1",
        "15",
    ),
    Change(
        "a delivery takes the newest order",
        "delivery",
        "order by no_o_id",
        "order by no_o_id desc",
        "02 03",
    ),
    Change(
        "a new order is rolled back, and acknowledged", "new-order", "\\commit", "rollback;", "17"
    ),
    Change(
        "an order has fewer lines than it says",
        "new-order",
        ":lines, :all_local",
        ":lines + 1, :all_local",
        "04 06",
    ),
    Change(
        "a payment is not added to its district",
        "payment",
        "d_ytd = d_ytd + :amount",
        "d_ytd = d_ytd",
        "01 09",
    ),
    Change(
        "a payment is not taken off the balance",
        "payment",
        "c_balance = c_balance - :amount",
        "c_balance = c_balance",
        "10 12",
    ),
    Change(
        "a payment is not added to the customer's",
        "payment",
        "c_ytd_payment + :amount",
        "c_ytd_payment",
        "12",
    ),
    Change("a payment is not counted", "payment", "c_payment_cnt + 1", "c_payment_cnt", "16"),
    Change(
        "the history names another customer",
        "payment",
        "values (:c, :c_d",
        "values (:c % 3000 + 1, :c_d",
        "10 16",
    ),
    Change(
        "a number of orders is left out", "new-order", "d_next_o_id + 1", "d_next_o_id + 2", "03 17"
    ),
    Change("the stock's year to date is not kept", "new-order", "s_ytd + :quantity", "s_ytd", "13"),
    Change(
        "the stock does not count an order", "new-order", "s_order_cnt + 1", "s_order_cnt", "14"
    ),
    Change(
        "a delivered order has no carrier",
        "delivery",
        "set o_carrier_id = :carrier",
        "set o_carrier_id = null",
        "05 07",
    ),
    Change(
        "a delivered line has no date",
        "delivery",
        "ol_delivery_d = current_timestamp",
        "ol_delivery_d = null",
        "07 10 12",
    ),
    Change(
        "a delivery is owed twice",
        "delivery",
        "c_balance + :total",
        "c_balance + 2 * :total",
        "10 12",
    ),
    Change("a delivery is not counted", "delivery", "c_delivery_cnt + 1", "c_delivery_cnt", "11"),
    Change(
        "a new order is not entered as new",
        "new-order",
        "(:o, :d, :w);",
        "(:o - 3000, :d, :w);",
        "02 03 05",
    ),
)

CASES = len(CHANGES)
SHORT = 2

_WORKLOAD = Path(registry.__file__).parent / "workloads" / "tpcc"


def prove(cases: int, seed: int, timeout_s: float, first: int = 0) -> Found:
    """Runs this many programs."""
    del seed, timeout_s
    outcomes, faults = {}, []
    with tempfile.TemporaryDirectory() as folder:
        for number, change in enumerate(CHANGES[first : first + cases], first):
            found = _conditions(change, Path(folder))
            outcomes[f"{change.title}: {found or 'none'}"] = 1
            if found != change.by:
                command = f"python -m proofs tpcc --first {number} --cases 1"
                faults.append(f"{command}\nexpected {change.by or 'none'}, found {found or 'none'}")
    return Found(cases, outcomes, faults)


def _conditions(change: Change, folder: Path) -> str:
    """The numbers of the conditions that do not hold after the run, or what went wrong."""
    with tempfile.TemporaryDirectory(dir=folder) as own:
        workload = shutil.copytree(_WORKLOAD, Path(own) / "tpcc")
        for file in workload.rglob(f"{change.script}.sql"):
            text = file.read_text(encoding="utf-8")
            if change.right not in text:
                return f"{file.name} does not have {change.right!r}"
            file.write_text(text.replace(change.right, change.wrong), encoding="utf-8")
        records = Path(own) / "records.sqlite"
        done = subprocess.run(
            [
                *(str(Path(sys.executable).with_name("assay")), "run", str(workload)),
                *("--on", "sqlite", "--clients", "1", "--warm-up", "0", "--transactions", "46"),
                *("--datasets", str(folder / "datasets"), "--records", str(records)),
            ],
            capture_output=True,
            text=True,
            check=False,
        )
        if not records.exists():
            return done.stderr
        with Store(records, must_exist=True) as store:
            (run,) = store.latest().runs
    if run.driven is None:
        return done.stderr
    return " ".join(sorted({check["id"][:2] for check in run.checks if not check["ok"]}))
