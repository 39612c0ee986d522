"""The figures of a probe are kept, and stand beside the numbers of its storage: commit efficiency,
and whether storages rank alike."""

from __future__ import annotations

import sqlite3
from pathlib import Path
from typing import Any

import pytest

import invented_records as invented
from assay.contracts.durability import Durability
from assay.contracts.storage_facts import StorageFacts
from assay.experiment import StorageChoice
from assay.plan import PlannedRun
from assay.probe.measure import Probe
from assay.record import ExperimentRecord
from assay.report.build import build
from assay.report.summaries import first_look
from assay.report.values import Report
from shown_report import cells_of, tables_of

STORAGES = tuple(StorageChoice(name, "here", f"/{name}") for name in ("slow", "middle", "fast"))
FLUSHES = {"slow": 50.0, "middle": 100.0, "fast": 200.0}
RANGE = "; the fastest is 4.00 times as fast as the slowest by the probe,"
READS = {"slow": 3000.0, "middle": 2000.0, "fast": 1000.0}


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "records.sqlite"


def probes() -> dict[str, Probe]:
    return {name: invented.probe(name, FLUSHES[name], READS[name]) for name in FLUSHES}


def recorded(
    path: Path, *, elapsed: tuple[float, float, float], commits: int | None, **changes: Any
) -> ExperimentRecord:
    """Eight clients on three storages, two transactions each."""
    planned = invented.plan([invented.POSTGRESQL], STORAGES)
    seconds = {
        ("postgresql", choice.name, 8): [one] for choice, one in zip(STORAGES, elapsed, strict=True)
    }
    observation = {} if commits is None else {"commits": commits}
    given = {"probes": probes(), "observation": observation, **changes}
    return invented.experiment(path, planned, seconds, **given)


def lines(report: Report) -> list[str]:
    return [
        line
        for section in report.sections
        if section.title == "Rank of storages"
        for line in section.lines
    ]


def test_a_probe_belongs_to_all_later_runs_of_its_storage(path: Path) -> None:
    planned = invented.plan(
        [invented.POSTGRESQL, invented.SQLITE], [invented.HERE, invented.SSD], repetitions=2
    )
    first = invented.probe("here", 100.0)
    found = invented.experiment(
        path, planned, 1.0, of_run=lambda run: {"probes": {} if run.position else {"here": first}}
    )
    assert [(run.storage, run.probe) for run in found.runs] == [
        (run.storage, first if run.storage == "here" else None) for run in found.runs
    ]
    assert json_numbers(path, "SELECT flushes_per_s, is_direct FROM storage_probes") == [(100.0, 1)]
    assert json_numbers(path, "SELECT depth, per_s FROM random_reads ORDER BY depth")[0] == (1, 1e3)


def test_a_storage_that_was_probed_again_has_a_row_for_each_probe(path: Path) -> None:
    planned = invented.plan([invented.SQLITE], [invented.HERE, invented.SSD], repetitions=3)
    figures = {0: ("here", 100.0, 1000.0), 1: ("ssd", 500.0, 1000.0), 2: ("here", 250.0, 1400.0)}

    def probed(run: PlannedRun) -> dict[str, Any]:
        made = figures.get(run.position)
        return {"probes": {} if made is None else {made[0]: invented.probe(*made)}}

    record = invented.experiment(path, planned, 1.0, observation={"commits": 16}, of_run=probed)
    report = build(record)
    found = cells_of(tables_of(report)["storage_probes"])
    assert [(row[0], row[1], row[-1]) for row in found] == [
        ("here", "1", "100.0"), ("here", "3, 5", "250.0"), ("ssd", "2, 4, 6", "500.0")
    ]  # fmt: skip
    (differ,) = (one for one in report.warnings if one.name == "probes-differ")
    assert differ.details == ("here: flushes/s 100.0 to 250.0, 2.5 times",)
    rows = report.tidy["tables"]
    at = {one["begun_unix_ns"]: one["flushes_per_s"] for one in rows["storage_probes"]}
    assert [at[run["probe_begun_unix_ns"]] for run in rows["runs"]] == [
        100.0, 500.0, 250.0, 500.0, 250.0, 500.0
    ]  # fmt: skip


