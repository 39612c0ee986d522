"""The shipped experiment files of papers run whole, smaller still than their quick versions, and a
system that is not here stops none of the others."""

from __future__ import annotations

import pytest

from assay import registry
from assay.contracts.systems.abilities import Findable
from assay.errors import SystemUnderTestError
from assay.report.build import build
from assay.report.papers.claims import judged_claims
from assay.report.papers.claims.judgement import ClaimVerdict
from assay.storages.block.file_systems import kernel_has
from block_devices import HAS_LOOP_DEVICES
from commands import Assay
from shown_report import table_of

EXPERIMENTS = registry.EXPERIMENTS_FOLDER
IN_MEMORY = ("--storage", "tmpfs", "--no-probe", "--no-durability", "--repetitions", "1")


def is_missing(name: str) -> bool:
    system = registry.system(name)
    try:
        return isinstance(system, Findable) and not system.find()
    except SystemUnderTestError:
        return True


def test_kreymer_1995(assay: Assay) -> None:
    ended = assay(
        "run", EXPERIMENTS / "kreymer-1995.toml", "--quick", "--on", "sqlite",
        "--set", "records=50,100,1000", "--set", "updates=5", *IN_MEMORY,
    )  # fmt: skip
    assert ended.status == 0, ended.err
    report = build(ended.experiment)
    scaled = [
        [cell.shown for cell in row.cells[:3]] for row in table_of(report, "scaled_down").rows
    ]
    assert ["updates", "1000", "5"] in scaled
    rows = table_of(report, "published_and_measured_table").rows
    assert [row.cells[2].shown for row in rows] == ["published", "measured", "measured ÷ published"]
    assert [cell.shown for cell in rows[0].cells[3:]] == [
        "0.07",
        "0.3",
        "0.023",
        "1.5",
        "4.2",
        "1.6",
    ]
    assert all(cell.number for cell in rows[1].cells[3:])
    is_divided = [cell.number is not None for cell in rows[2].cells[3:]]
    assert is_divided == [True, False, True, False, False, False], "one record is one of any set"
    connect = table_of(report, "published_and_measured_connect")
    assert connect.rows[0].cells[2].shown == "12" and connect.rows[1].cells[2].number
    cpu = table_of(report, "published_and_measured_update")
    assert [cell.shown for cell in cpu.rows[0].cells] == [
        "mSQL 1.0.7", "1000", "published", "", "80", "15",
    ]  # fmt: skip
    client = cpu.rows[1].cells[5].number
    # Five updates take 3 ms, less than it takes to begin and end the clients.
    assert client is not None and 1 < client.value <= 1000, "in percent of one processor"
    words = {one.claim.kind: one.word for one in judged_claims.judged(ended.experiment)}
    assert words["equals"] == "holds", "every dump is that of a single client"


@pytest.mark.parametrize("name", ["bibsql.sizes", "e831.table"])
def test_a_series_that_is_asked_for_ends_with_its_table(assay: Assay, name: str) -> None:
    rows = ("--set", "records=20") if name == "e831.table" else ()
    ended = assay("run", name, "--quick", "--on", "sqlite", *rows, *IN_MEMORY)
    assert ended.status == 0, ended.err
    heading = {"bibsql.sizes": "size on disk  files", "e831.table": "init load, min"}[name]
    assert 0 < ended.out.index(heading) < ended.out.index("verdict ")


def test_cubrid_2010_without_one_of_its_systems(assay: Assay) -> None:
    ended = assay(
        "run", EXPERIMENTS / "cubrid-2010.toml", "--quick", "--on", "cubrid,sqlite",
        "--set", "tables=2", "--set", "rows=100", "--clients", "2", "--duration", "0.5",
        "--warm-up", "0", *IN_MEMORY,
    )  # fmt: skip
    assert ended.status == 0, ended.err
    assert {run.state for run in ended.runs if run.system == "sqlite"} == {"done"}
    found = judged_claims.judged(ended.experiment)
    assert len(found) >= 8
    if is_missing("cubrid"):
        assert {run.state for run in ended.runs if run.system == "cubrid"} == {"refused"}
        of_cubrid = [one for one in found if one.claim.text.startswith("CUBRID")]
        assert {one.word for one in of_cubrid} == {ClaimVerdict.NOT_COMPARABLE}
        assert all("cubrid was not measured" in one.why for one in of_cubrid)


