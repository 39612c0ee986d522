"""Machines as a factor: which are the same, their names, and several experiments as one."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

import invented_records as invented
import printed_records
from assay import comparison
from assay.comparison import conclusions, ratios
from assay.errors import ArgumentError
from assay.record import ExperimentRecord, machines
from assay.record.reader import joined_experiments
from assay.report.build import build
from assay.report.declared import published
from assay.report.papers import judged_claims, published_measured
from assay.workload import reader

IDENTITY = "b08dfa6083e7567a1921a715000001fb"
HERE = {
    "cpu_model": "AMD EPYC 9R14 96-Core Processor",
    "processors_usable": 2,
    "memory_bytes": 24 << 30,
}
LARGER = {**HERE, "processors_usable": 8}
OTHER = {
    "cpu_model": "Intel(R) Xeon(R) CPU X5650 @ 2.67GHz",
    "processors_usable": 12,
    "memory_bytes": 48 << 30,
}
EPYC, XEON = "AMD EPYC 9R14", "Intel Xeon X5650"
FAST, SLOW = (1.00, 1.02, 0.99, 1.01, 1.00), (2.01, 1.99, 2.00, 2.02, 1.98)


@pytest.mark.parametrize(
    ("facts", "names"),
    [
        ([HERE, HERE], ["", ""]),
        ([HERE, {**HERE, "kernel": "7.0", "memory_bytes": (24 << 30) + (300 << 20)}], ["", ""]),
        ([HERE, OTHER, HERE], [EPYC, XEON, EPYC]),
        ([HERE, LARGER], ["2 CPUs", "8 CPUs"]),
        ([HERE, LARGER, OTHER], [f"{EPYC} 2 CPUs", f"{EPYC} 8 CPUs", f"{XEON} 12 CPUs"]),
        ([{**HERE, "name": "a"}, {**HERE, "name": "b"}], ["a", "b"]),
        ([{**HERE, "name": "a"}, HERE], ["a", f"{EPYC} 2 CPUs 24 GiB"]),
        (
            [{**HERE, "name": "a"}, {**LARGER, "name": "a"}],
            [f"a {EPYC} 2 CPUs 24 GiB", f"a {EPYC} 8 CPUs 24 GiB"],
        ),
        ([{**HERE, "affinity": "0"}, {**HERE, "affinity": "1,2"}], ["affinity 0", "affinity 1 2"]),
    ],
)
def test_a_machine_is_called_by_what_distinguishes_it(
    facts: list[dict[str, Any]], names: list[str]
) -> None:
    assert machines.machine_names(facts) == names


def measured(
    path: Path, machine: dict[str, Any], seconds: tuple[float, ...] = FAST, **changes: Any
) -> ExperimentRecord:
    planned = invented.plan([invented.POSTGRESQL], clients=(8,), repetitions=len(seconds))
    elapsed = {(invented.POSTGRESQL.name, "here", 8): seconds}
    return invented.experiment(path, planned, elapsed, machine=machine, **changes)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "records.sqlite"


def test_runs_of_two_machines_are_two_cells_with_the_machine_as_a_factor(path: Path) -> None:
    both = joined_experiments([measured(path, HERE), measured(path, OTHER, SLOW)])
    cells = published.all_cells(both)
    assert [cell.level("machine") for cell in cells] == [EPYC, XEON]
    assert [len(cell.runs) for cell in cells] == [5, 5]
    assert EPYC in cells[0].name and XEON in cells[1].name
    (question,) = conclusions.questions(both)
    (found,) = question.conclusions
    assert (question.factor, found.level, found.compared_with) == ("machine", EPYC, XEON)
    assert found.is_decided and found.ratio == pytest.approx(2, rel=0.02), found.reason
    report = build(both)
    assert report.reference == "1,2"
    rows = report.tidy["tables"]["cells"]
    assert [row["machine"] for row in rows] == [EPYC, XEON]
    assert [row["elapsed_ns"] for row in rows] == pytest.approx([1e9, 2e9], rel=0.02)
    assert set(report.facts["machines"].split("; ")[0].split()) >= {"2", "processors,"}
    names = [table.name for section in report.sections for table in section.tables]
    assert len(set(names)) == len(names)


def test_experiments_of_one_machine_are_more_repetitions_and_no_pairs(path: Path) -> None:
    """As one side of a comparison has them."""
    both = joined_experiments([measured(path, HERE), measured(path, HERE, SLOW)])
    (cell,) = published.all_cells(both)
    assert len(cell.runs) == 10 and cell.level("machine") is None
    assert [run.experiment_id for run in cell.runs] == [1] * 5 + [2] * 5


def test_what_is_measured_after_the_other_on_one_machine_is_not_decided(path: Path) -> None:
    """Though it is reported together; on two machines there is no after."""
    one = measured(path, HERE)
    other = invented.experiment(
        path,
        invented.plan([invented.POSTGRESQL], clients=(16,), repetitions=5),
        {(invented.POSTGRESQL.name, "here", 16): SLOW},
        machine=HERE,
    )
    (question,) = conclusions.questions(joined_experiments([one, other]))
    assert [found.reason for found in question.conclusions] == [ratios.SEQUENTIAL]


def test_only_experiments_of_one_record_and_workload_are_reported_together(path: Path) -> None:
    here = measured(path, HERE)
    with pytest.raises(ArgumentError, match="of one record file"):
        joined_experiments([here, measured(path.with_name("other.sqlite"), OTHER)])
    edited = measured(path, OTHER, workload={"fingerprint": "e" * 64})
    with pytest.raises(ArgumentError, match="two texts of") as raised:
        joined_experiments([here, edited])
    assert raised.value.hint == f"assay compare 1 2 --records {path}"


def test_a_machine_is_a_factor_of_compare(path: Path) -> None:
    """A side with two machines has two cells; between two sides they are a difference."""
    made = [measured(path, HERE), measured(path, OTHER, SLOW)]
    whole = comparison.side("A", "", made)
    found = comparison.compare(whole, None, between="machine")
    (cell,) = found.cells
    assert found.is_other_machine
    assert cell.primary.estimate is not None
    assert cell.primary.estimate.ratio == pytest.approx(0.5, rel=0.02)
    again = comparison.side("B", "", [measured(path, HERE), measured(path, OTHER, SLOW)])
    assert len(comparison.compare(whole, again).cells) == 2
    (cell,) = comparison.compare(
        comparison.side("A", "", made[:1]), comparison.side("B", "", made[1:])
    ).cells
    assert "machine" not in cell.factors


def test_a_papers_tables_and_claims_are_of_both_machines(path: Path) -> None:
    """A record whose measured values are those that the paper printed for its two machines."""
    workload = reader.read("glidemon")
    (claim,) = (one for one in workload.claims if one["text"].startswith("better hardware"))
    printed = [one for one in printed_records.cells(workload) if one.levels["test"] == "aggregate"]
    both = replace(printed_records.record(path, workload, printed, claim), reproduces="a paper")
    section = published_measured.section(both)
    assert section is not None
    (table,) = (one for one in section.tables if one.name == "table_paper")
    shown = {tuple(cell.shown for cell in row.cells[:2]): row for row in table.rows}
    for name, role, mongodb in (
        ("Modern Server", "solid-state", 114),
        ("Workstation", "disk", 277),
    ):
        row = shown[f"{name} ({role})", "measured"]
        assert f"{mongodb}.0" in [cell.shown for cell in row.cells], row
    judgements = [
        row.cells[-1].shown for one in section.tables if one.name == "claims" for row in one.rows
    ]
    assert {said.partition(":")[0] for said in judgements} == {"confirmed"}, judgements
    one_machine = [one for one in printed if one.machine == "Workstation"]
    alone = printed_records.record(path.with_name("one.sqlite"), workload, one_machine, claim)
    assert {one.reason for one in judged_claims.judged_claims(alone)} == {
        "one machine only (`assay report NAME=3 NAME=5` has two)"
    }


@pytest.mark.parametrize("text", ["", "uninitialized\n", None])
def test_a_host_without_an_identity_is_not_known(
    text: str | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = tmp_path / "machine-id"
    if text is not None:
        place.write_text(text)
    monkeypatch.setattr(machines, "_IDENTITIES", (place,))
    assert "host" not in machines.machine()


def test_hosts_are_distinguished_and_not_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    hosts = []
    for identity in (IDENTITY, IDENTITY, IDENTITY[::-1]):
        place = tmp_path / "machine-id"
        place.write_text(f"{identity}\n")
        monkeypatch.setattr(machines, "_IDENTITIES", (tmp_path / "none", place))
        hosts.append(machines.machine()["host"])
    assert hosts[0] == hosts[1] != hosts[2]
    assert not any(host in IDENTITY or IDENTITY in host for host in hosts)