def json_numbers(path: Path, question: str) -> list[Any]:
    connection = sqlite3.connect(path)
    found = connection.execute(question).fetchall()
    connection.close()
    return found


def test_every_number_of_a_cell_is_the_median_of_its_repetitions(path: Path) -> None:
    """Also of an even number, of which none is in the middle."""
    planned = invented.plan([invented.POSTGRESQL], STORAGES[:1], repetitions=2)
    seconds = {("postgresql", "slow", 8): [1.0, 3.0]}
    record = invented.experiment(
        path, planned, seconds, workload={"report": {}}, probes=probes(),
        observation={"commits": 16},
    )  # fmt: skip
    report = build(record)
    summary = " ".join(first_look.lines(record, report, 120, "assay report"))
    # 16 and 5.33 TPS of 50 flushes/s; a median of 20 and 60 ms.
    assert "10.67 TPS, median of 2 repetitions (5.333-16.00), commit efficiency 0.21" in summary
    assert "p50 40.0 ms" in summary.replace("\u00a0", " ")
    found = tables_of(report)
    row = cells_of(found["parallel"])[0]
    assert [one.partition(" ")[0] for one in row[2:6]] == ["10.67", "5.333-16.00", "40.0", "n<368"]
    row = cells_of(found["parallel_commit_efficiency"])[0]
    assert [one.partition(" ")[0] for one in row[2:6]] == ["8", "10.67", "50.00", "0.21"]
    for name in ("parallel", "parallel_commit_efficiency"):
        assert any("mean of the middle two" in note for note in found[name].notes)
    one_run, far_apart = (
        next(note for note in found["parallel_times"].notes if words in note)
        for words in ("faster of the middle two", "repetitions far apart")
    )
    assert "(run 1)" in one_run
    assert "summary has the median of all" in one_run
    assert "run 1 " in far_apart and "run 2 " in far_apart
    (cell,) = report.tidy["tables"]["cells"]
    assert round(cell["throughput_per_s"], 3) == 10.667
    times = [cell[f"latency_{name}_ns"] for name in ("min", "p50", "p99", "max")]
    assert times == [10_000_000, 40_000_000, None, 240_000_000]


D2 = Durability("D2", longest_delay_ns=200_000_000)


@pytest.mark.parametrize(
    ("clients", "flushes", "deployment", "each", "why"),
    [
        (8, 80, {}, "0.50", "commits of several clients shared a flush"),
        (8, 160, {}, "1.00", "each commit had a flush"),
        (1, 80, {}, "0.50", "not every commit waits"),
        (8, 80, {"durability": D2}, "0.50", "durability D2 (flushed within 0.20 s of the answer)"),
        (8, None, {}, "-", "or share a flush; a storage with a device of its own"),
        (1, None, {}, "-", "or flushes are faster than those of the probe"),
    ],
)
def test_why_there_are_more_commits_than_flushes_is_said(
    path: Path, clients: int, flushes: int | None, deployment: dict[str, Any], each: str, why: str
) -> None:
    planned = invented.plan([invented.POSTGRESQL], STORAGES[1:2], clients=[clients])
    own = StorageFacts("middle", "loop", "/data", "ext4", "/dev/loop9", is_own_device=True)
    device = {"device": "loop9", "read_bytes": 0, "written_bytes": 0, "flushes": flushes}
    observation = {"commits": 160, "device_cost": device}
    changes = {"deployment": {"storage": own, **deployment}, "observation": observation}
    # 160 commits/s on a storage that flushes 100 times per second.
    record = invented.experiment(path, planned, 1.0, probes=probes(), **changes)
    table = tables_of(build(record))["parallel_commit_efficiency"]
    assert cells_of(table) == [
        ["postgresql", "middle", str(clients), "160.0", "100.0", "1.60 [1]", each]
    ]
    assert table.notes[-1].startswith("[1] above 1:")
    assert why in table.notes[-1]


