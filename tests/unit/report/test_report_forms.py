"""One report, invented and complete, in each form."""

from __future__ import annotations

import csv
import io
import re
from dataclasses import replace
from pathlib import Path

import pytest
from msgspec import structs

import golden_record
import invented_records as invented
from assay.contracts.storage_facts import StorageFacts
from assay.experiment import SystemChoice
from assay.report.build import build
from assay.report.cells import cell_runs
from assay.report.forms import csv as csv_form
from assay.report.forms import json as json_form
from assay.report.forms import markdown as markdown_form
from assay.report.forms import table as table_form
from assay.report.forms import upright
from assay.report.forms.csv import write_rows
from assay.report.values import (
    Report,
    ReportColumn,
    ReportTable,
    Row,
    Section,
    WarningNote,
    count,
    text,
)
from shown_report import text_of


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> Report:
    return build(golden_record.of_a_paper(tmp_path_factory.mktemp("records") / "r.sqlite"))


@pytest.fixture
def quick(tmp_path: Path) -> Report:
    return build(golden_record.of_a_quick_test(tmp_path / "r.sqlite"))


def test_a_large_table_leaves_out_details_with_a_note(report: Report) -> None:
    brief, full = text_of(table_form, report), text_of(table_form, report, detail=True)
    assert "2 tables of details left out; --detail shows them" in brief
    assert "Each run" not in brief
    assert "Each run" in full
    assert "left out" not in full


@pytest.mark.slow
def test_a_table_is_never_wider_than_80_columns_and_loses_nothing(tmp_path: Path) -> None:
    storages = [
        replace(invented.SSD, name=f"storage-{letter}", directory=f"/{letter}")
        for letter in "abcdefg"
    ]
    planned = invented.plan([invented.MARIADB], storages, repetitions=2)
    report = build(
        invented.experiment(tmp_path / "r.sqlite", planned, 1234.5, workload=golden_record.PAPER)
    )
    text = text_of(table_form, report, detail=True)
    assert max(len(line) for line in text.splitlines()) <= 80
    for storage in storages:
        assert storage.name in text
    result = text[text.index("Test parallel") : text.index("Transaction out")]
    assert result.count("1234 (1234-1234)") == len(storages)


def test_names_with_options_are_broken_in_headings_before_a_table_is_split(tmp_path: Path) -> None:
    names = [f"loop[fs={name},size=2G]" for name in ("ext4", "xfs", "btrfs")]
    storages = [replace(invented.SSD, name=name, directory=f"/{name}") for name in names]
    planned = invented.plan([invented.SQLITE], storages)
    declared = {"report": golden_record.PAPER["report"]}
    report = build(invented.experiment(tmp_path / "r.sqlite", planned, 1.0, workload=declared))
    text = text_of(table_form, report)
    result = text[text.index("Test parallel") : text.index("Transaction out")]
    assert len(re.findall("^─", result, re.MULTILINE)) == 1
    assert re.search(r"^ +\[fs=ext4, +\[fs=xfs, +\[fs=btrfs, +loop +loop$", result, re.MULTILINE)


def test_texts_are_broken_at_the_ends_of_words() -> None:
    """Only what is longer than its column is broken within a word."""
    storages = ("modelled[profile=scsi-15k,size=128M]", "loop[size=128M,mount=nobarrier]")
    rows = [Row((text("1"), text(name), count(1234567890))) for name in storages]
    columns = (
        ReportColumn("run"),
        ReportColumn("storage"),
        *(ReportColumn("x" * 40, is_number=True),),
    )
    section = Section("s", (), (ReportTable("t", "t", columns, tuple(rows), label_columns=2),))
    made = Report("r", (1,), Path("r"), {}, (section,), (), 1)
    rendered = text_of(table_form, made)
    words = {"modelled[profile=scsi-15k,", "size=128M]", "loop[size=128M,mount=nobarrier]"}
    assert words <= set(rendered.split()), rendered
    version = "PostgreSQL 15.18 (Debian 15.18-0+deb12u1) at 127.0.0.1"
    assert list(upright.lines_of(version, 13)) == [
        "PostgreSQL", "15.18 (Debian", "15.18-0+", "deb12u1) at", "127.0.0.1",
    ]  # fmt: skip


def test_details_behind_a_bracket_have_none_of_their_own() -> None:
    assert WarningNote("n", "little of it (vacuum)", ("4 s",), "").sentence == (
        "little of it (vacuum): 4 s"
    )


def test_nothing_but_a_terminal_gets_colour(quick: Report) -> None:
    for form in (table_form, markdown_form, csv_form, json_form):
        assert "\x1b" not in text_of(form, quick)


