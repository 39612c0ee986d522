"""The paper's tables of invented records: order of rows, units, and what is not comparable."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any

import pytest
from msgspec.structs import replace

import invented_records as invented
from assay.contracts.experiment import Scaled
from assay.contracts.metric import ReportColumn
from assay.report import cell_runs
from assay.report.build import build
from assay.report.declared import aggregates
from assay.report.figures import bars
from assay.report.forms import github_summary
from assay.report.forms.table import as_measured
from assay.report.papers import paper_points as published_figures
from assay.report.papers import paper_table, published_measured
from assay.report.values import Number, ReportCell, ReportTable, Row, absent
from shown_report import text_of

PUBLISHED: dict[str, Any] = {
    "source": "the paper",
    "unit": "s",
    "columns": ["time"],
    "layout": {"rows": ["hardware", "clients"], "columns": ["system"]},
    "rows": [
        {"system": "SQLite", "hardware": "old", "clients": 2, "values": [9]},
        {"system": "SQLite", "hardware": "new", "clients": 2, "values": ["hours"]},
        {"system": "SQLite", "hardware": "old", "clients": 10, "values": [3]},
    ],
}


def paper(
    path: Path,
    published: dict[str, Any],
    elapsed_s: Mapping[tuple[str, str, int], tuple[float]] | float,
    others: Mapping[str, Any] = MappingProxyType({}),
    **report: str,
) -> ReportTable:
    planned = invented.plan([invented.SQLITE, invented.MARIADB], clients=(10, 1))
    workload = {
        "report": {"parallel": {"title": "Batch", "unit": "ms", **report}},
        "published": {"parallel": published, **others},
    }
    record = invented.experiment(path, planned, elapsed_s, workload=workload)
    assert paper_table.section(record) is None, "it reproduces no paper"
    found = paper_table.section(replace(record, reproduces="the paper"))
    assert found is not None
    return found.tables[0]


def test_a_system_of_the_same_driver_stands_in_for_the_published_one(tmp_path: Path) -> None:
    rows = [{**row, "system": "MySQL"} for row in PUBLISHED["rows"]]
    found = paper(tmp_path / "records", {**PUBLISHED, "rows": rows}, 1.5)
    titles = [column.title for column in found.columns]
    assert titles[3:] == ["MySQL\ntime", "sqlite\ntime"]
    assert "MySQL: measured with mariadb engine=MyISAM in its place" in found.notes


@pytest.mark.parametrize(("value", "expected"), [("elapsed", 20), ("throughput", 200)])
def test_scalability_is_in_percent_as_it_was_printed_and_divided(
    tmp_path: Path, value: str, expected: int
) -> None:
    """In half the time 10 clients do 10 times as much as one."""
    published = {
        "source": "the paper", "unit": "%", "columns": ["10 cores"], "column_factor": "clients",
        "column_levels": [10], "layout": {"rows": ["system"]},
        "rows": [{"system": "SQLite", "values": [50]}],
    }  # fmt: skip
    elapsed_s = {
        (system, "here", clients): (3.0 if clients == 1 else 1.5,)
        for system in ("sqlite", "mariadb")
        for clients in (1, 10)
    }
    ours = paper(tmp_path / "records", published, elapsed_s, value=value).rows[1].cells[-1].number
    assert ours is not None
    assert (ours.value, ours.unit) == (pytest.approx(expected), "%")


def test_the_numbers_of_a_row_divide_and_have_the_judgement_of_the_claim(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    published = {
        "source": "the paper",
        "unit": "s",
        "columns": ["disk", "SSD"],
        "column_factor": "storage_role",
        "column_levels": ["disk", "solid state"],
        "layout": {"rows": ["system"]},
        "rows": [{"system": "SQLite", "values": ["", ""], "speed_up": [1.06]}],
    }
    both = [{"storage_role": "solid state"}, {"storage_role": "disk"}]
    claim = {"text": "they hardly differ", "source": "Table 1", "test": "parallel"}
    planned = invented.plan([invented.SQLITE], (invented.HERE, invented.SSD), repetitions=2)
    record = invented.experiment(
        tmp_path / "records",
        planned,
        {("sqlite", "here", 8): (1.0, 4.0), ("sqlite", "ssd", 8): (1.0, 2.25)},
        workload={
            "report": {"parallel": {"title": "Batch"}},
            "published": {"parallel": published},
            "claims": [{**claim, "equal": both, "ratio": 1.06}],
        },
    )
    roles = {"here": "disk", "ssd": "solid state"}
    monkeypatch.setattr(cell_runs, "role", lambda run: roles[run.storage])
    found = published_measured.section(replace(record, reproduces="the paper"))
    assert found is not None
    table, claims = found.tables
    assert [row.cells[1].shown for row in table.rows] == [
        "published", "measured", "measured ÷ published", "judged",
    ]  # fmt: skip
    shown = [[cell.shown for cell in row.cells] for row in table.rows]
    assert [one.partition(" ")[0] for one in shown[1][2:]] == ["2.000", "1.500", "1.33"]
    assert shown[3][-1] == "open"
    assert claims.rows[0].cells[-1].shown == "open: the interval reaches over the limit"
    assert claims.rows[0].cells[2].shown.startswith("disk ÷ solid state = 1.33 (")
    assert "measured: geometric means of the repetitions" in table.notes
    rendered = text_of(github_summary, build(replace(record, reproduces="the paper")))
    assert "claims of the paper: 1 judgement: 1 open (1: " in rendered
    assert "disk ÷ solid state = 1.33 (" in rendered


def test_a_chart_has_one_unit_and_says_which_table_it_is_of() -> None:
    def row(origin: str, size_bytes: float, files: float, unit: str) -> Row:
        numbers = (Number(size_bytes, "bytes"), Number(files, unit))
        cells = (ReportCell(f"{number.value:g}", number) for number in numbers)
        return Row((ReportCell("SQLite"), ReportCell("8", level=8), ReportCell(origin), *cells))

    both = (row("published", 2e9, 1, "files"), row("measured", 3e6, 2, "count"))
    titles = [
        ReportColumn("system"),
        ReportColumn("clients", is_number=True),
        ReportColumn("numbers"),
    ]
    values = [ReportColumn("size on disk", is_number=True), ReportColumn("files", is_number=True)]
    table = ReportTable("sizes_paper", "Sizes", (*titles, *values), both, label_columns=3)
    shown = list(published_figures.figures_of_paper(table, "N. N., Table 2"))
    assert [figure.y.title for figure in shown] == ["MB", "files"]
    assert {figure.title for figure in shown} == {"N. N., Table 2: published and measured"}
    points = [(one.name, point.x, point.y) for one in shown[0].series for point in one.points]
    assert points == [
        ("published", "size on disk, SQLite, 8 clients", 2000),
        ("measured", "size on disk, SQLite, 8 clients", 3),
    ]
    assert not list(published_figures.figures_of_paper(table, "N. N., Table 2", is_scaled=True))


def test_a_chart_has_no_pair_of_which_the_table_refuses_the_ratio() -> None:
    def row(*cells: ReportCell, is_published: bool = False) -> Row:
        return Row(cells, is_published=is_published)

    def time(value_s: float) -> ReportCell:
        return ReportCell(str(value_s), Number(value_s, "s"))

    theirs, ours = (
        (ReportCell("old 1.0"), ReportCell("published")),
        (ReportCell("sqlite"), ReportCell("measured")),
    )
    ratio = (ReportCell("sqlite"), ReportCell("measured ÷ published"))
    table = ReportTable(
        "t",
        "Times",
        (ReportColumn("system"), ReportColumn(""), ReportColumn("load"), ReportColumn("update")),
        (
            row(*theirs, time(4), time(18), is_published=True),
            row(*ours, time(8), time(1)),
            row(*ratio, ReportCell("2", Number(2, "ratio")), absent("scaled")),
        ),
        label_columns=2,
    )
    (load,) = published_figures.figures_of_pairs(table)
    assert load.title == "Published and measured: load"
    assert [one.name for one in load.series] == ["published (old 1.0)", "measured"]


def test_at_the_end_of_a_run_what_was_not_run_is_named_once() -> None:
    def row(system: str, origin: str, *shown: str) -> Row:
        cells = (
            ReportCell(one, Number(1, "s")) if one[:1].isdecimal() else absent(one) for one in shown
        )
        return Row(
            (ReportCell(system), ReportCell(origin), *cells), is_published=origin == "published"
        )

    columns = [
        ReportColumn(f"{name}\ntime", is_number=True, group=name) for name in ("MySQL", "SQLite")
    ]
    rows = (
        row("2", "published", "4", "6"),
        row("2", "measured", "not run", "5 [1]"),
        row("8", "measured", "not run", "not run"),
        row("9", "measured", "refused [2]", "failed [3]"),
    )
    heads = (ReportColumn("clients", is_number=True), ReportColumn("numbers"))
    found = as_measured(ReportTable("t", "Times", (*heads, *columns), rows, label_columns=2))
    assert found is not None
    assert [column.group for column in found.columns] == ["", "", "SQLite"]
    assert [[cell.shown for cell in one.cells] for one in found.rows] == [
        ["2", "published", "6"],
        ["2", "measured", "5 [1]"],
        ["9", "measured", "failed [3]"],
    ]
    assert found.notes == ("not run, refused [2]: MySQL", "not run: clients 8")
    assert (
        as_measured(ReportTable("t", "Times", (*heads, *columns), rows[2:], label_columns=2))
        is None
    )


def test_a_series_has_the_published_line_unless_ours_is_of_another_size(tmp_path: Path) -> None:
    planned = invented.plan([invented.SQLITE], clients=(8, 16))
    column = {"test": "parallel", "key": "elapsed_ns"}
    series = {
        "title": "Growth",
        "columns": [
            {**column, "title": "time", "independent_of": ["copies"]},
            {**column, "title": "scaled time"},
            {"test": "parallel", "title": "TPS", "value": "throughput"},
        ],
    }
    published = {
        "source": "the paper",
        "unit": "s, s, per s",
        "columns": ["time", "scaled time", "TPS"],
        "rows": [{"system": "old", "clients": at, "values": [at, at, 1]} for at in (8, 16)],
    }
    workload = {"series": {"growth": series}, "published": {"growth": published}}
    record = invented.experiment(tmp_path / "records", planned, 1.5, workload=workload)
    scaled = (Scaled("parallel", "copies", "100", "5"),)
    asked = dataclasses.replace(record.experiment, scaled=scaled, series=("growth",))
    report = build(replace(record, experiment=asked))
    section = next(one for one in report.sections if one.title == "Series growth")
    assert [table.is_answer for table in section.tables] == [True]
    lines = {one.title: [line.name for line in one.series] for one in section.figures}
    assert lines == {
        "time by clients": ["sqlite", "old, published"],
        "scaled time (copies 5) by clients": ["sqlite"],
        "TPS (copies 5) by clients": ["sqlite"],
    }
    later = build(replace(record, experiment=dataclasses.replace(asked, series=())))
    shown = next(one for one in later.sections if one.title == "Series growth")
    assert [table.is_answer for table in shown.tables] == [False]


def test_tasks_without_sizes_and_published_numbers_are_bars_side_by_side() -> None:
    def row(storage: str, *rates: float) -> Row:
        return Row(
            (ReportCell(storage), *(ReportCell(f"{one:g}", Number(one, "per_s")) for one in rates))
        )

    columns = (
        ReportColumn("storage"),
        ReportColumn("from the buffer"),
        ReportColumn("from the device"),
    )
    table = ReportTable("select", "Selects", columns, (row("disk", 9, 1), row("ssd", 9, 5)))
    (chart,) = bars.series_figures(table)
    assert {one.name: [point.y for point in one.points] for one in chart.series} == {
        "from the buffer": [9, 9],
        "from the device": [1, 5],
    }


def test_a_run_that_never_began_makes_no_server_a_part_of_the_client(tmp_path: Path) -> None:
    planned = invented.plan([invented.POSTGRESQL], repetitions=2)
    record = invented.experiment(tmp_path / "records", planned, 1.5)
    begun, other = record.runs
    never = replace(other, deployment=None, state="planned", observation=None)
    (cell,) = cell_runs.cells(replace(record, runs=(begun, never)), (begun, never))
    assert not aggregates.is_of_client_process(cell, ["samples.resident_bytes"])
