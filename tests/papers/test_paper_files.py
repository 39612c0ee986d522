"""The experiment files of papers, and the tables that they reproduce."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import pybtex.errors
import pytest
from pybtex.database import BibliographyData
from pybtex.database.input import bibtex

import forked_programs
from assay import registry
from assay.contracts.systems.abilities import Findable
from assay.errors import SystemUnderTestError
from assay.load.bibsql import beebe
from assay.load.row_sources.protocol import input_folder
from assay.report.build import build
from assay.report.papers import judged_claims
from assay.report.papers.claims import ClaimVerdict
from assay.report.values import Row
from assay.storages.file_systems import kernel_has
from assay.storages.modelled import MODELLED
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
        "0.07", "0.3", "0.023", "1.5", "4.2", "1.6",
    ]  # fmt: skip
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
    words = {one.claim.kind: one.word for one in judged_claims.judged_claims(ended.experiment)}
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
    found = judged_claims.judged_claims(ended.experiment)
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
    words = {
        one.claim.text[:8]: one.reason for one in judged_claims.judged_claims(ended.experiment)
    }
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
        "--only", "single,oltp", "--set", "warm_s=0", "--set", "measured_s=0.5", "--no-probe",
        "--no-durability",
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
        one.claim.text.split()[0]: one.reason
        for one in judged_claims.judged_claims(ended.experiment)
    }
    assert words["Reiser"] == "Linux has no ReiserFS any more"


FILE = """
reproduces = "Beebe 2011"
workload = "bibsql"
tests = ["sequential", "parallel"]
systems = [{systems}]
storages = ["flash", "plates"]
input = "{bib}"

[storage.flash]
kind = "modelled"
profile = "fusion-io"
size = "300M"

[storage.plates]
kind = "modelled"
profile = "scsi-15k"
size = "300M"

[test.sequential.parameters]
copies = 1

[test.parallel]
clients = [2, 8]
"""
NEEDS_MODELLED = pytest.mark.skipif(
    MODELLED.why_unavailable() is not None, reason="needs root, FUSE and loop devices"
)


def numbers(row: Row) -> list[float | None]:
    return [cell.number.value if cell.number else None for cell in row.cells]


@NEEDS_MODELLED
def test_both_tables_have_the_papers_rows_and_columns(
    assay: Assay, beebe: Path, available: list[str], tmp_path: Path
) -> None:
    systems = [name for name in ("sqlite", "postgresql") if name in available]
    file = tmp_path / "small.toml"
    named = ", ".join(f'"{name}"' for name in systems)
    file.write_text(FILE.format(systems=named, bib=beebe / "texbook1.bib"))
    ended = assay("run", file, "--no-probe")
    assert ended.status == 0, ended.err
    for title in ("Table 1", "Table 2"):
        assert title in ended.out  # the run itself prints what the paper has
    assert "claims       " in ended.out
    assert "Server processes" not in ended.out  # numbers of the paper's text are in the report
    report = build(ended.experiment)

    one = table_of(report, "sequential_paper")
    titles = [column.title for column in one.columns]
    assert titles == ["system", "numbers", "disk", "Fusion-io", "speed-up"]
    rows = [[cell.shown for cell in row.cells[:2]] for row in one.rows]
    measured = ["measured", "measured ÷ published", "judged"]
    assert rows == [
        ["MySQL", "published"],
        *(["PostgreSQL", word] for word in ("published", *measured) if "postgresql" in systems),
        *(["SQLite", word] for word in ("published", *measured)),
    ]
    disk, flash, speed_up = numbers(one.rows[-3])[2:]
    assert disk and flash and speed_up == pytest.approx(disk / flash), "by role, not by order"
    assert numbers(one.rows[-2])[-1] == pytest.approx(speed_up / 60.58)
    assert one.rows[-1].cells[-1].shown == "open", "one repetition"
    assert "disk: plates (modelled)" in one.notes
    assert "copies: 100 published, 1 measured" in one.notes

    two = table_of(report, "parallel_paper")
    columns = [column.title.split("\n") for column in two.columns[2:]]
    assert columns == [
        [system, title]
        for system in ("MySQL", "PostgreSQL", "SQLite")
        for title in ("disk", "Fusion-io", "speed-up")
    ]
    published = [row for row in two.rows if row.cells[1].shown == "published"]
    assert [row.cells[0].shown for row in published] == ["8", "16", "32", "64", "128", "256"]
    assert numbers(published[-1])[2:] == [5495, 6199, 0.88, 8554, 2852, 3.0, 12900, 6529, 1.98]
    ours = [row for row in two.rows if row.cells[1].shown == "measured"]
    assert [row.cells[0].shown for row in ours] == ["2", "8"]
    assert all(value for value in numbers(ours[0])[-3:]), "SQLite, at a level the paper lacks"

    of_servers = table_of(report, "processes_paper")
    assert [row.cells[0].shown for row in of_servers.rows][:1] == ["MySQL"]
    claims = table_of(report, "claims")
    judged = {row.block_title: row.cells[-1].shown for row in claims.rows}
    mysql = next(word for claim, word in judged.items() if "MySQL hardly gains" in claim)
    assert mysql.startswith("open: ")


PACKAGES = {
    "bibtexconv": ("bibtexconv/examples", ("ExampleReferences.bib",)),
    "hevea": ("hevea/examples/upstream", ("bib.bib", "natbib.bib")),
    "r-cran-knitr": ("knitr/examples", ("knitr-manual.bib", "knitr-packages.bib")),
}
"""Package → the end of the folder in it, and files there."""
FEWEST = {"ExampleReferences.bib": 200, "bib.bib": 30, "knitr-packages.bib": 10}
"""The least number of entries of the larger ones, since two parsers that find nothing agree too."""
EXPLAINED: dict[tuple[str, str], str] = {}
"""(file, key) → why only one of the two has the entry. No difference is known."""


@pytest.fixture(scope="session", params=PACKAGES)
def package(request: pytest.FixtureRequest) -> list[Path]:
    """The package's bibliographies, downloaded and kept like those of `bibsql`."""
    inside, names = PACKAGES[request.param]
    folder = input_folder() / "debian" / request.param
    files = [folder / name for name in names]
    if not all(file.is_file() for file in files):
        folder.mkdir(parents=True, exist_ok=True)
        try:
            beebe.take_debian_package(request.param, inside, names, folder, print)
        except beebe.PackageUnavailable as reason:
            pytest.skip(f"the package {request.param} cannot be had: {reason}")
    return files


def test_the_entries_are_those_of_another_parser(package: list[Path]) -> None:
    assert package, "a package without bibliographies compares nothing"
    for file in package:
        ours = our_keys(file)
        with pybtex.errors.capture():  # undefined macros, which are warnings in ours too
            parsed: BibliographyData = bibtex.Parser().parse_file(str(file))
        theirs = sorted(parsed.entries)
        differing = {(file.name, key) for key in set(ours) ^ set(theirs)}
        assert differing <= EXPLAINED.keys(), file
        assert len(ours) == len(set(ours)), file
        assert len(ours) >= FEWEST.get(file.name, 1), file


def our_keys(file: Path) -> list[str]:
    """The column ``label`` of every row of the script that `bibtosql` writes."""
    done = forked_programs.run("bibtosql", ["--create", file])
    assert done.returncode == 0, done.stderr
    with closing(sqlite3.connect(":memory:")) as opened:
        opened.executescript(done.stdout.replace(".bail on\n", "", 1))
        return [label for (label,) in opened.execute("SELECT label FROM bibtab")]