def test_markdown_rows_have_as_many_cells_as_their_heads(report: Report) -> None:
    text = text_of(markdown_form, report)
    tables = [part.splitlines() for part in text.split("\n\n") if part.startswith("|")]
    assert len(tables) > 10
    for table in tables:
        assert len({line.count("|") - line.count("\\|") for line in table}) == 1, table
    assert "| **clients = 16** |" in text
    assert "~" not in text.replace("\\~", ""), "a bare ~ would strike text out"


def test_titles_are_escaped_in_markdown(report: Report) -> None:
    text = text_of(markdown_form, structs.replace(report, title="<script>alert(1)</script>"))
    assert text.startswith("# \\<script>alert(1)\\</script>\n")


def test_a_text_that_spreadsheets_would_execute_is_none_in_csv() -> None:
    texts = ["=1+1", "+x", "-x", "@x", "\tx", "a=1", "-1", "+1e3"]
    stream = io.StringIO()
    write_rows(stream, 1, ["n", "text"], [{"n": -1.5, "text": text} for text in texts])
    rows = list(csv.DictReader(stream.getvalue().splitlines()))
    assert [row["n"] for row in rows] == ["-1.5"] * len(texts)
    assert [row["text"] for row in rows[:4]] == ["'=1+1", "'+x", "'-x", "'@x"]
    assert [row["text"] for row in rows[5:]] == ["a=1", "-1", "+1e3"]


def test_a_row_is_found_by_its_name(tmp_path: Path) -> None:
    """Other columns are narrowed first: no name is broken, and no table of 80 columns is cut in
    two."""
    system = SystemChoice("postgresql", url="postgresql://u@127.0.0.1/d")
    planned = invented.plan([system], test="checks", clients=(1,))
    text = text_of(table_form, build(invented.experiment(tmp_path / "r.sqlite", planned, 1.5)))
    assert text.count("postgresql at 127.0.0.1") == len(re.findall("postgresql at", text))
    for section in text.split("\n\n"):
        assert len(re.findall("^ *─", section, re.MULTILINE)) <= 1, section


def test_a_terminal_is_used_in_its_width(report: Report, monkeypatch: pytest.MonkeyPatch) -> None:
    class Terminal(io.StringIO):
        def isatty(self) -> bool:
            return True

    monkeypatch.setenv("COLUMNS", "140")
    monkeypatch.setenv("TERM", "xterm")
    wide = Terminal()
    table_form.render(report, wide)
    plain = re.sub("\x1b[^m]*m", "", wide.getvalue())
    assert 100 < max(len(line) for line in plain.splitlines()) <= 140


def test_the_storage_of_a_server_by_url_is_not_seen(tmp_path: Path) -> None:
    system = SystemChoice("postgresql", url="postgresql://u@127.0.0.1/d")
    planned = invented.plan([system], test="checks", clients=(1,))
    storage = StorageFacts.of_url()
    record = invented.experiment(
        tmp_path / "r.sqlite",
        planned,
        1.5,
        deployment={"storage": storage},
    )
    tables = {one.name: one for part in build(record).sections for one in part.tables}
    (row,) = tables["storages"].rows
    assert (row.cells[0].shown, row.cells[-1].shown) == ("not seen", "-")
    assert cell_runs.cells(record, record.runs)[0].name == "postgresql at 127.0.0.1, 1 client"


def test_the_title_of_a_block_widens_no_column_and_is_whole(tmp_path: Path) -> None:
    long = replace(invented.SSD, name=f"loop[{'option=value,' * 9}]")
    planned = invented.plan([invented.POSTGRESQL, invented.SQLITE], [invented.HERE, long])
    declared = {"report": {"parallel": {"title": "T", "rows": "clients", "columns": "system"}}}
    found = invented.experiment(tmp_path / "r.sqlite", planned, 2.0, workload=declared)
    text = text_of(table_form, build(found))
    part = text[text.index("\nT\n") : text.index("Storages compared")]
    assert f"storage={long.name}" in "".join(part.split())
    assert max(map(len, part.splitlines())) <= 80
    assert part.count("2.000") == 4
    assert len(re.findall("^ *─", part, re.MULTILINE)) == 1, "it is not cut in two"


@pytest.mark.parametrize("width", [50, 80, 100, 200])
def test_few_runs_stand_side_by_side_before_a_table_is_cut(
    tmp_path: Path, width: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", str(width))
    planned = invented.plan([invented.POSTGRESQL, invented.SQLITE])
    experiment = invented.experiment(tmp_path / "r.sqlite", planned, 2.0)
    shown = text_of(table_form, build(experiment), True)
    assert max(map(len, shown.splitlines())) <= width
    part = shown.partition("Each run\n")[2].partition("\n\n")[0]
    assert part.count("system") == 1, "labels stand there once, so it is not cut"
    assert len(re.findall("postgresql", part)) == 1
