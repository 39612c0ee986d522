"""Systems of different durability stand apart in reports, and the warnings agree with the class."""

from __future__ import annotations

import io
import sqlite3
from collections.abc import Mapping
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from msgspec import structs

import invented_records as invented
from assay import comparison
from assay.contracts.durability import Durability, not_measured
from assay.contracts.storage_facts import StorageFacts
from assay.experiment import StorageChoice, StoragePrice, SystemChoice
from assay.judge import judge_run
from assay.record import ExperimentRecord, Store
from assay.report.build import build
from assay.report.forms import json
from assay.report.summaries import first_look
from assay.report.values import Report
from shown_report import table_of

FLUSHED = Durability(
    "D3", commits=50, flushed_before_answer=50, payload_bytes=50 * 1024, written_bytes=50 * 8192
)
SOON = Durability("D2", commits=50, longest_delay_ns=430_000_000, written_bytes=50 * 4096)
WRITTEN = Durability("D1", commits=48, payload_bytes=48 * 1024, written_bytes=48 * 4096)
LOOP, TMPFS = StorageChoice("loop", "loop"), StorageChoice("tmpfs", "tmpfs")
NOT_THERE = not_measured("the storage here has no device of its own")
UNSAFE = SystemChoice("postgresql", settings={"fsync": "off"})
LOWERED = {"durability_lowered_by": ("fsync = off",)}


def experiment(
    path: Path, found: Mapping[int, Mapping[str, Any]], *, report: Any, **observed: Any
) -> Any:
    """One run of each system; ``found``: its place → what its deployment says; ``report``: what the
    workload declares, None: nothing."""
    systems = [invented.POSTGRESQL, UNSAFE, invented.SQLITE][: len(found)]
    planned = invented.plan(systems)
    with Store(path) as store:
        declared = {"report": {} if report is None else {"parallel": report}}
        number = invented.begin(store, planned, workload=declared)
        for run in planned.runs:
            deployment = found[run.position]
            invented.write_run(
                store, run, 10 * invented.S, deployment=deployment, observation=observed
            )
        store.end_experiment()
        return store.experiment(number)


def mixed(path: Path, report: Any = None, **observed: Any) -> ExperimentRecord:
    made: ExperimentRecord = experiment(
        path,
        {
            0: {"durability": FLUSHED},
            1: {"durability": WRITTEN, **LOWERED},
            2: {"durability": FLUSHED},
        },
        report=report,
        **observed,
    )
    return made


def results(report: Report) -> list[tuple[str, list[str]]]:
    """What each result table says of its durability, and the labels of its rows."""
    tables = [one for one in report.sections[0].tables if one.name.startswith("parallel")]
    return [
        (one.title.rpartition("durability ")[2], [row.cells[0].shown for row in one.rows])
        for one in tables
    ]


@pytest.mark.parametrize(
    "declared", [None, {"rows": "system", "columns": "storage", "value": "elapsed", "unit": "s"}]
)
def test_each_class_has_a_table_of_its_own(tmp_path: Path, declared: Any) -> None:
    report = build(mixed(tmp_path / "r.sqlite", declared))
    assert results(report) == [
        ("D3 (flushed before every answer)", ["postgresql", "sqlite"]),
        ("D1 (written, not flushed)", ["postgresql fsync=off"]),
    ]
    assert report.sections[0].lines == (
        "durability differs: numbers of different tables are not comparable; to make them D3: "
        "fsync at its default (postgresql fsync=off)",
    )


def test_queries_are_compared_whatever_the_durability(tmp_path: Path) -> None:
    made = mixed(tmp_path / "r.sqlite", commits=0)
    assert results(build(made)) == [
        ("Throughput, latency and CPU time", ["postgresql", "postgresql fsync=off", "sqlite"])
    ]
    assert build(made).sections[0].lines == ()


def test_columns_of_another_class_are_not_in_the_table(tmp_path: Path) -> None:
    """Then a speed-up of a system that does not flush over one that does is not shown."""
    declared = {"rows": "clients", "columns": "system", "value": "throughput", "speed_up": True}
    first, second = build(mixed(tmp_path / "r.sqlite", declared)).sections[0].tables
    assert [column.title for column in first.columns] == [
        "clients", "postgresql", "sqlite", "speed-up",
    ]  # fmt: skip
    assert [column.title for column in second.columns][:2] == ["clients", "postgresql fsync=off"]


