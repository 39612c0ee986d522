"""The workload bibsql, and every sheet of numbers, agree with their sources (Beebe 2011; bibtosql
0.01)."""

from __future__ import annotations

import re
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from msgspec.structs import replace

import invented_records as invented
from assay import registry
from assay.contracts.events import Events
from assay.dialects.sqlite import SQLITE
from assay.errors import ExperimentError
from assay.experiment import Experiment
from assay.load.bibsql import beebe, bibliography
from assay.report.build import build
from assay.workload import reader
from assay.workload.values import Workload


@pytest.fixture(scope="module")
def bibsql() -> Workload:
    return reader.read("bibsql")


def test_schema_is_that_of_bibtosql(bibsql: Workload) -> None:
    bibtab, strtab, namtab = bibsql.tables
    assert [one.name for one in bibsql.tables] == ["bibtab", "strtab", "namtab"]
    assert len(bibtab.columns) == 49
    assert [one.type for one in bibtab.columns] == ["int"] * 3 + ["text"] * 46
    assert [one.name for one in bibtab.columns if one.not_null] == ["entry"]
    assert len(bibtab.indexes) == 22
    assert (bibtab.unique, namtab.unique, strtab.unique) == ((), (("name",),), ())


def test_every_check_expects_its_own_count(bibsql: Workload) -> None:
    names = [f"S{number:02}" for number in range(1, 29)]
    for system in ("sqlite", "postgresql"):
        dialect = registry.system(system).dialect
        scripts = bibsql.scripts_for(bibsql.test("checks"), dialect)
        assert [one.name for one in scripts] == names
        for script in scripts:
            assert script.text.endswith(f";\n\\expect rows :{script.name}\n"), script.path
    assert all(bibsql.titles.values())


JOURNAL = [  # volume, number, pages
    ("1", "1", "1--4"), ("1", "1", "3--5"), ("1", "1", "5--9"), ("1", "1", "40"),
    ("1", "1", "30--31"), ("1", "3", "1--2"), ("2", "2", "1--2"), ("2", "3/4", "1--2"),
    ("5", "1", "20--30"), ("5", "1", "31--33"), ("x", "1", "1--2"),
]  # fmt: skip


def test_the_checks_of_journals_find_what_is_missing_and_what_overlaps(bibsql: Workload) -> None:
    with closing(sqlite3.connect(":memory:")) as entries:
        entries.create_function("regexp", 2, lambda like, text: bool(re.search(like, text)))
        entries.execute(
            "create table bibtab (bibtype, filename, label, journal, volume, number, pages)"
        )
        rows = [("article", "j.bib", f"L{n:02}", "J", *one) for n, one in enumerate(JOURNAL)]
        # Of many journals none is the file's own.
        rows += [("article", "s.bib", f"S{n}", f"J{n}", f"{3 * n}", "7", "1--9") for n in range(4)]
        entries.executemany("insert into bibtab values (?, ?, ?, ?, ?, ?, ?)", rows)
        found = {
            name: entries.execute(bibsql.script_for(name, SQLITE).text).fetchall()
            for name in bibsql.test("journals").scripts
        }
    assert found == {
        "J01": [("j.bib", "J", 2, 5)],
        "J02": [("j.bib", "J", "1", 1, 3), ("j.bib", "J", "2", 0, 2)],
        "J03": [("j.bib", "L01", "J", "1", "1", "3--5", 4)],
        "J04": [("j.bib", "L04", "J", "1", "1", "30--31", 9)],
    }


def test_expected_counts_follow_the_replicas(bibsql: Workload) -> None:
    known, *_ = bibsql.expected  # of Debian 12
    plain = bibsql.expected_counts(known.fingerprint)
    assert {name for name, count in plain.items() if count is not None} == set(known.counts)
    assert len(known.counts) == 28
    assert (plain["S01"], plain["S27"], sum(filter(None, plain.values()))) == (156, 425, 1028)
    tripled = bibsql.expected_counts(known.fingerprint, 3, "full")
    assert tripled == {name: None if count is None else 3 * count for name, count in plain.items()}
    assert bibsql.expected_counts(known.fingerprint, 3, "clean") == plain
    assert set(bibsql.expected_counts("other data").values()) == {None}


def test_a_count_holds_for_the_values_of_parameters_that_it_names(bibsql: Workload) -> None:
    known, *_ = bibsql.expected
    other = {"latest_year": "2012"}
    assert bibsql.expected_counts(known.fingerprint, parameters=other) == {
        **bibsql.expected_counts(known.fingerprint),
        "S05": None,
    }
    assert bibsql.why_not_expected("S05", other) == (
        "for latest_year = 2012: known for latest_year = 2023"
    )
    assert not bibsql.why_not_expected("S04", other)


