"""Systems of different durability stand apart in reports, and the warnings agree with the class."""

from __future__ import annotations

import io
import sqlite3
from collections.abc import Mapping
from contextlib import closing
from pathlib import Path
from typing import Any

import invented_records as invented
import pytest

from assay.durability.values import Durability, not_measured
from assay.experiment import SystemChoice
from assay.judge import judge_run
from assay.record import ExperimentRecord, Store
from assay.report import cell_runs, json
from assay.report.build import build
from assay.report.values import Report, Table

FLUSHED = Durability(
    "D3", commits=50, flushed_before_answer=50, written_bytes=50 * 8192, file_system_flushes="none"
)
SOON = Durability("D2", commits=50, longest_delay_ns=430_000_000, written_bytes=50 * 4096)
WRITTEN = Durability("D1", commits=48, written_bytes=48 * 4096)
UNSAFE = SystemChoice("postgresql", settings={"fsync": "off"})
LOWERED = {"durability_lowered_by": ("fsync = off",)}


def experiment(path: Path, found: Mapping[int, Mapping[str, Any]], *, report: Any) -> Any:
    """One run of each system; ``found``: its place → what its deployment says; ``report``: what the
    workload declares, None: nothing."""
    systems = [invented.POSTGRESQL, UNSAFE, invented.SQLITE][: len(found)]
    planned = invented.plan(systems)
    with Store(path) as store:
        declared = {"report": {} if report is None else {"parallel": report}}
        number = invented.begin(store, planned, workload=declared)
        for run in planned.runs:
            invented.write_run(store, run, 10 * invented.S, site=found[run.position])
        store.end_experiment()
        return store.experiment(number)


def mixed(path: Path, report: Any = None) -> ExperimentRecord:
    made: ExperimentRecord = experiment(
        path,
        {
            0: {"durability": FLUSHED},
            1: {"durability": WRITTEN, **LOWERED},
            2: {"durability": FLUSHED},
        },
        report=report,
    )
    return made


def table(report: Report, name: str) -> Table:
    tables = [one for section in report.sections for one in section.tables]
    return next(one for one in tables if one.name == name)


def test_rows_of_each_class_are_a_block_of_their_own(tmp_path: Path) -> None:
    report = build(mixed(tmp_path / "r.sqlite"))
    results = table(report, "parallel")
    assert [(row.block_title, row.cells[0].shown) for row in results.rows] == [
        ("durability = D3", "postgresql"),
        ("durability = D3", "sqlite"),
        ("durability = D1", "postgresql fsync=off"),
    ]
    assert (
        "durability differs: only numbers of the same class are comparable; for D3 set: "
        "postgresql fsync=off: fsync at its default" in results.notes
    )


def test_names_of_cells_have_the_class_only_where_classes_differ(tmp_path: Path) -> None:
    of_mixed = [cell.name for cell in cells_of(mixed(tmp_path / "mixed.sqlite"))]
    assert of_mixed[0] == "postgresql, here, durability D3, 8 clients"
    found = {0: {"durability": FLUSHED}, 1: {"durability": not_measured("shared device")}}
    one_class = experiment(tmp_path / "one.sqlite", found, report=None)
    assert cells_of(one_class)[0].name == "postgresql, here, 8 clients"


def cells_of(record: ExperimentRecord) -> list[cell_runs.CellRuns]:
    return cell_runs.cells(record, record.runs)


def test_settings_that_lose_more_than_flushes_show_are_a_block_too(tmp_path: Path) -> None:
    torn = {"durability": FLUSHED, "durability_lowered_by": ("full_page_writes = off",)}
    made = experiment(tmp_path / "r.sqlite", {0: {"durability": FLUSHED}, 1: torn}, report=None)
    blocks = [row.block_title for row in table(build(made), "parallel").rows]
    assert blocks == ["durability = D3", "durability = D3, lowered by settings"]


def test_a_single_class_is_a_column(tmp_path: Path) -> None:
    same = experiment(
        tmp_path / "r.sqlite", {0: {"durability": FLUSHED}, 1: {"durability": FLUSHED}}, report=None
    )
    results = table(build(same), "parallel")
    assert "durability" in [column.title for column in results.columns]
    assert not any(row.block for row in results.rows)
    assert not any("durability differs" in note for note in results.notes)


def test_a_paper_s_table_has_a_block_for_each_class(tmp_path: Path) -> None:
    declared = {"rows": "system", "columns": "storage", "value": "elapsed", "unit": "s"}
    report = build(mixed(tmp_path / "r.sqlite", declared))
    results = table(report, "parallel")
    assert [row.block for row in results.rows] == [
        {"durability": "D3"}, {"durability": "D3"}, {"durability": "D1"},
    ]  # fmt: skip
    assert any("for D3 set: postgresql fsync=off" in note for note in results.notes)


def test_what_was_measured_is_shown_for_each_system_on_each_storage(tmp_path: Path) -> None:
    shown = table(build(mixed(tmp_path / "r.sqlite")), "durability")
    assert [[cell.shown for cell in row.cells] for row in shown.rows] == [
        ["postgresql", "here", "D3", "flushed before every answer", "50 of 50", "8.19 kB", "-"],
        ["postgresql fsync=off", "here", "D1", "written, not flushed", "0 of 48", "4.1 kB",
         "fsync = off"],
        ["sqlite", "here", "D3", "flushed before every answer", "50 of 50", "8.19 kB", "-"],
    ]  # fmt: skip


def test_nothing_is_said_where_nothing_was_measured(tmp_path: Path) -> None:
    unknown = {"durability": not_measured("the storage here has no device of its own")}
    report = build(experiment(tmp_path / "r.sqlite", {0: unknown, 1: unknown}, report=None))
    stream = io.StringIO()
    json.render(report, stream)
    names = [one.name for section in report.sections for one in section.tables]
    assert "durability" not in names
    assert "durability" not in [column.title for column in table(report, "parallel").columns]


@pytest.mark.parametrize(
    ("site", "expected"),
    [
        ({"durability": FLUSHED}, []),
        ({"durability": not_measured("no device of its own")}, []),
        (
            {"durability": WRITTEN, **LOWERED},
            ["fsync = off; durable: its default; measured D1 (written, not flushed)"],
        ),
        (
            {"durability": FLUSHED, **LOWERED},
            ["fsync = off; durable: its default; measured D3 (flushed before every answer)"],
        ),
        (
            {"durability": SOON},
            [
                "on here; measured D2 (flushed within 0.43 s of the answer), and no setting that "
                "explains it is known"
            ],
        ),
    ],
)
def test_the_warning_agrees_with_the_class(
    tmp_path: Path, site: dict[str, Any], expected: list[str]
) -> None:
    (run,) = experiment(tmp_path / "r.sqlite", {0: site}, report=None).runs
    found = [one.detail for one in judge_run(run.evidence)[1] if one.name == "durability-lowered"]
    assert found == [f"postgresql: {words}" for words in expected]


def test_the_record_has_it_as_a_view(tmp_path: Path) -> None:
    mixed(tmp_path / "r.sqlite")
    with closing(sqlite3.connect(tmp_path / "r.sqlite")) as connection:
        found = connection.execute(
            "SELECT storage, class, commits, flushed_before_answer FROM durability ORDER BY run_id"
        ).fetchall()
    assert found == [("here", "D3", 50, 50), ("here", "D1", 48, 0), ("here", "D3", 50, 50)]
