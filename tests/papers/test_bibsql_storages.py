"""The paper's table over several storages, with what a probe found of each beside it."""

from __future__ import annotations

from pathlib import Path

import pytest

from assay.probe import fio
from assay.report.build import build
from assay.storages.modelled import MODELLED
from commands import Assay
from shown_report import table_of

STORAGES = {
    "here": "here",
    "loop": "loop=loop[fs=ext4,size=300M]",
    "disk (modelled)": "disk=modelled[profile=scsi-15k,size=300M]",
}

pytestmark = [
    pytest.mark.skipif(not fio.is_installed(), reason="fio is not installed"),
    pytest.mark.skipif(
        MODELLED.why_unavailable() is not None, reason="needs root, FUSE and loop devices"
    ),
]


@pytest.mark.alone  # storages are not ranked beside other programs
def test_a_column_for_each_storage_speed_ups_and_probes(
    assay: Assay, beebe: Path, available: list[str]
) -> None:
    systems = [name for name in ("postgresql", "sqlite") if name in available]
    ended = assay(
        "run", "bibsql.sequential", "--on", ",".join(systems), "--storage",
        ",".join(STORAGES.values()), "--set", "copies=1", "--bib", beebe / "texbook1.bib",
        "--probe-seconds", "1",
    )  # fmt: skip
    assert ended.status == 0, ended.err
    report = build(ended.experiment)

    times = table_of(report, "sequential")
    assert [column.title for column in times.columns] == [
        "system", *STORAGES, "speed-up\nloop", "speed-up\ndisk (modelled)",
    ]  # fmt: skip
    assert [row.cells[0].shown for row in times.rows] == systems
    for row in times.rows:
        assert row.block_title == ""  # it commits nothing: durability makes no difference
        here, *others = [cell.number.value for cell in row.cells[1:4] if cell.number]
        speed_ups = [cell.number.value for cell in row.cells[4:] if cell.number]
        assert speed_ups == pytest.approx([here / other for other in others])

    probes = table_of(report, "storage_probes")
    places = [part.title for part in report.sections]
    assert places.index("Storages by probe") == places.index("Test sequential") + 1
    by_storage = {row.cells[0].shown: row for row in probes.rows}
    assert list(by_storage) == list(STORAGES)
    reads = by_storage["disk (modelled)"].cells[1].number
    # Half a turn of its platter takes 2 ms, whatever the machine.
    assert reads is not None and reads.value < 500
    models = table_of(report, "modelled_disks")
    assert {row.cells[0].shown for row in models.rows} == {"disk (modelled)"}

    ranks = table_of(report, "sequential_storage_ranks")
    expected = [(system, "1", "3", "reads/s, depth 1") for system in systems]
    assert [tuple(cell.shown for cell in row.cells[:4]) for row in ranks.rows] == expected
