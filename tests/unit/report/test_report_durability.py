"""Systems of different durability, and storages, stand apart in reports; warnings agree with the
class, and every form says what was in force."""

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
from assay import comparison, registry
from assay.comparison import differences
from assay.contracts.durability import Durability, not_measured
from assay.contracts.storage_facts import StorageFacts
from assay.contracts.storages.abilities import AccountedSecond
from assay.contracts.storages.protocol import values
from assay.experiment import StorageChoice, StoragePrice, SystemChoice
from assay.experiment.choices.storage_words import storage_choices
from assay.judge import judge_run
from assay.plan import PlannedRun
from assay.record import ExperimentRecord
from assay.report.build import build
from assay.report.values import Report
from assay.storages.disk_model import model_of
from shown_report import table_of

FLUSHED = Durability(
    "D3", commits=50, flushed_before_answer=50, payload_bytes=50 * 1024, written_bytes=50 * 8192
)
SOON = Durability("D2", commits=50, longest_delay_ns=430_000_000, written_bytes=50 * 4096)
WRITTEN = Durability("D1", commits=48, payload_bytes=48 * 1024, written_bytes=48 * 4096)
LOOP, TMPFS = StorageChoice("loop", "loop"), StorageChoice("tmpfs", "tmpfs")
NOT_THERE = not_measured("the storage here has no device of its own")
THERE = {
    name: StorageFacts(name, "here", "/x", of) for name, of in (("loop", "ext4"), ("tmpfs",) * 2)
}
UNSAFE = SystemChoice("postgresql", settings={"fsync": "off"})
LOWERED = {"durability_lowered_by": ("fsync = off",)}


def experiment(
    path: Path, found: Mapping[int, Mapping[str, Any]], *, report: Any, **observed: Any
) -> ExperimentRecord:
    """One run of each system; ``found``: its place → what its deployment says; ``report``: what the
    workload declares, None: nothing."""
    systems = [invented.POSTGRESQL, UNSAFE, invented.SQLITE][: len(found)]
    planned = invented.plan(systems)
    return invented.experiment(
        path, planned, 10.0, observation=observed,
        workload={"report": {} if report is None else {"parallel": report}},
        of_run=lambda run: {"deployment": found[run.position]},
    )  # fmt: skip


def mixed(path: Path, report: Any = None, **observed: Any) -> ExperimentRecord:
    flushed, written = {"durability": FLUSHED}, {"durability": WRITTEN, **LOWERED}
    return experiment(path, {0: flushed, 1: written, 2: flushed}, report=report, **observed)


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
    durability = {"loop": FLUSHED, "tmpfs": NOT_THERE}
    record = invented.experiment(
        tmp_path / "r.sqlite", planned, 10.0,
        of_run=lambda run: {
            "deployment": {
                "durability": durability[run.cell.storage_name],
                "storage": THERE[run.cell.storage_name],
            }
        },
    )  # fmt: skip
    report = build(record)
    ((title, _),) = results(report)
    assert title == "D3 (flushed before every answer), none on tmpfs"
    assert any(note.startswith("tmpfs: memory") for note in report.sections[0].tables[0].notes)


def test_memory_is_named_beside_ratios_and_prices_and_where_it_is_compared(tmp_path: Path) -> None:
    """Also where no durability was measured: then none is said to be the same."""
    planned = invented.plan([invented.SQLITE], storages=[LOOP, TMPFS])
    prices = {one: StoragePrice(1.0, "EUR") for one in ("loop", "tmpfs")}
    planned = replace(planned, experiment=replace(planned.experiment, prices=prices))
    made = invented.experiment(
        tmp_path / "r.sqlite", planned, 10.0,
        of_run=lambda run: {"deployment": {"storage": THERE[run.cell.storage_name]}},
    )  # fmt: skip
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

    def of_run(run: PlannedRun) -> dict[str, Any]:
        is_own = run.cell.storage_name == "loop"
        durability = found[systems.index(run.cell.system)] if is_own else NOT_THERE
        return {"deployment": {"durability": durability}}

    declared = {"report": {"parallel": report}}
    return invented.experiment(path, planned, 10.0, workload=declared, of_run=of_run)


@pytest.mark.parametrize(
    "declared", [None, {"rows": "clients", "columns": "system", "value": "throughput"}]
)
def test_the_only_storage_of_a_class_is_named(tmp_path: Path, declared: Any) -> None:
    given = {} if declared is None else {"parallel": declared}
    planned = invented.plan([invented.POSTGRESQL], storages=[LOOP, TMPFS])
    durability = {"loop": FLUSHED, "tmpfs": WRITTEN}
    record = invented.experiment(
        tmp_path / "r.sqlite", planned, 10.0, workload={"report": given},
        of_run=lambda run: {"deployment": {"durability": durability[run.cell.storage_name]}},
    )  # fmt: skip
    tables = build(record).sections[0].tables
    for found, storage in zip(tables, ("loop", "tmpfs"), strict=True):
        (row,) = found.rows
        assert storage in [*row.block.values(), *(cell.shown for cell in row.cells)]