def test_nothing_is_derived_from_clients_that_were_starved(path: Path) -> None:
    planned = invented.plan([invented.POSTGRESQL], STORAGES)
    starved = {"fast": [("starved-clients", "1 of 8 clients ended 0 transactions")]}
    record = invented.experiment(
        path, planned, 1.0, probes=probes(), observation={"commits": 16},
        of_run=lambda run: {"warnings": starved.get(run.cell.storage.name, [])},
    )  # fmt: skip
    report = build(record)
    table = tables_of(report)["parallel_commit_efficiency"]
    assert [row[-2] for row in cells_of(table)] == ["0.32", "0.16", "- [1]"]
    assert table.notes[-1] == "[1] no efficiency: starved clients"
    assert lines(report) == [
        "postgresql, 8 clients: 2 left to rank; left out: fast (starved clients)"
    ]
    assert [one["commit_efficiency"] for one in report.tidy["tables"]["runs"]] == [0.32, 0.16, None]


def test_a_probe_that_others_disturbed_is_marked_wherever_it_is_used(path: Path) -> None:
    disturbed = {name: invented.probe(name, FLUSHES[name], spread=0.8) for name in FLUSHES}
    report = build(recorded(path, elapsed=(4.0, 2.0, 1.0), commits=16, probes=disturbed))
    said = "the probe's flushes/s were between 10.00 and 90.00: the machine was busy"
    for name in ("storage_probes", "parallel_commit_efficiency"):
        assert said in " ".join(tables_of(report)[name].notes)
    (line,) = lines(report)
    assert "too near to rank" in line
    assert "by the probe nearly equal, of one rank: slow and middle and fast" in line


@pytest.mark.parametrize(("commits", "rows"), [(16, [1, 1]), (0, [1])])
def test_only_tests_that_commit_are_kept_apart_by_durability(
    path: Path, commits: int, rows: list[int]
) -> None:
    planned = invented.plan([invented.POSTGRESQL], STORAGES[:2])
    classes = {"slow": Durability("D3"), "middle": D2}
    record = invented.experiment(
        path, planned, 1.0, observation={"commits": commits},
        of_run=lambda run: {"deployment": {"durability": classes[run.cell.storage.name]}},
    )  # fmt: skip
    found = build(record).sections[0].tables
    assert [len(table.rows) for table in found] == rows
    assert "not asked" not in [
        cell.shown for table in found for row in table.rows for cell in row.cells
    ]


@pytest.mark.parametrize(
    ("commits", "flushes_per_s", "why"),
    [(0, 100.0, "nothing was committed"), (16, 0.0, "the probe did no flushes")],
)
def test_the_reason_why_there_is_no_efficiency_is_named(
    path: Path, commits: int, flushes_per_s: float, why: str
) -> None:
    planned = invented.plan([invented.POSTGRESQL], STORAGES[:1], repetitions=2)
    probed = {"slow": invented.probe("slow", flushes_per_s)}
    record = invented.experiment(
        path, planned, 1.0, probes=probed,
        of_run=lambda run: {"observation": {"commits": (16, commits)[run.position]}},
    )  # fmt: skip
    table = tables_of(build(record))["parallel_commit_efficiency"]
    assert table.notes[-1] == f"[1] no efficiency: {why}"


@pytest.mark.parametrize("commits", [0, None])
def test_a_run_that_commits_nothing_has_no_commit_efficiency(
    path: Path, commits: int | None
) -> None:
    report = build(recorded(path, elapsed=(4.0, 2.0, 1.0), commits=commits))
    assert "parallel_commit_efficiency" not in tables_of(report)


