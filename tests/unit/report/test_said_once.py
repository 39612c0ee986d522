"""A verdict or reason that all cells share is said once above their table, and what holds no value
is left out."""

from __future__ import annotations

import io
from collections.abc import Sequence
from pathlib import Path

import pytest

import invented_records as invented
from assay.comparison.compare_sides import compare
from assay.comparison.sides.sides import side
from assay.record import ExperimentRecord
from assay.report import build as empty_parts
from assay.report.build import build
from assay.report.comparison_tables import comparison
from assay.report.forms import github_summary, markdown, table
from assay.report.page.document import render as page
from assay.report.values import (
    Number,
    Report,
    ReportCell,
    ReportColumn,
    ReportTable,
    Row,
    Section,
    absent,
    text,
)
from shown_report import text_of


def measured(path: Path, seconds: Sequence[Sequence[float]]) -> ExperimentRecord:
    """The repetitions of PostgreSQL at 1, 2 … clients."""
    clients = range(1, len(seconds) + 1)
    planned = invented.plan([invented.POSTGRESQL], clients=clients, repetitions=len(seconds[0]))
    elapsed = {
        ("postgresql", "here", count): of_cell
        for count, of_cell in zip(clients, seconds, strict=True)
    }
    return invented.experiment(path / "r.sqlite", planned, elapsed)


def written(report: Report, form: object) -> str:
    stream = io.StringIO()
    form(report, stream)  # type: ignore[operator]
    return " ".join(stream.getvalue().split())


@pytest.mark.parametrize(
    "form",
    [table.render, markdown.render, github_summary.render, page],
    ids=["terminal", "markdown", "github", "page"],
)
def test_the_reason_of_all_cells_is_said_once(tmp_path: Path, form: object) -> None:
    report = build(measured(tmp_path, [[1.0], [1.0], [1.0]]))
    shown = written(report, form)
    assert "[1] indicative" not in shown
    if form is page:
        shown, _, _ = shown.partition("<nav")
    tables = 2 if form in (table.render, markdown.render) else 1  # of throughput and of costs
    assert shown.count("indicative: one repetition") <= tables, shown


def test_what_only_some_have_stays_with_them(tmp_path: Path) -> None:
    experiment = measured(tmp_path, [[1.0, 1.0, 1.9], [1.0, 1.0, 1.5], [1.0, 1.0, 1.5]])
    (summary,) = build(experiment).summary.tables
    assert [column.title for column in summary.columns][-1] == "why"
    assert [row.cells[-1].shown for row in summary.rows] == [
        "repetitions differ by 47 %",
        "repetitions differ by 33 %",
        "repetitions differ by 33 %",
    ]


def test_the_summary_of_equal_verdicts_has_no_column_for_them(tmp_path: Path) -> None:
    report = build(measured(tmp_path, [[1.0], [1.0]]))
    (shown,) = report.summary.tables
    assert not {"verdict", "why"} & {column.title for column in shown.columns}
    assert report.summary.lines[0] == "2 cells in 2 runs: 2 indicative: one repetition"


def test_a_comparison_says_the_verdict_of_all_cells_above_them(tmp_path: Path) -> None:
    even = [[1.0, 1.01, 1.0]] * 4
    sides = []
    for name in ("A", "B"):
        (tmp_path / name).mkdir()
        sides.append(side(name, name, [measured(tmp_path / name, even)]))
    report = comparison.build(compare(*sides))
    first, *_ = report.sections[0].tables
    assert first.of_all == "every cell: no difference seen"
    assert [column.title for column in first.columns] == ["cell", "B/A", "interval"]
    assert text_of(table, report, False).count("no difference seen") == 1


def test_tables_without_a_number_and_empty_columns_are_left_out() -> None:
    number = ReportCell("1", Number(1, "count"))
    columns = (
        ReportColumn("storage"),
        ReportColumn("reads", is_number=True),
        ReportColumn("options"),
    )
    none = ReportTable("none", "None", columns, (Row((text("a"), absent("not probed"), text(""))),))
    some = ReportTable("some", "Some", columns, (Row((text("a"), number, text(""))),))
    why = ReportTable("why", "Why", columns, (Row((text("a"), absent("-", "no disk"), text(""))),))
    explained = Section("Explained", (), (none, some, why), part_of="Test")
    alone = Section("Nothing", (), (none,), part_of="Test")
    found = list(empty_parts.without([explained, alone]))
    assert [[one.name for one in section.tables] for section in found] == [["some", "why"]]
    assert [column.title for column in found[0].tables[0].columns] == ["storage", "reads"]
    (kept,) = empty_parts.without([Section("Test", (), (none,))])
    assert kept.tables[0].name == "none", "results say why they are none"
