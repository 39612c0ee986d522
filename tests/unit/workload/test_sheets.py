"""A workload's own tables are read from its Markdown, kept with each experiment, and shown."""

from __future__ import annotations

from pathlib import Path

import pytest
from msgspec.structs import replace

import invented_records as invented
from assay.errors import ExperimentError
from assay.report.build import build
from assay.workload import reader

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
    (sheet,) = _read(tmp_path, README).for_record()["sheets"]
    assert sheet["columns"] == ["", "here", "there"]
    assert sheet["rows"] == [["a | b", "yes", "no"], ["c", "", "2"]]


EXAMPLE = """\
```
## How far

| example | of a table |
|---|---|
| in | code |
```

<!--
## How far

| old | table |
|---|---|
| in | a comment |
-->

"""


def test_code_and_comments_hold_no_table(tmp_path: Path) -> None:
    (sheet,) = _read(tmp_path, EXAMPLE + README).for_record()["sheets"]
    assert sheet["columns"] == ["", "here", "there"]


def test_a_table_may_be_written_without_its_outer_bars_and_with_links(tmp_path: Path) -> None:
    """Of a link the words are shown, without its address."""
    table = "## How far\n\na | b\n---|---\n[c](https://example.org) | <b>d</b>\n"
    (sheet,) = _read(tmp_path, table).for_record()["sheets"]
    assert (sheet["columns"], sheet["rows"]) == (["a", "b"], [["c", "d"]])


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
    kept = reader.read("tpcc").for_record()["sheets"]
    record = replace(record, workload={**record.workload, "sheets": kept})
    (section,) = [one for one in build(record).sections if one.title.startswith("How far")]
    (table,) = section.tables
    assert [column.title for column in table.columns[1:4]] == ["TPC-C", "here", "HammerDB 6.0"]
    assert {"home warehouse", "delivery"} <= {row.cells[0].shown for row in table.rows}