def test_settings_that_lose_more_than_flushes_show_have_a_table_too(tmp_path: Path) -> None:
    torn = {"durability": FLUSHED, "durability_lowered_by": ("full_page_writes = off",)}
    made = experiment(tmp_path / "r.sqlite", {0: {"durability": FLUSHED}, 1: torn}, report=None)
    names = [name for name, _ in results(build(made))]
    assert names == ["D3 (flushed before every answer)", "D3, lowered by settings"]


def test_what_sessions_executed_is_shown_and_explained_where_they_did(tmp_path: Path) -> None:
    set_ = structs.replace(WRITTEN, session_statements=("set synchronous_commit = off",))
    for name, found, explained in (("a", set_, 1), ("b", WRITTEN, 0)):
        made = experiment(tmp_path / f"{name}.sqlite", {0: {"durability": found}}, report=None)
        shown = table_of(build(made), "durability")
        said = [note for note in shown.notes if note.startswith("sessions execute: ")]
        assert len(said) == explained
        assert (shown.rows[0].cells[-1].shown == "set synchronous_commit = off") is bool(said)


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


MS = 1_000_000
PATH_COST = [
    {
        "operation": operation,
        "depth": depth,
        "path_cost_ns": cost_ns,
        "modelled_ns": 6 * MS,
        "measured_ns": measured_ns,
    }
    for operation, depth, cost_ns, measured_ns in (
        ("read", 1, 50_000, 6 * MS),
        ("read", 16, 90_000, 7 * MS),
        ("write", 1, 70_000, 9 * MS),
        ("flush", 1, 80_000, 6 * MS),
    )
]
DISK = StorageFacts(
    "old disk",
    "modelled",
    "/data",
    "ext4",
    "/dev/loop3",
    is_own_device=True,
    facts={"model": {"profile": "scsi-15k", "source": "a data sheet"}, "path_cost": PATH_COST},
    label_notes=("modelled",),
)
SECONDS = (
    AccountedSecond(0, "flush", 10, 0, 0, 40 * MS, 9 * MS, 10_000),
    AccountedSecond(0, "write", 10, 0, 81_920, 20 * MS, 3 * MS, 10_000),
    AccountedSecond(1, "flush", 30, 1, 0, 80 * MS, 8 * MS, 30_000),
    AccountedSecond(1, "lost", 3, 0, 0, 0, 0, 0),
)


def test_requests_are_kept_by_second_and_reported_by_operation(tmp_path: Path) -> None:
    planned = invented.plan([invented.SQLITE])
    found = invented.experiment(
        tmp_path / "records.sqlite", planned, 2.0, deployment={"storage": DISK},
        storage_requests=SECONDS,
    )  # fmt: skip
    assert found.runs[0].storage_requests == SECONDS
    tables = {table.name: table for section in build(found).sections for table in section.tables}
    table = next(one for name, one in tables.items() if name.endswith("storage_requests"))
    shown = [[cell.shown for cell in row.cells][-8:] for row in table.rows]
    assert shown == [
        ["write", "5.000", "8.19 kB", "2.00 ms", "3.00 ms", "1.00 µs", "70.0 µs", "0"],
        ["flush", "20.00", "-", "3.00 ms", "9.00 ms", "1.00 µs", "80.0 µs", "1"],
    ]
    assert table.notes[-1].startswith("3 requests missing in the account")
    subtracted = [row.cells[-1].shown for row in tables["modelled_disks"].rows]
    assert subtracted == ["50.0 µs", "90.0 µs", "70.0 µs", "80.0 µs"]
    what, *notes = tables["modelled_disks"].notes
    assert "flush: of one page" in what
    assert tuple(notes) == (
        "scsi-15k is modelled on a data sheet",
        "not within 5% of its model: old disk at depth 16: 7.00 ms measured, 6.00 ms by its model; "
        "more than the I/O path overhead of 90.0 µs explains; was the machine busy?",
    )


LIMITED = "t=throttled[read_iops=200,write_bps=5M,size=512M]"
MODELLED = "m=modelled[disks=4,raid=10,rpm=5400,size=512M]"
DEVICE = {"device": "loop1", "read_bytes": 0, "reads": 0, "writes": 10, "flushes": 10}


