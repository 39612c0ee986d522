"""Systems that answer the same question with other rows: the numbers of all of them are invalid."""

from __future__ import annotations

import sqlite3
from pathlib import Path
from typing import Any

import pytest

from assay.contracts.observation import AnswerSumReport
from assay.judge.check.questions import Questions, compare, what_is_asked
from assay.plan import PlannedRun
from assay.report.sections import check_counts
from step_workloads import folder_of, ran

COMPARED = 'scripts = ["read.sql"]\ncompare_results = true\nqueue = 40\nclients = [3]\n'
ENDLESS = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT max(i) FROM n;\n"
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
    for run in (one, other):
        assert (run.state, run.judged.word) == ("done", "invalid"), "neither is the one to blame"
        assert run.judged.reason == "results differ: read (sqlite: 40 rows; null: 0 rows)"
        (check,) = run.checks
        assert (check["ok"], check["note"][:14]) == (False, "results differ")
    with sqlite3.connect(experiment.path) as record:
        words = record.execute("SELECT verdict FROM cells").fetchall()
    assert words == [("invalid",), ("invalid",)]


def run(position: int, seed: int = 1, **parameters: Any) -> PlannedRun:
    class Cell:
        test = "t"

    cell: Any = Cell()
    cell.parameters = parameters
    return PlannedRun(cell, 1, seed, position)


def reasons(questions: Questions) -> dict[int, str]:
    return {place: one.reason for place, one in questions.take_disputes().items()}


def test_systems_that_differ_are_grouped_by_their_answers_in_any_order() -> None:
    """Two agree and one differs: none of them is blamed."""
    for order in (("a", "b", "c"), ("a", "c", "b"), ("c", "a", "b")):
        questions = Questions()
        for position, label in enumerate(order):
            digest = "2" if label == "c" else "1"
            questions.answered(position, "same", label, "day", 5, digest)
            questions.answered(position, "same", label, "week", 7, "3")
        assert len(reasons(questions)) == 3
        (said,) = questions.differences()
        expected = "c; a = b" if order[0] == "c" else "a = b; c"
        assert said == f"results differ: day ({expected})"


def test_runs_after_a_dispute_are_invalid_too_and_each_reason_is_replaced() -> None:
    questions = Questions()

    def answer(position: int, label: str, digest: str, rows: int = 5) -> dict[int, str]:
        questions.answered(position, "same", label, "a", rows, digest)
        return reasons(questions)

    assert answer(0, "A", "1") == answer(1, "B", "1") == {}
    assert answer(2, "C", "2") == dict.fromkeys(range(3), "results differ: a (A = B; C)")
    assert reasons(questions) == {}
    said = "results differ: a (A = B = D; C)"
    assert answer(3, "D", "1") == dict.fromkeys(range(4), said)
    assert questions.differences() == [said]
    assert set(answer(4, "D", "9", rows=6).values()) == {
        "results differ: a (A = B = D, run 4: 5 rows; C: 5 rows; D, run 5: 6 rows)"
    }


def test_answers_of_a_process_before_are_compared_and_nothing_is_said_twice() -> None:
    before = Questions()
    for position, label in enumerate("ABC"):
        before.answered(position, "same", label, "a", 5, "2" if label == "C" else "1")
    said = reasons(before)
    for recorded in (said, {}):  # killed before the dispute was on record
        questions = Questions()
        for position in said:
            questions.recall(position, before.given_by(position), recorded.get(position, ""))
        assert reasons(questions) == ({} if recorded else said)
        questions.answered(3, "same", "D", "a", 5, "1")
        disputes = questions.take_disputes()
        assert {one.reason for one in disputes.values()} == {"results differ: a (A = B = D; C)"}
        assert disputes[0].before == "results differ: a (A = B; C)"


def test_of_many_questions_that_differ_some_are_named() -> None:
    questions = Questions()
    for position, label in enumerate("AB"):
        for day in range(1, 15):
            questions.answered(position, "same", label, f"day_{day}", 1, label)
    assert set(reasons(questions).values()) == {
        "results differ: day_1, day_2, day_3 and 11 more (A; B)"
    }


def test_a_statement_that_was_cancelled_answered_nothing(tmp_path: Path) -> None:
    """What the others answered is no other answer; without one no known answer is missed."""
    questions = Questions()
    checks = []
    for place, rows, cancelled in ((0, 4, set()), (1, 0, {"day"})):
        sums = [AnswerSumReport("day", 1 - len(cancelled), rows, f"{rows}")]
        checks += compare(questions, run(place), "same", "A", sums, {}, {"day": "4"}, cancelled)
    assert not questions.take_disputes()
    assert [(check["ok"], check["note"]) for check in checks] == [
        (True, ""),
        (None, "not run: cancelled at the limit of a statement"),
    ]
    folder = folder_of(tmp_path, COMPARED.replace("40", "1"), read=ENDLESS)
    (ended,) = ran(folder, "sqlite", statement_limit_s=0.1).runs
    assert check_counts.words([ended]) == (
        "sqlite: 1 not run: cancelled at the limit of a statement"
    )


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


@pytest.mark.parametrize(("value", "word"), [("value", True), ("value + 1", False)])
def test_an_answer_that_is_known_is_compared_with_it(
    tmp_path: Path, value: str, word: bool
) -> None:
    once = COMPARED.replace("queue = 40\nclients = [3]", "queue = 1\nclients = [1]")
    read = "SELECT id, {value} FROM data;\n"
    folder = folder_of(tmp_path, once, read=read.format(value="value"))
    (first,) = ran(folder, "sqlite").runs
    assert first.driven is not None
    assert first.dataset is not None
    (found,) = first.driven.answer_sums
    (folder / "read.sql").write_text(read.format(value=value))
    (folder / "expected.toml").write_text(
        f'[[dataset]]\nname = "d"\nsource = "s"\nfingerprint = "{first.dataset["fingerprint"]}"\n'
        f'entries = 10\nbytes = 1\n[dataset.answers.t]\nread = "{found.digest}"\n'
    )
    (run,) = ran(folder, "sqlite").runs
    (check,) = run.checks
    assert check["ok"] is word
    assert check["note"] == ("" if word else "not the answer that is known")
    assert (run.judged.word == "invalid") is not word
