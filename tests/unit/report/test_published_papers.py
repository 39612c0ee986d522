"""The published numbers are those that the papers print: counts, sums, and some cells."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from assay.report.declared import notes, published
from assay.report.papers.claims import claims
from assay.report.papers.claims.claims import Claim
from assay.workload import reader

BIBSQL, GLIDEMON = reader.read("bibsql"), reader.read("glidemon")


def rows(table: Mapping[str, Any], **levels: Any) -> list[list[float]]:
    return [
        list(row["values"])
        for row in table["rows"]
        if all(row.get(name) == level for name, level in levels.items())
    ]


def sums(found: list[list[float]]) -> list[float]:
    return [pytest.approx(sum(column)) for column in zip(*found, strict=True)]


def test_beebe_table_1() -> None:
    assert rows(BIBSQL.published["sequential"]) == [
        [88.28, 75.25], [213.88, 80.84], [2682.88, 44.28]
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("system", "expected"),
    [("MySQL", [10903, 11096]), ("PostgreSQL", [17536, 5151]), ("SQLite", [30029, 11732])],
)
def test_beebe_table_2(system: str, expected: list[int]) -> None:
    found = rows(BIBSQL.published["parallel"], system=system)
    assert (len(found), sums(found)) == (6, expected)


def test_beebe_sizes_and_processes() -> None:
    assert rows(BIBSQL.published["sizes"]) == [[1.1, ""], [3.5, 1047], [2.13, 1]]
    assert rows(BIBSQL.published["processes"], system="MySQL") == [[1, 9, 597, 98, "", 250]]


@pytest.mark.parametrize(
    ("system", "table_1", "table_2"),
    [
        ("MySQL", [157, 80], [0.24, 3.8, 164]),
        ("PostgreSQL", [140, 108], [0.28, 1.2, 73]),
        ("MongoDB", [577, 506], [0.36, 6.4, 266]),
    ],
)
def test_kovalskyi_tables_1_and_2(system: str, table_1: list[int], table_2: list[float]) -> None:
    assert sums(rows(GLIDEMON.published["table"], system=system)) == table_1
    assert sums(rows(GLIDEMON.published["response"], system=system)) == table_2


def test_kovalskyi_machine_and_storage_stand_apart() -> None:
    on_disk = {"machine": "Workstation", "storage_role": "disk", "memory_bytes": 12_000_000_000}
    assert rows(GLIDEMON.published["table"], **on_disk) == [[85, 27], [61, 37], [277, 242]]
    assert rows(GLIDEMON.published["response"], clients=10, **on_disk)[2] == [0.12, 2.5, 59]


def test_kovalskyi_scalability_sizes_and_the_ends_of_figure_1() -> None:
    assert rows(GLIDEMON.published["tasks"]) == [[83, 96], [78, 100], [32, 13]]
    assert rows(GLIDEMON.published["load"]) == [[24], [4], [5], [5]]
    assert rows(GLIDEMON.published["aggregate"], system="MongoDB") == [[70_000, 2_000_000]]


def test_kreymer_table() -> None:
    found = rows(reader.read("e831").published["table"])
    assert (len(found), sums(found)) == (5, [62.37, 83.3, 5.763, 11.0, 23.9, 44.1])
    assert found[3] == [15, 21, 1.6, 2.3, 5, 10]


def test_the_times_of_updates_that_kreymer_says_in_words_stand_below_their_table() -> None:
    (note,) = notes.points(published.of_record(reader.read("e831").for_record(), "update"))
    assert "text: Datatrieve, E687: 1K update: several hours; mSQL 1.0.7: 1K update: under" in note
    assert "mSQL 1.0.7: server: 80 %, client: 15 % (" in note


def test_cubrid_has_ratios_alone_and_each_is_a_claim() -> None:
    ssd = reader.read("ssd")
    printed = [
        (row["system"], test, row["speed_up"][0], row["values"])
        for test, table in ssd.published.items()
        for row in table["rows"]
    ]
    assert [one[2] for one in printed] == [5.0, 2.5, 0.83, 1.06, 4.2, 2.8]
    assert not any(one[3] for one in printed)
    found = claims.of_record(ssd.for_record())
    claimed = [
        (one.terms[0].levels["system"], one.terms[0].test, _speed_up(one))
        for one in found
        if one.ratio is not None
    ]
    assert claimed == [(*one[:2], pytest.approx(one[2], abs=0.005)) for one in printed]


def _speed_up(claim: Claim) -> float | None:
    """Of solid state over disks."""
    if claim.ratio is None or claim.ratio.value is None:
        return None
    is_gain = claim.terms[-1].levels["storage_role"] == "solid state"
    return claim.ratio.value if is_gain else 1 / claim.ratio.value


@pytest.mark.parametrize("workload", [BIBSQL, GLIDEMON])
def test_every_ratio_of_a_claim_about_a_table_is_that_of_the_table(workload: Any) -> None:
    """A claim about two storages of one system in Table 1 has the printed speed-up."""
    found = claims.of_record(workload.for_record())
    assert len(found) > 15
    names = {one.terms[0].test for one in found}
    assert names <= set(workload.tests)
    speed_ups = {
        row["system"]: row["speed_up"][0]
        for row in workload.published.get("sequential", {"rows": []})["rows"]
    }
    of_storages = [
        one
        for one in found
        if one.source == "Table 1"
        and one.kind in ("order", "equal")
        and "system" in one.terms[0].levels
    ]
    claimed = {one.terms[0].levels["system"]: one.ratio and one.ratio.value for one in of_storages}
    assert claimed == speed_ups


@pytest.mark.parametrize("table", ["sequential", "parallel"])
def test_the_year_that_a_check_asks_for_is_named_with_the_one_that_was_used(table: str) -> None:
    found = published.of_record(BIBSQL.for_record(), table)
    assert found is not None
    said = "latest_year: 2012 published, 2023 measured"
    assert found.other_parameters([{"latest_year": "2023"}] * 2) == [said]
    assert found.other_parameters([{"latest_year": "2012"}, {"clients": 8}]) == []
