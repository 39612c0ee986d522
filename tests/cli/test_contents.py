"""Scripts are what they hold: a copy is the same cell, an edited one has no verdict."""

from __future__ import annotations

from pathlib import Path

import pytest

from commands import Assay

RUN = ("--transactions", "20", "--repetitions", "2", "--no-probe", "--no-durability")


@pytest.mark.slow
def test_a_copied_script_is_compared_and_an_edited_one_is_not(assay: Assay, tmp_path: Path) -> None:
    (tmp_path / "d").mkdir()
    scripts = [tmp_path / name for name in ("s.sql", "d/copy.sql", "s.sql")]
    for script, text in zip(scripts, ("select 1", "select 1", "select 2"), strict=True):
        script.write_text(f"{text}\n")
        ended = assay("run", str(script), "--on", "null", *RUN)
        assert ended.status == 0, ended.err
    copied = assay("compare", "1", "2", "--format", "json").document
    (ratio,) = (one for one in copied["ratios"] if one["is_primary"])
    assert ratio["ratio"] is not None
    assert not [one for one in copied["differences"] if one["what"] == "workload"]
    among_others = assay("run", f"s.sql,{scripts[1]}", "--on", "null", *RUN)
    assert among_others.status == 0, among_others.err
    beside = assay("compare", "3", "4", "--format", "json").document
    assert not [one for one in beside["differences"] if one["what"] == "workload"]
    edited = assay("compare", "1", "3")
    assert "text of the scripts" in edited.out and "--despite workload" in edited.err
    assert "other work" in assay("trend").out


@pytest.mark.slow
def test_a_level_of_a_setting_may_be_spelled_otherwise_in_between(
    assay: Assay, tmp_path: Path
) -> None:
    script = tmp_path / "s.sql"
    script.write_text("select 1\n")
    levels = "sqlite.synchronous=0,FULL"
    ended = assay("run", str(script), "--on", "sqlite", "--set", levels, *RUN)
    assert ended.status == 0, ended.err
    for between in (
        "sqlite.synchronous", "synchronous=OFF,Full", "synchronous=false,full",
        "synchronous=off,default",
    ):  # fmt: skip
        compared = assay("compare", "latest", "--between", between)
        assert compared.status == 0, compared.err
        assert (
            "sqlite.synchronous off" in compared.out and "sqlite.synchronous full" in compared.out
        )
    without = assay("run", str(script), "--on", "sqlite", *RUN)
    assert without.status == 0, without.err
    for between in ("sqlite.synchronous=off,full", "sqlite.synchronous=off,default"):
        compared = assay("compare", "1", "2", "--between", between)
        assert compared.status == 0, compared.err
        assert "sqlite.synchronous full, experiment 2" in compared.out