def test_answers_and_files_are_of_the_same_data_set(bibsql: Workload) -> None:
    files = beebe.manifest().files
    assert len(files) == 13
    size_bytes = sum(size_bytes for size_bytes, _ in files.values())
    assert size_bytes in {one.bytes for one in bibsql.expected}


@pytest.mark.skipif(
    not beebe.is_there(beebe.default_folder()), reason="`assay install beebe` has not been run"
)
def test_the_reader_recognises_the_real_files(bibsql: Workload) -> None:
    """Otherwise every count would be unknown, and a wrong one would pass."""
    asked = Experiment("bibsql", ("checks",), ())
    found = bibliography.resolve(asked, bibsql, Events()).request()
    assert (found.fingerprint, found.items) in {
        (known.fingerprint, known.entries) for known in bibsql.expected
    }


def test_published_speed_ups_are_those_of_the_published_times(bibsql: Workload) -> None:
    tables = [bibsql.published[test] for test in ("sequential", "parallel")]
    rows = [row for table in tables for row in table["rows"]]
    assert len(rows) == 3 + 18
    for row in rows:
        disk, solid_state = row["values"]
        # Three of them are cut instead of rounded.
        assert 0 <= disk / solid_state - row["speed_up"][0] + 0.005 < 0.015, row


WORKLOAD = """\
title = "Small"
source = "nowhere"
default_test = "all"
data.source = "none"
[tests.all]
title = "All"
help = "All of it"
scripts = ["buy"]
passes = 1
[[sheets]]
title = "How far"
file = "README.md"
"""
README = """\
# Small

## How far it is not

| no |
|---|
| no |

## How far

Said before.

| | here | *there* |
|---|---|---:|
| a \\| b | `yes` | no |
| c | | 2 |

Said after.

| other |
|---|
| no |
"""


def _read(folder: Path, readme: str, file: str = "README.md") -> reader.Workload:
    workload = WORKLOAD.replace("README.md", file)
    (folder / "workload.toml").write_text(workload, encoding="utf-8")
    (folder / "README.md").write_text(readme, encoding="utf-8")
    (folder / "buy.sql").write_text("select 1;\n")
    return reader.read(str(folder))


def test_the_table_below_the_heading_is_read(tmp_path: Path) -> None:
    (sheet,) = _read(tmp_path, README).for_record().sheets
    assert sheet["columns"] == ["", "here", "there"]
    assert sheet["rows"] == [["a | b", "yes", "no"], ["c", "", "2"]]


def test_a_file_outside_the_folder_is_refused(tmp_path: Path) -> None:
    (tmp_path / "outside.md").write_text(README, encoding="utf-8")
    (tmp_path / "w").mkdir()
    with pytest.raises(
        ExperimentError, match=r"no file '\.\./outside\.md' in the workload's folder"
    ):
        _read(tmp_path / "w", README, file="../outside.md")
    (tmp_path / "w" / "link.md").symlink_to(tmp_path / "outside.md")
    assert _read(tmp_path / "w", README, file="link.md"), "a link is the author's own"


@pytest.mark.parametrize(
    ("wrong", "right", "line", "complaint"),
    [
        ("## How far\n", "## Far\n", 11, "no heading 'How far'"),
        ("|---|---|---:|", "", 11, "no table below 'How far'"),
        ("| c | | 2 |", "| c | 2 |", 12, "the row 'c' in README.md has 2 cells: expected 3"),
    ],
)
def test_a_mistake_is_placed(
    tmp_path: Path, wrong: str, right: str, line: int, complaint: str
) -> None:
    with pytest.raises(ExperimentError) as refused:
        _read(tmp_path, README.replace(wrong, right))
    assert complaint in str(refused.value) and refused.value.line == line


def test_how_far_tpcc_is_from_the_standard_is_in_its_reports(tmp_path: Path) -> None:
    planned = invented.plan([invented.POSTGRESQL])
    record = invented.experiment(tmp_path / "r.sqlite", planned, 20.0)
    kept = reader.read("tpcc").for_record().sheets
    record = replace(record, workload=replace(record.workload, sheets=kept))
    (section,) = [one for one in build(record).sections if one.title.startswith("How far")]
    (table,) = section.tables
    assert [column.title for column in table.columns[1:4]] == ["TPC-C", "here", "HammerDB 6.0"]
    assert {"home warehouse", "delivery"} <= {row.cells[0].shown for row in table.rows}
