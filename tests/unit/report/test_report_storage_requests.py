"""What a storage with an account of its own did is kept by second, and reported by operation."""

from __future__ import annotations

from pathlib import Path

import invented_records as invented
from assay.contracts.storage_facts import StorageFacts
from assay.contracts.storages.abilities import AccountedSecond
from assay.record import Store
from assay.report.build import build

MS = 1_000_000
PATH_COST = [
    {
        "operation": operation,
        "depth": depth,
        "path_cost_ns": cost_ns,
        "modelled_ns": 6 * MS,
        "measured_ns": measured_ns,
    }
    for operation, depth, cost_ns, measured_ns in (
        ("read", 1, 50_000, 6 * MS),
        ("read", 16, 90_000, 7 * MS),
        ("write", 1, 70_000, 9 * MS),
        ("flush", 1, 80_000, 6 * MS),
    )
]
DISK = StorageFacts(
    "old disk",
    "modelled",
    "/data",
    "ext4",
    "/dev/loop3",
    is_own_device=True,
    facts={"model": {"profile": "scsi-15k", "source": "a data sheet"}, "path_cost": PATH_COST},
    label_notes=("modelled",),
)
SECONDS = (
    AccountedSecond(0, "flush", 10, 0, 0, 40 * MS, 9 * MS, 10_000),
    AccountedSecond(0, "write", 10, 0, 81_920, 20 * MS, 3 * MS, 10_000),
    AccountedSecond(1, "flush", 30, 1, 0, 80 * MS, 8 * MS, 30_000),
    AccountedSecond(1, "lost", 3, 0, 0, 0, 0, 0),
)


def test_requests_are_kept_by_second_and_reported_by_operation(tmp_path: Path) -> None:
    planned = invented.plan([invented.SQLITE])
    with Store(tmp_path / "records.sqlite") as store:
        invented.begin(store, planned)
        run = planned.runs[0]
        run_id = invented.write_run(
            store, run, 2 * invented.S, deployment={"storage": DISK}, storage_requests=SECONDS
        )
        store.end_experiment()
        assert store.run(run_id).storage_requests == SECONDS
        found = store.latest()
    tables = {table.name: table for section in build(found).sections for table in section.tables}
    table = next(one for name, one in tables.items() if name.endswith("storage_requests"))
    shown = [[cell.shown for cell in row.cells][-8:] for row in table.rows]
    assert shown == [
        ["write", "5.000", "8.19 kB", "2.00 ms", "3.00 ms", "1.00 µs", "70.0 µs", "0"],
        ["flush", "20.00", "-", "3.00 ms", "9.00 ms", "1.00 µs", "80.0 µs", "1"],
    ]
    assert table.notes[-1].startswith("3 requests missing in the account")
    subtracted = [row.cells[-1].shown for row in tables["modelled_disks"].rows]
    assert subtracted == ["50.0 µs", "90.0 µs", "70.0 µs", "80.0 µs"]
    what, *notes = tables["modelled_disks"].notes
    assert "flush: of one page" in what
    assert tuple(notes) == (
        "scsi-15k is modelled on a data sheet",
        "not within 5% of its model: old disk at depth 16: 7.00 ms measured, 6.00 ms by its model; "
        "more than the I/O path overhead of 90.0 µs explains; was the machine busy?",
    )


def test_a_storage_without_an_account_has_no_such_table(tmp_path: Path) -> None:
    found = invented.experiment(tmp_path / "records.sqlite", invented.plan([invented.SQLITE]), 1.0)
    names = {table.name for section in build(found).sections for table in section.tables}
    assert not [name for name in names if "storage_requests" in name or "modelled" in name]