def facts_of(choice: StorageChoice, version: int, read_ns: int, direct: bool) -> StorageFacts:
    """As the storage would give them, without a device."""
    if choice.kind == "modelled":
        given = values(registry.storage(choice.kind), choice)
        kept: dict[str, Any] = {
            "model": structs.asdict(model_of(given, 512 << 20)),
            "path_cost": [],
        }
        of_a_read = {"depth": 1, "path_cost_ns": 49_000, "modelled_ns": 101_000}
        kept["path_cost"] = [{**of_a_read, "measured_ns": read_ns}]
        kept["has_direct_io"] = direct
    else:
        limits = {"read_iops": 200, "write_bps": 5 << 20}
        kept = {"limits": limits, "control_groups_version": version}
    return StorageFacts(choice.name, choice.kind, "/data", "ext4", "/dev/loop1", facts=kept)


def record(
    path: Path,
    words: str,
    version: int = 1,
    written_bytes: int = 0,
    limits: Any = None,
    read_ns: int = 102_000,
    direct: bool = True,
) -> ExperimentRecord:
    """A run of four seconds on each storage."""
    choices = storage_choices([words])
    planned = invented.plan([invented.POSTGRESQL], choices)

    def of_run(run: PlannedRun) -> dict[str, Any]:
        facts = facts_of(run.cell.storage, version, read_ns, direct)
        if limits is not None:
            facts = structs.replace(facts, facts={**facts.facts, "limits": limits})
        return {"deployment": {"storage": facts}}

    driven = {"device_cost": {**DEVICE, "written_bytes": written_bytes}}
    return invented.experiment(path / "r.sqlite", planned, 4.0, observation=driven, of_run=of_run)


def form(experiment: ExperimentRecord, name: str) -> str:
    stream = io.StringIO()
    registry.report_form(name)(build(experiment), stream, detail=None)
    return stream.getvalue()


@pytest.mark.parametrize("name", ["table", "html", "json", "markdown", "csv"])
def test_every_form_says_what_was_in_force(tmp_path: Path, name: str) -> None:
    shown = " ".join(form(record(tmp_path, f"{LIMITED},{MODELLED}"), name).split())
    assert "read_iops=200" in shown
    assert "write_bps=5M" in shown or "write_bps=5242880" in shown
    assert "rpm=5400" in shown
    assert any(words in shown for words in ("5400 (7200)", "rpm=7200"))  # of the profile
    not_limited = ("the kernel writes back", '"limits_write_back": false', ",false")
    assert any(words in shown for words in not_limited)


@pytest.mark.parametrize(
    ("version", "written_bytes", "warning"),
    [
        (1, 4 * 5_000_000, "write-back-not-limited"),
        (1, 4 * 7_500_000, "storage-limit-exceeded"),
        (2, 4 * 5_000_000, None),
    ],
)
def test_writes_that_no_limit_held_for_are_warned_of(
    tmp_path: Path, version: int, written_bytes: int, warning: str | None
) -> None:
    (run,) = record(tmp_path, LIMITED, version, written_bytes).runs
    found = {one.name for one in judge_run(run)[1]}
    both = {"write-back-not-limited", "storage-limit-exceeded"}
    assert found & both == ({warning} if warning else set())


def test_other_limits_of_the_same_name_are_a_difference(tmp_path: Path) -> None:
    folders = [tmp_path / name for name in "ab"]
    for folder in folders:
        folder.mkdir()
    a = record(folders[0], LIMITED)
    b = record(folders[1], LIMITED, limits={"read_iops": 20, "write_bps": 5 << 20})
    found = differences.of_following_runs(a.runs[0], b.runs[0])
    assert [(one.name, one.a, one.b) for one in found if one.what == "storage"] == [
        ("read_iops of the storage", "200", "20")
    ]


@pytest.mark.parametrize(
    ("measured_ns", "cause"),
    [
        (424_000, "more than the I/O path overhead of 49.0 µs explains; was the machine busy?"),
        (150_000, "the I/O path overhead is 49.0 µs"),
        (104_000, None),
    ],
)
def test_a_model_that_was_not_kept_is_a_warning_with_its_cause(
    tmp_path: Path, measured_ns: int, cause: str | None
) -> None:
    """Reads of 101 µs by the model."""
    experiment = record(tmp_path, MODELLED, read_ns=measured_ns)
    warned = [one.detail for one in judge_run(experiment.runs[0])[1]
              if one.name == "model-not-kept"]  # fmt: skip
    shown = " ".join(form(experiment, "table").split())
    if cause is None:
        assert not warned and "not within 5% of its model" not in shown
        return
    measured = (
        f"m (modelled) at depth 1: {measured_ns // 1000} µs measured, 101 µs by its model; {cause}"
    )
    assert warned == [measured]
    assert f"not within 5% of its model: {measured}" in shown