def test_ciarrocchi_2002(assay: Assay) -> None:
    """The memory of a published row is found in proportion to the data, and what was not run is
    said."""
    if is_missing("postgresql"):
        pytest.skip("postgresql is not here")
    ended = assay(
        "run", EXPERIMENTS / "ciarrocchi-2002.toml", "--quick", "--set", "tuples=10000",
        "--memory", "none,160MB", *IN_MEMORY,
    )  # fmt: skip
    assert ended.status == 0, ended.err
    of_table = table_of(build(ended.experiment), "published_and_measured_osdb")
    ours = [row.cells for row in of_table.rows if row.cells[2].shown == "measured"]
    assert [cells[1].shown for cells in ours] == ["64MB", "none"] * 2
    assert all(cells[3].number and cells[3].number.value > 0 for cells in ours)
    words = {one.claim.text[:8]: one.reason for one in judged_claims.judged(ended.experiment)}
    assert "24MB, 60MB was not measured" in words["with 0.6"]
    assert words["with as "] == "it compares two kernels"


@pytest.mark.skipif(not HAS_LOOP_DEVICES, reason="needs root and loop devices")
def test_a_file_system_that_the_kernel_does_not_have_is_named(assay: Assay) -> None:
    if is_missing("postgresql") or kernel_has("minix"):
        pytest.skip("postgresql is not here, or this kernel has minix")
    ended = assay(
        "run", EXPERIMENTS / "kirkwood-2002.toml", "--quick", "--only", "ext3-journal,minix",
        "--only", "single", "--no-probe", "--no-durability",
    )  # fmt: skip
    assert ended.status == 0, ended.err
    rows = table_of(build(ended.experiment), "published_and_measured_single").rows
    found = {row.cells[1].shown: row.cells[3] for row in rows if row.cells[2].shown == "measured"}
    assert found["ext3-journal"].number
    assert "kernel has no file system minix" in found["minix"].note
    assert "kernel has no file system minix" in ended.err


@pytest.mark.skipif(not HAS_LOOP_DEVICES, reason="needs root and loop devices")
def test_scalzo_2001(assay: Assay, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each column of the table has a number of ours, that of the creation included, which needs a
    data directory that is made and not copied."""
    if is_missing("mariadb"):
        pytest.skip("mariadb is not here")
    monkeypatch.delenv("ASSAY_NEW_DATA", raising=False)
    ended = assay(
        "run", EXPERIMENTS / "scalzo-2001.toml", "--quick", "--only", "ext2", "--only", "mariadb",
        "--only", "single,oltp", "--no-probe", "--no-durability",
    )  # fmt: skip
    assert ended.status == 0, ended.err
    report = build(ended.experiment)
    rows = table_of(report, "published_and_measured_oltp").rows
    assert [cell.shown for cell in rows[0].cells[:3]] == ["not stated", "ext2", "published"]
    ours = ["mariadb", "ext2", "measured"]
    (measured,) = (row for row in rows if [cell.shown for cell in row.cells[:3]] == ours)
    assert all(cell.number and cell.number.value > 0 for cell in measured.cells[3:])
    rows = table_of(report, "published_and_measured_single").rows
    (measured,) = (row for row in rows if [cell.shown for cell in row.cells[:3]] == ours)
    assert [cell.number is not None for cell in measured.cells[3:]] == [True, False, True]
    words = {
        one.claim.text.split()[0]: one.reason for one in judged_claims.judged(ended.experiment)
    }
    assert words["Reiser"] == "Linux has no ReiserFS any more"