@pytest.mark.parametrize(
    ("file_system", "device_flushes", "why"),
    [("tmpfs", None, "in memory"), ("raw", None, "log elsewhere"), ("ext4", 0, "not passed on")],
)
def test_flushes_for_which_no_commit_waits_are_no_measure(
    path: Path, file_system: str, device_flushes: int | None, why: str
) -> None:
    memory = StorageFacts("fast", file_system, "/data", file_system, "assay")
    planned = invented.plan([invented.POSTGRESQL], STORAGES)
    own = invented.probe("fast", 200.0, device_flushes=device_flushes)
    there = {"fast": {"storage": memory}}
    record = invented.experiment(
        path, planned, 1.0, probes={**probes(), "fast": own}, observation={"commits": 16},
        of_run=lambda run: {"deployment": there.get(run.cell.storage.name, {})},
    )  # fmt: skip
    report = build(record)
    rows = cells_of(tables_of(report)["parallel_commit_efficiency"])
    assert [row[-2] for row in rows] == ["0.32", "0.16", why]
    assert lines(report) == [f"postgresql, 8 clients: 2 left to rank; left out: fast ({why})"]


@pytest.mark.parametrize(
    ("elapsed", "commits", "said"),
    [
        ((4.0, 2.0, 1.0), 16, f"flushes/s and by TPS: the same order, tau 1.00{RANGE} 4.00"),
        ((1.0, 2.0, 4.0), 16, f"flushes/s and by TPS: the opposite order, tau -1.00{RANGE} 4.00"),
        ((2.0, 4.0, 1.0), 16, f"flushes/s and by TPS: not the same order, tau 0.33{RANGE} 4.00"),
        # Eight clients that only read: between the depths 4 and 16, of which 4 is nearer.
        (
            (1.0, 2.0, 4.0),
            0,
            "reads/s, depth 4 and by TPS: the same order, tau 1.00"
            f"{RANGE.replace('4.00', '3.00')} 4.00",
        ),
    ],
)
def test_it_is_said_whether_storages_rank_by_the_probe_as_by_the_database(
    path: Path, elapsed: tuple[float, float, float], commits: int, said: str
) -> None:
    report = build(recorded(path, elapsed=elapsed, commits=commits))
    found = f"postgresql, 8 clients: 3 storages by the probe's {said} times by TPS"
    assert lines(report) == [found]


def test_storages_that_are_as_fast_are_too_near_to_rank(path: Path) -> None:
    report = build(recorded(path, elapsed=(1.0, 1.01, 1.05), commits=0))
    (line,) = lines(report)
    assert "too near to rank" in line
    assert line.endswith("by TPS nearly equal, of one rank: slow and middle and fast")


@pytest.mark.parametrize(
    ("classes", "is_ranked"),
    [(("D3", None, "D3"), True), (("D3", "D3", "D3"), True), (("D3", "D1", "D3"), False)],
)
def test_storages_are_ranked_where_no_two_durability_classes_are_known(
    path: Path, classes: tuple[str | None, ...], is_ranked: bool
) -> None:
    durable = [None if one is None else Durability(one) for one in classes]
    record = recorded(
        path, elapsed=(1.0, 2.0, 3.0), commits=16,
        of_run=lambda run: {"deployment": {"durability": durable[run.position]}},
    )  # fmt: skip
    assert ("parallel_storage_ranks" in tables_of(build(record))) == is_ranked


def test_why_a_storage_was_not_probed_is_said(path: Path) -> None:
    why = "fio is not installed: apt-get install fio"
    not_probed = {
        name: Probe(storage=name, begun_unix_ns=1, seconds=2.0, reason=why) for name in FLUSHES
    }
    report = build(recorded(path, elapsed=(4.0, 2.0, 1.0), commits=16, probes=not_probed))
    assert "storage_probes" not in tables_of(report), "a table without a number"
    (setup,) = (one for one in report.sections if one.title == "Setup")
    assert setup.lines == (f"storages not probed: slow, middle, fast: {why}",)
    assert "parallel_commit_efficiency" not in tables_of(report)