def test_a_class_that_was_not_measured_on_a_storage_is_that_of_the_others(tmp_path: Path) -> None:
    """Storages are compared in one table, with their speed-up."""
    declared = {"columns": "storage", "value": "elapsed", "unit": "s", "speed_up": True}
    made = on_two_storages(tmp_path / "r.sqlite", [FLUSHED, WRITTEN, NOT_THERE], declared)
    report = build(made)
    assert results(report) == [
        ("D3 (flushed before every answer)", ["postgresql"]),
        ("D1 (written, not flushed)", ["postgresql fsync=off"]),
        ("not measured", ["sqlite"]),
    ]
    first, second, unknown = report.sections[0].tables
    assert not any(cell.is_absent for cell in first.rows[0].cells)
    assert "durability was not measured on tmpfs" in first.notes
    assert "durability was not measured on tmpfs" in second.notes
    assert not any("durability" in note for note in unknown.notes)


def test_in_memory_nothing_is_durable(tmp_path: Path) -> None:
    planned = invented.plan([invented.SQLITE], storages=[LOOP, TMPFS])
    with Store(tmp_path / "r.sqlite") as store:
        number = invented.begin(store, planned)
        for run in planned.runs:
            is_own = run.cell.storage_name == "loop"
            there = StorageFacts(run.cell.storage_name, "here", "/x", "ext4" if is_own else "tmpfs")
            deployment = {"durability": FLUSHED if is_own else NOT_THERE, "storage": there}
            invented.write_run(store, run, 10 * invented.S, deployment=deployment)
        store.end_experiment()
        report = build(store.experiment(number))
    ((title, _),) = results(report)
    assert title == "D3 (flushed before every answer), none on tmpfs"
    assert any(note.startswith("tmpfs: memory") for note in report.sections[0].tables[0].notes)


def test_memory_is_named_beside_ratios_and_prices_and_where_it_is_compared(tmp_path: Path) -> None:
    """Also where no durability was measured: then none is said to be the same."""
    planned = invented.plan([invented.SQLITE], storages=[LOOP, TMPFS])
    prices = {one: StoragePrice(1.0, "EUR") for one in ("loop", "tmpfs")}
    planned = replace(planned, experiment=replace(planned.experiment, prices=prices))
    with Store(tmp_path / "r.sqlite") as store:
        invented.begin(store, planned)
        for run in planned.runs:
            name = run.cell.storage_name
            there = StorageFacts(name, "here", "/x", "ext4" if name == "loop" else "tmpfs")
            invented.write_run(store, run, 10 * invented.S, deployment={"storage": there})
        store.end_experiment()
        made = store.latest()
    report = build(made)
    for name in ("parallel_storage_ratios", "parallel_prices"):
        said = " ".join(table_of(report, name).notes)
        assert "same" not in said
        assert "durability was not measured on loop" in said
        assert "tmpfs: memory, where all is lost with the power" in said
    found = comparison.compare(comparison.side("A", "", [made]), None, between="storage")
    (cell,) = found.cells
    assert any(note.startswith("B: memory, where all is lost") for note in cell.notes)
    assert ("storage", "kept when the power fails", "not measured", "nothing (memory)") in [
        tuple(one) for one in cell.differences
    ]


def on_two_storages(path: Path, found: list[Durability], report: Any) -> ExperimentRecord:
    """Each system on a storage where its durability is measured, and on another, where it is
    not."""
    systems = [invented.POSTGRESQL, UNSAFE, invented.SQLITE]
    planned = invented.plan(systems, storages=[LOOP, TMPFS])
    with Store(path) as store:
        number = invented.begin(store, planned, workload={"report": {"parallel": report}})
        for run in planned.runs:
            is_own = run.cell.storage_name == "loop"
            durability = found[systems.index(run.cell.system)] if is_own else NOT_THERE
            invented.write_run(store, run, 10 * invented.S, deployment={"durability": durability})
        store.end_experiment()
        made: ExperimentRecord = store.experiment(number)
        return made


