"""How many checks were right is said per system, and nothing that was not run counts as right."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from msgspec.structs import replace

import invented_records as invented
from assay.judge.check.answers import Check, not_run
from assay.report.cells import cell_runs
from assay.report.sections import answers as result_checks
from assay.report.sections import check_counts


def check(id_: str, ok: bool | None, expected: int | None = 0) -> Check:
    return Check(id=id_, title="", expected=expected, found=0, ok=ok, note="")


def runs(**by_system: list[Check]) -> Any:
    return [
        SimpleNamespace(system_on_machine=label.rstrip("_"), checks=checks, data=None)
        for label, checks in by_system.items()
    ]


RIGHT = [check("rows", True), check("sums", True)]
MISSING = [not_run("rows", "", "no joins"), not_run("sums", "", "no joins")]
WRONG = [check("rows", False), check("sums", True)]


def answers(*oks: bool | None) -> list[Check]:
    return [check(f"q{number}", ok, None) for number, ok in enumerate(oks)]


@pytest.mark.parametrize(
    ("found", "expected"),
    [
        (runs(a=[]), ""),
        (
            runs(a=RIGHT, a_=RIGHT, b=MISSING),
            "2 of 2 right, each in all its runs; b: 2 not run: no joins",
        ),
        (
            runs(a=RIGHT, a_=RIGHT, b=WRONG),
            "3 of 4 right, each in all its runs; wrong: rows (b)",
        ),
        (runs(a=WRONG), "1 of 2 right; wrong: rows"),
        (
            runs(a=RIGHT, b=RIGHT, c=RIGHT, cassandra=MISSING),
            "6 of 6 right; cassandra: 2 not run: no joins",
        ),
        (runs(a=RIGHT, b=WRONG), "3 of 4 right; wrong: rows (b)"),
        (runs(a=MISSING), "a: 2 not run: no joins"),
        (
            runs(a=[check("lost-update", None), *RIGHT]),
            "2 of 2 right; 1 only counted: lost-update 0",
        ),
        (runs(a=[check("set 1", None, 1400)]), "1 not decided: set 1"),
        (runs(a=answers(None, None)), "2 without an expected result"),
        (
            runs(a=answers(None, None), b=answers(True, True)),
            "2 answers compared: the same on all 2 systems",
        ),
        (runs(a=answers(None), a_=answers(True)), "1 answer compared: the same in all runs"),
        (
            runs(a=answers(None, None), b=answers(True, False)),
            "1 of 2 compared answers the same on all 2 systems; different: q1",
        ),
    ],
)
def test_checks_are_counted_by_system_and_answers_are_compared(found: Any, expected: str) -> None:
    assert check_counts.words(found) == expected


def test_what_is_right_on_each_of_several_data_sets_is_said_once(tmp_path: Path) -> None:
    planned = invented.plan([invented.SQLITE], clients=(1, 8))
    record = invented.experiment(tmp_path / "r.sqlite", planned, 2.0)
    first, second = record.runs
    other = {"fingerprint": "e" * 64, "description": "14 files"}

    def lines(second: Any) -> tuple[str, ...]:
        runs = (first, invented.changed(second, "dataset", **other))
        found = result_checks.section("parallel", cell_runs.cells(record, runs))
        return found.lines if found else ()

    (line,) = lines(second)
    assert line.startswith("checks  2 of 2 right") and line.endswith(", on each of 2 data sets")
    wrong = replace(second, checks=tuple(invented.checks({"S01": 155})))
    right, one = lines(wrong)
    assert right.endswith("; on 13 files of the beebe collection")
    assert one.startswith("checks  1 of 2 right; wrong: S01") and one.endswith("; on 14 files")


def test_an_unknown_edition_of_the_data_is_the_reason() -> None:
    """Expected results are those of an edition: another Debian has another one."""
    edition = SimpleNamespace(source="real", fingerprint="62fd01e9", items=10_002)
    (run,) = runs(a=answers(None, None))
    run.data = edition
    assert check_counts.words([run]) == (
        "2 without an expected result; none is known for this edition of the data "
        "(10002 items, digest 62fd01e9)"
    )
    run.checks = RIGHT
    assert "edition" not in check_counts.words([run])
