"""The questions of TPC-H on real systems: all of them answer alike."""

from __future__ import annotations

import pytest

from able import able_to_run
from commands import IN_MEMORY, Assay, need

SCALE = "scale=0.01"


@pytest.mark.parametrize("system", [one for one in able_to_run("tpch") if one != "duckdb"])
@pytest.mark.parametrize("substitution", ["validation", "drawn"])
def test_systems_answer_the_22_questions_alike(
    assay: Assay, system: str, substitution: str
) -> None:
    need("duckdb")
    need(system)
    ended = assay(
        "run", "tpch", "--on", f"duckdb,{system}", "--set", SCALE,
        "--set", f"substitution={substitution}", *IN_MEMORY,
    )  # fmt: skip
    assert ended.status == 0, ended.err
    for run in ended.runs:
        assert run.driven is not None
        assert run.driven.outcomes.ok == 22
    # The first of the two had nothing to be compared with.
    assert [check["ok"] for check in ended.runs[-1].checks] == [True] * 22
