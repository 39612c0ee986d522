"""Two versions of a system side by side: each is what it says, and they are compared."""

from __future__ import annotations

import json

import pytest

from commands import IN_MEMORY, Assay, two_versions

WORK = (
    "run", "tpcb.simple-update", "--clients", "1",
    "--warm-up", "0", "--duration", "0.2", *IN_MEMORY,
)  # fmt: skip


@pytest.mark.parametrize("system", ["duckdb", "postgresql"])
def test_two_versions_run_side_by_side_and_are_compared(assay: Assay, system: str) -> None:
    old, new = two_versions(system)
    ended = assay(*WORK, "--on", f"{system}@{old},{system}@{new}", "--repetitions", "2")
    assert ended.status == 0, ended.err + ended.out
    runs = ended.runs
    assert {run.system_label for run in runs} == {f"{system}@{old}", f"{system}@{new}"}
    for run in runs:
        assert run.deployment is not None
        assert run.system_label.partition("@")[2] in run.deployment.version
    assert len({run.cell_fingerprint for run in runs}) == 2
    rows = json.loads(assay("report", "latest", "--format", "json").out)["tables"]["runs"]
    assert {row["system"] for row in rows} == {f"{system}@{old}", f"{system}@{new}"}
    first, second = old.rpartition(".")[0], new.rpartition(".")[0]
    compared = assay("compare", "1", "--between", f"{system}@{first},{system}@{second}")
    assert f"{system}.version {old}" in compared.out, compared.err
    assert f"{system}.version {new}" in compared.out


def test_equal_versions_are_one_system(assay: Assay) -> None:
    old, new = two_versions("duckdb")
    assert "given twice" in assay("plan", "tpcb", "--on", f"duckdb@{new},duckdb").err
    assert "given twice" in assay("plan", "tpcb", "--on", f"duckdb@{old},duckdb@{old[:3]}").err
    planned = assay("plan", "tpcb", "--on", "duckdb", "--set", f"duckdb.version={old},{new}")
    assert f"duckdb@{old}" in planned.out and f"duckdb@{new}" in planned.out


def test_versions_in_an_experiment_file_with_names_and_settings(assay: Assay) -> None:
    old, new = two_versions("duckdb")
    ended = assay(
        "run", "tpcb.select-only", "--duration", "0.3", "--warm-up", "0", *IN_MEMORY,
        "--on", f"before=duckdb@{old}[threads=1],after=duckdb@{new}[threads=1]",
    )  # fmt: skip
    assert ended.status == 0, ended.err + ended.out
    assert [run.system_label for run in ended.runs] == ["before", "after"]
    settings = [run.deployment.settings["threads"] for run in ended.runs if run.deployment]
    assert settings == ["1", "1"]


def test_a_version_that_is_not_here_is_refused_before_anything_starts(assay: Assay) -> None:
    old, new = two_versions("duckdb")
    ended = assay(*WORK, "--on", f"duckdb@{old},duckdb@9.9")
    assert ended.status == 3
    assert f"duckdb 9.9 is not on this machine, which has duckdb {new}, {old}" in ended.err
    assert "assay install duckdb@9.9" in ended.err
    assert "not installed" in assay("plan", "tpcb", "--on", "duckdb@9.9").out
