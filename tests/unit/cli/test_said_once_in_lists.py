"""In a list of runs stands what varies; the rest is said once, and nothing is lost."""

from __future__ import annotations

from typing import Any

from assay.cli.commands.plan import said_once

COLUMNS = ("parameters", "driving")


def row(test: str, driving: dict[str, Any], **parameters: Any) -> dict[str, Any]:
    return {"test": test, "parameters": parameters, "driving": driving}


def test_what_is_the_same_wherever_it_is_stands_below() -> None:
    rows = [
        row("a", {"passes": 1}, scale=1, pace=0.5, deep=True),
        row("a", {"passes": 1}, scale=2, pace=0.5, deep=True),
        row("b", {"passes": 1, "retries": 9}, scale=1, pace=0.5),
        row("b", {"passes": 1}, scale=2, pace=0.5),
    ]
    found, emptied, lines = said_once(rows, COLUMNS)
    assert [one["parameters"] for one in found] == [{"scale": 1}, {"scale": 2}] * 2
    assert [one["driving"] for one in found] == [{}, {}, {"retries": 9}, {}], "not all of b have it"
    assert emptied == []
    assert lines == [
        "parameters of all runs: pace=0.5",
        "parameters of a: deep=yes",
        "driving of all runs: passes=1",
    ]
    assert said_once(rows[2:3], COLUMNS) == (rows[2:3], [], []), "one run has all in its row"


def test_a_column_in_which_nothing_varies_is_left_out() -> None:
    _, emptied, lines = said_once([row("a", {}, scale=1), row("a", {}, scale=1)], COLUMNS)
    assert emptied == ["parameters", "driving"]
    assert lines == ["parameters of all runs: scale=1"]