@pytest.mark.parametrize(
    "declared", [None, {"rows": "clients", "columns": "system", "value": "throughput"}]
)
def test_the_only_storage_of_a_class_is_named(tmp_path: Path, declared: Any) -> None:
    given = {} if declared is None else {"parallel": declared}
    planned = invented.plan([invented.POSTGRESQL], storages=[LOOP, TMPFS])
    with Store(tmp_path / "r.sqlite") as store:
        invented.begin(store, planned, workload={"report": given})
        for run in planned.runs:
            durability = FLUSHED if run.cell.storage_name == "loop" else WRITTEN
            invented.write_run(store, run, 10 * invented.S, deployment={"durability": durability})
        store.end_experiment()
        tables = build(store.latest()).sections[0].tables
    for found, storage in zip(tables, ("loop", "tmpfs"), strict=True):
        (row,) = found.rows
        assert storage in [*row.block.values(), *(cell.shown for cell in row.cells)]


def test_settings_that_lose_more_than_flushes_show_have_a_table_too(tmp_path: Path) -> None:
    torn = {"durability": FLUSHED, "durability_lowered_by": ("full_page_writes = off",)}
    made = experiment(tmp_path / "r.sqlite", {0: {"durability": FLUSHED}, 1: torn}, report=None)
    names = [name for name, _ in results(build(made))]
    assert names == ["D3 (flushed before every answer)", "D3, lowered by settings"]


def test_the_first_look_has_each_class_together(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("COLUMNS", raising=False)  # which parallel test processes have
    made = mixed(tmp_path / "r.sqlite")
    stream = io.StringIO()
    first_look.render(made, build(made), stream, "")
    lines = stream.getvalue().splitlines()
    (heading,) = (at for at, line in enumerate(lines) if line.endswith("durability"))
    rows = [line.split() for line in lines[heading + 1 : heading + 4]]
    assert [(row[0], row[-1]) for row in rows] == [
        ("postgresql", "D3"), ("sqlite", "D3"), ("postgresql", "D1"),
    ]  # fmt: skip
    said = " ".join(" ".join(lines[:heading]).split())
    assert "(their commits are not equally durable (postgresql: D3;" in said


def test_what_sessions_executed_is_shown_and_explained_where_they_did(tmp_path: Path) -> None:
    set_ = structs.replace(WRITTEN, session_statements=("set synchronous_commit = off",))
    for name, found, explained in (("a", set_, 1), ("b", WRITTEN, 0)):
        made = experiment(tmp_path / f"{name}.sqlite", {0: {"durability": found}}, report=None)
        shown = table_of(build(made), "durability")
        said = [note for note in shown.notes if note.startswith("sessions execute: ")]
        assert len(said) == explained
        assert (shown.rows[0].cells[-1].shown == "set synchronous_commit = off") is bool(said)


def test_nothing_is_said_where_nothing_was_measured(tmp_path: Path) -> None:
    unknown = {"durability": NOT_THERE}
    report = build(experiment(tmp_path / "r.sqlite", {0: unknown, 1: unknown}, report=None))
    stream = io.StringIO()
    json.render(report, stream)
    names = [one.name for section in report.sections for one in section.tables]
    assert "durability" not in names
    assert "durability" not in table_of(report, "parallel").title


@pytest.mark.parametrize(
    ("deployment", "expected"),
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
    tmp_path: Path, deployment: dict[str, Any], expected: list[str]
) -> None:
    (run,) = experiment(tmp_path / "r.sqlite", {0: deployment}, report=None).runs
    found = [one.detail for one in judge_run(run)[1] if one.name == "durability-lowered"]
    assert found == [f"postgresql: {words}" for words in expected]


def test_the_record_has_it_as_a_view(tmp_path: Path) -> None:
    mixed(tmp_path / "r.sqlite")
    with closing(sqlite3.connect(tmp_path / "r.sqlite")) as connection:
        found = connection.execute(
            "SELECT storage, class, commits, flushed_before_answer FROM durability ORDER BY run_id"
        ).fetchall()
    assert found == [("here", "D3", 50, 50), ("here", "D1", 48, 0), ("here", "D3", 50, 50)]
