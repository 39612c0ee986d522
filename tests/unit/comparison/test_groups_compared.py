"""The number of clients of a group is a factor, also where it is as the workload declares it."""

from __future__ import annotations

from pathlib import Path

import assay
from assay import comparison
from assay.record import Store

WORKLOAD = """
title = "Two groups"
source = "a test"
default_test = "both"

[data]
source = "none"

[tests.both]
title = "Both"
help = "Both groups"
changes_data = false

[[tests.both.steps]]
do = "drive"
name = "drive"

[[tests.both.steps.groups]]
name = "readers"
scripts = ["one.sql"]
clients = 1
transactions = 5

[[tests.both.steps.groups]]
name = "writers"
scripts = ["one.sql"]
clients = 1
transactions = 5
"""


def test_cells_are_paired_with_the_clients_of_a_group_left_out(tmp_path: Path) -> None:
    (tmp_path / "w").mkdir()
    (tmp_path / "w" / "workload.toml").write_text(WORKLOAD)
    (tmp_path / "w" / "one.sql").write_text("SELECT 1;\n")
    records = tmp_path / "r.sqlite"
    assay.run(
        tmp_path / "w",
        on="null",
        clients={"readers": [1, 4], "writers": [1, 2]},
        repetitions=2,
        probe_s=0,
        records=records,
    )
    with Store(records, must_exist=True) as store:
        side = comparison.side("A", "", [store.experiment(1)])
    made = comparison.compare(side, None, between="clients of readers")
    assert [cell.name for cell in made.cells] == [
        "null, here, writers 1",
        "null, here, writers 2",
    ]
    assert made.unequal == ()
