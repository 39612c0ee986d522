"""Systems that answer the same question with other rows: the numbers of all of them are invalid."""

from __future__ import annotations

import sqlite3
from pathlib import Path
from typing import Any

import pytest

from assay.check.questions import Questions, what_is_asked
from assay.observation import AnswerSumReport
from assay.plan import PlannedRun
from step_workloads import folder_of, ran

COMPARED = 'scripts = ["read.sql"]\ncompare_results = true\nqueue = 40\nclients = [3]\n'
SAME = "\\set id random(1, 10)\nSELECT id, {value} FROM data WHERE id = :id;\n"


def folder_with_override(folder: Path, override: str, test: str = COMPARED) -> Path:
    """The dialect of PostgreSQL, or of SQLite's other self, is asked otherwise."""
    made = folder_of(folder, test, read=SAME.format(value="value"))
    (made / "overrides" / "null").mkdir(parents=True)
    (made / "overrides" / "null" / "read.sql").write_text(
        f"-- null: no rows of its own\n{override}"
    )
    return made


def test_runs_that_ask_the_same_have_one_digest(tmp_path: Path) -> None:
    folder = folder_of(tmp_path, COMPARED, read=SAME.format(value="value"))
    one, other = ran(folder, "sqlite", set=("sqlite.synchronous=full,off",)).runs
    assert one.driven is not None
    assert other.driven is not None
    assert one.driven.answer_sums == other.driven.answer_sums
    (found,) = one.driven.answer_sums
    assert (found.transaction, found.transactions, found.rows) == ("read", 40, 40)
    assert [check["ok"] for check in one.checks] == [None]
    assert [check["ok"] for check in other.checks] == [True]


def test_other_rows_make_the_numbers_of_both_systems_invalid(tmp_path: Path) -> None:
    folder = folder_with_override(tmp_path, "SELECT 1;\n")
    experiment = ran(folder, "sqlite", "null")
    one, other = experiment.runs
    assert (one.state, other.state) == ("done", "failed")
    assert (one.judged.word, other.judged.word) == ("invalid", "invalid")
    assert one.judged.reason.startswith("results differ: read: other rows than null")
    assert "results differ: other rows than sqlite" in other.reason
    with sqlite3.connect(experiment.path) as record:
        words = record.execute("SELECT verdict FROM cells").fetchall()
    assert words == [("invalid",), ("invalid",)]


def run(position: int, seed: int = 1, **parameters: Any) -> PlannedRun:
    class Cell:
        test = "t"

    cell: Any = Cell()
    cell.parameters = parameters
    return PlannedRun(cell, 1, seed, position)


def answered(digest: str, rows: int = 5) -> list[AnswerSumReport]:
    return [AnswerSumReport(transaction="a", transactions=2, rows=rows, digest=digest)]


def test_runs_after_a_dispute_are_invalid_too_and_each_is_reported_once() -> None:
    questions = Questions()

    def check(position: int, label: str, digest: str) -> bool | None:
        (found,) = questions.check(run(position), "same", label, answered(digest), {})
        return found["ok"]

    assert check(0, "A", "1") is None
    assert check(1, "B", "1") is True
    assert questions.take_disputed() == {}
    assert check(2, "C", "2") is False
    assert questions.take_disputed() == {
        0: "results differ: a: other rows than C",
        1: "results differ: a: other rows than C",
    }
    assert check(3, "D", "1") is False
    assert set(questions.take_disputed()) == {0, 1, 2}
    assert questions.take_disputed() == {}


@pytest.mark.parametrize(
    "other",
    [
        (run(1, seed=2), {"queue": 5}, "mix"),
        (run(1, scale=2), {"queue": 5}, "mix"),
        (run(1), {"queue": 6}, "mix"),
        (run(1), {"queue": 5}, "sequence"),
    ],
)
def test_other_data_or_counts_are_other_questions(other: tuple[Any, Any, Any]) -> None:
    assert what_is_asked(run(0), {"queue": 5}, "mix") == what_is_asked(run(1), {"queue": 5}, "mix")
    assert what_is_asked(*other) != what_is_asked(run(0), {"queue": 5}, "mix")
