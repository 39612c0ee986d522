"""Tables and lines with letters that take two columns are as wide as is asked, and none is cut."""

from __future__ import annotations

import io
from pathlib import Path

import pytest
from rich.cells import cell_len

import invented_records as invented
from assay import comparison
from assay.cli.output import rows as row_table
from assay.experiment import StorageChoice
from assay.report.build import build
from assay.report.comparison_tables import comparison as compared
from assay.report.forms import table
from assay.report.summaries import first_look
from assay.text.cut import cut, cut_within
from assay.text.line_width import LEAST, line_width

WIDE = "größe 数据库の保存"


def rendered(report: object) -> list[str]:
    stream = io.StringIO()
    table.render(report, stream)  # type: ignore[arg-type]
    return stream.getvalue().splitlines()


def test_tables_with_wide_letters_fit(tmp_path: Path) -> None:
    storages = [StorageChoice(WIDE, "here"), StorageChoice(f"{WIDE} 2", "here")]
    planned = invented.plan([invented.POSTGRESQL], storages, repetitions=3)
    elapsed = {("postgresql", one.name, 8): (1.0, 1.1, 1.2) for one in storages}
    found = invented.experiment(tmp_path / "a", planned, elapsed)
    again = invented.experiment(tmp_path / "b", planned, elapsed)
    sides = [comparison.side(name, "", [one]) for name, one in (("A", found), ("B", again))]
    shown = rendered(compared.build(comparison.compare(*sides)))
    assert max(map(cell_len, shown)) <= 80
    text = "\n".join(shown)
    assert text.count("no difference") == text.count("seen") > 0
    for lines in (
        rendered(build(found)),
        first_look.lines(found, build(found), 80, "assay report"),
    ):
        assert any("数" in line for line in lines)
        assert max(map(cell_len, lines)) <= 80


def test_no_columns_are_no_width(monkeypatch: pytest.MonkeyPatch) -> None:
    for named, width in (("0", None), ("000", None), ("7", LEAST), ("120", 120)):
        monkeypatch.setenv("COLUMNS", named)
        assert line_width(io.StringIO()) == width


@pytest.mark.parametrize("width", [20, 30, 45])
def test_lists_and_cut_names_fit(width: int) -> None:
    rows = [[WIDE, "1"], [f"{WIDE}, {WIDE}", "2"]]
    lines = list(row_table.row_table_lines(["name", "number"], rows, [False, True], width))
    assert max(map(cell_len, lines)) <= width
    assert "".join("".join(lines).split()).count("の") == 3
    no_rows = row_table.row_table_lines(["name", "a number"], [], [False, True], 6)
    assert [*no_rows] == ["name  a number"]
    for cutter in (cut, cut_within):
        assert cell_len(cutter(f"{WIDE}, {WIDE}, {WIDE}", width)) <= width
    assert cut(WIDE, 80) == cut_within(WIDE, 80) == WIDE
