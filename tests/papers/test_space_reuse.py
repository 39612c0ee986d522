"""Rows that are deleted and inserted again, on real systems."""

from __future__ import annotations

import pytest

from able import with_ability
from assay.contracts.dialects.protocol import Reclaims
from assay.contracts.observation import SpaceReuseReport
from commands import IN_MEMORY, Assay, need


@pytest.mark.parametrize("system", with_ability(Reclaims))
def test_the_same_rows_come_back_and_reclaiming_makes_files_smaller(
    assay: Assay, system: str
) -> None:
    need(system)
    ended = assay(
        "run", "ssd.space-reuse", "--on", system, "--set", "tables=1", "--set", "rows=2000",
        "--set", "cycles=2", "--no-durability", *IN_MEMORY,
    )  # fmt: skip
    assert ended.status == 0, ended.err
    said = " ".join((ended.out + ended.err).split())
    assert "inserted again" in said  # the first look has what was measured, no empty columns
    assert "TPS" not in said
    assert "without a number" not in said
    plain, reclaimed = (run.observation for run in ended.runs)
    for report in (plain, reclaimed):
        assert isinstance(report, SpaceReuseReport)
        assert report.equals_load is True
        assert report.cycles == 2
        assert report.first_ratio == pytest.approx(report.reinserted_bytes / report.loaded_bytes)
    assert isinstance(plain, SpaceReuseReport) and isinstance(reclaimed, SpaceReuseReport)
    compared = assay("compare", "1", "--between", "reclaim", "--format", "json")
    assert compared.status == 0, compared.err
    ratios = {one["metric"]: one for one in compared.document["ratios"]}
    assert ratios["reinserted_bytes"]["is_primary"]
    assert ratios["deleted_bytes"]["ratio"] == pytest.approx(
        reclaimed.deleted_bytes / plain.deleted_bytes
    )
    # Neither logs nor an empty server's files count.
    assert reclaimed.deleted_bytes < plain.loaded_bytes / 2
    assert plain.deleted_bytes >= plain.loaded_bytes, "rows are deleted, files are not"
    if system == "postgresql":
        assert plain.last_ratio > 2, "deleted rows stay until they are vacuumed"
        assert reclaimed.last_ratio < 1.6, "a VACUUM leaves the pages of indexes"
    else:
        assert reclaimed.last_ratio == pytest.approx(1, abs=0.1)


def test_a_system_without_such_statements_is_refused(assay: Assay) -> None:
    ended = assay(
        "run", "ssd.space-reuse", "--on", "duckdb", "--set", "tables=1", "--set", "rows=1000",
        *IN_MEMORY,
    )  # fmt: skip
    assert ended.status == 0, ended.err
    plain, reclaimed = ended.runs
    assert isinstance(plain.observation, SpaceReuseReport)
    assert reclaimed.state == "refused"
    assert "no statement that gives the space of deleted rows back" in reclaimed.reason
