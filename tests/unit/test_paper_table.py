"""The paper's tables of invented records: order of rows, units, and what is not comparable."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import invented_records as invented

from assay.report import paper_table
from assay.report.values import Table

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


def paper(path: Path, published: dict[str, Any], elapsed_s: float) -> Table:
    planned = invented.plan([invented.SQLITE, invented.MARIADB], clients=(10, 1))
    workload = {
        "report": {"parallel": {"title": "Batch", "unit": "ms"}},
        "published": {"parallel": published},
    }
    record = invented.experiment(path, planned, elapsed_s, workload=workload)
    assert paper_table.section(record) is None, "it reproduces no paper"
    found = paper_table.section(replace(record, reproduces="the paper"))
    assert found is not None
    return found.tables[0]


def test_rows_are_in_the_papers_order_and_times_in_its_unit(tmp_path: Path) -> None:
    found = paper(tmp_path / "records", PUBLISHED, 1.5)
    assert [[cell.shown for cell in row.cells[:4]] for row in found.rows] == [
        ["here", "1", "measured", "1.500"],
        ["old", "2", "published", "9"],
        ["new", "2", "published", "hours"],
        ["old", "10", "published", "3"],
        ["here", "10", "measured", "1.500"],
    ]
    titles = [column.title for column in found.columns]
    assert titles[3:] == ["SQLite\ntime", "mariadb engine=MyISAM\ntime"]


def test_a_system_of_the_same_driver_stands_in_for_the_published_one(tmp_path: Path) -> None:
    rows = [{**row, "system": "MySQL"} for row in PUBLISHED["rows"]]
    found = paper(tmp_path / "records", {**PUBLISHED, "rows": rows}, 1.5)
    titles = [column.title for column in found.columns]
    assert titles[3:] == ["MySQL\ntime", "sqlite\ntime"]
    assert "MySQL: measured with mariadb engine=MyISAM in its place" in found.notes
