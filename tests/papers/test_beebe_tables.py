"""Tables 1 and 2 of Beebe (2011) come out of one experiment file in the paper's own shape."""

from __future__ import annotations

from pathlib import Path

import pytest

from assay.report.build import build
from assay.report.values import Row
from assay.storages.modelled import MODELLED
from commands import Assay
from shown_report import table_of

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

pytestmark = pytest.mark.skipif(
    MODELLED.why_unavailable() is not None, reason="needs root, FUSE and loop devices"
)


def numbers(row: Row) -> list[float | None]:
    return [cell.number.value if cell.number else None for cell in row.cells]


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
