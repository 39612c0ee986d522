"""Two sides that ran the same scripts: their answers differ, or what looks different is chance, the
time, or another number of digits."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

import invented_records as invented
from assay import comparison
from assay.cli.commands import run
from assay.comparison.sides.values import Comparison
from assay.contracts.observation import Observation
from assay.contracts.observation.merging.simultaneous import merge
from assay.judge.differing_statements import AnsweringRun, agreement, differing_statements
from assay.record import ExperimentRecord
from assay.record.runs import run_ends
from assay.report.build import build
from assay.report.comparison_tables import comparison as comparison_report
from observations import observation

READ = "SELECT v FROM t WHERE k = :k"
SAME, OTHER = "00000000000000aa", "00000000000000bb"


def first(transactions: int, digest: str = SAME, **changes: Any) -> dict[str, Any]:
    """What the first transactions were answered: a row each."""
    counts = {"transactions": transactions, "answers": transactions, "rows": transactions}
    return {**counts, "digest": digest, "fractions": 0, "fraction_sum": 0.0,
            "clients": 32, **changes}  # fmt: skip


def answer(text: str = READ, *, rows_each: float = 1, **changes: Any) -> dict[str, Any]:
    """A thousand answers to one statement; a row more or less is as frequent."""
    rows = round(1000 * rows_each)
    return {
        "transaction": "read", "statement": 0, "line": 2, "text": text, "answers": 1000,
        "rows": rows, "rows_squared": 1000.0 * (rows_each**2 + 1), "varies": False,
        "first": [first(1)], **changes,
    }  # fmt: skip


def side(*changes: dict[str, Any], seed: int = 1, commits: int = 0) -> list[AnsweringRun]:
    """One run whose only statement was answered so."""
    answers = [answer(**one) for one in changes] or [answer()]
    return [AnsweringRun(seed, observation(answers=answers, commits=commits))]


def test_numbers_of_rows_that_differ_late_are_shown_with_as_many_digits() -> None:
    (found,) = differing_statements(
        side({"first": [first(1, rows=12_344)], "rows_each": 12_344}),
        side({"first": [first(1, rows=12_345)], "rows_each": 12_344}),
    )
    assert (found.a, found.b) == ("12344 rows per answer", "12345 rows per answer")
    (found,) = differing_statements(side({"rows_each": 9}), side({"rows_each": 98_765_432}))
    assert found.b == "98770000 rows per answer"


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ({}, {"first": [first(1, OTHER)]}),
        ({"first": [first(1), first(2)]}, {"first": [first(1), first(2, OTHER)]}),
        ({}, {"first": [first(1, rows=0)]}),
        ({"first": [first(1, fractions=1, fraction_sum=2.5)]},
         {"first": [first(1, fractions=1, fraction_sum=2.6)]}),
        ({"first": []}, {"first": [], "rows_each": 0.5}),
        ({"text": "SELECT now(), v FROM t"}, {"text": "SELECT now(), v FROM t", "rows_each": 0.5}),
    ],
    ids=["values", "values of the second", "rows", "fraction", "rows per answer", "of the time"],
)  # fmt: skip
def test_answers_that_differ(one: dict[str, Any], other: dict[str, Any]) -> None:
    (found,) = differing_statements(side(one), side(other))
    assert found.statement.startswith("read:2 (SELECT ")
    assert found.a != found.b


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ({"first": [first(1), first(2)]}, {"first": [first(1)]}),
        ({"first": [first(1, fractions=1, fraction_sum=1.3333)]},
         {"first": [first(1, fractions=1, fraction_sum=1.3333333333333333)]}),
        ({"first": []}, {"first": [], "rows_each": 1.1}),
        *(
            ({"text": text}, {"text": text, "first": [first(1, OTHER)]})
            for text in (
                "SELECT now(), v FROM t", "SELECT random()", "SELECT v FROM t LIMIT 3",
            )
        ),
        ({}, {"varies": True, "first": [first(1, OTHER)]}),
    ],
    ids=["a shorter run", "digits", "chance", "time", "random", "any three rows", "varies"],
)  # fmt: skip
def test_what_is_no_difference(one: dict[str, Any], other: dict[str, Any]) -> None:
    assert not differing_statements(side(one), side(other))
    assert agreement(side(one), side(other))


def test_values_are_compared_of_one_seed_and_of_reads_alone() -> None:
    """Another seed asks for other rows, and what one client wrote another reads."""
    other = {"first": [first(1, OTHER)]}
    assert not differing_statements(side(), side(other, seed=2))
    assert not differing_statements(side(), side(other, commits=5))
    assert differing_statements(side(commits=5), side({"rows_each": 0.5}, commits=5))


def test_the_order_by_makes_a_limit_comparable() -> None:
    text = "SELECT v FROM t ORDER BY v LIMIT 3"
    assert differing_statements(
        side({"text": text}), side({"text": text, "first": [first(1, OTHER)]})
    )


def test_how_far_answers_were_compared_is_said() -> None:
    both = side({"first": [first(1), first(2)]})
    assert (
        agreement(both, both)
        == "1 statement, first 2 transactions of each of 32 clients, by values"
    )
    for clients, whose in ((8, " of each of 8 clients"), (1, " of 1 client"), (0, "")):
        some = side({"first": [first(1, clients=clients)]})
        assert agreement(some, some) == f"1 statement, first 1 transaction{whose}, by values"
    writing = side(commits=5)
    assert agreement(writing, writing) == "1 statement, rows per answer"
    assert agreement(side(), [AnsweringRun(1, observation())]) == ""


def test_values_of_other_clients_are_not_compared() -> None:
    all_clients = side({"first": [first(1, answers=32, rows=32)]})
    eight = side({"first": [first(1, OTHER, answers=8, rows=8, clients=8)]})
    assert not differing_statements(all_clients, eight)
    assert agreement(all_clients, eight) == "1 statement, rows per answer"


def test_answers_of_two_client_machines_are_summed_as_far_as_both_have_them() -> None:
    """Digests of transactions are summed in the engine, too, and wrap around."""

    def machine(digest: str, *, stages: int, is_first: bool) -> Observation:
        ends = [{"client": int(not is_first), "group": "", "elapsed_ns": 1, "passes": 1,
                 "transactions": 1, "state": "done"}]  # fmt: skip
        firsts = [first(2**stage, digest) for stage in range(stages)]
        return observation(answers=[answer(first=firsts)], client_ends=ends)

    parts = [machine("ffffffffffffffff", stages=2, is_first=True),
             machine("0000000000000003", stages=1, is_first=False)]  # fmt: skip
    (found,) = merge(parts).answers
    assert (found.answers, found.rows, found.rows_squared) == (2000, 2000, 4000.0)
    assert [(one.transactions, one.rows, one.digest) for one in found.first] == [
        (1, 2, "0000000000000002")
    ]


def on_two(path: Path, *of_each: dict[str, Any]) -> ExperimentRecord:
    """Systems by turns, each with its answers."""
    systems = [invented.POSTGRESQL, invented.MARIADB]
    planned = invented.plan(systems, repetitions=3)
    elapsed = {("postgresql", "here", 8): (1.0, 1.1, 1.0), ("mariadb", "here", 8): (0.5, 0.5, 0.6)}
    found = invented.experiment(path, planned, elapsed)
    by_system = dict(zip(["postgresql", "mariadb"], of_each, strict=True))
    runs = (
        invented.changed(run, "observation", answers=[answer(**by_system[run.system])], commits=0)
        for run in found.runs
    )
    same_questions = tuple(replace(run, seed=run.repetition) for run in runs)
    return replace(found, runs=same_questions)


def compared(experiment: ExperimentRecord, **given: Any) -> Comparison:
    of = comparison.side("A", "", [experiment])
    return comparison.compare(of, None, between="system", **given)


def test_a_side_with_fewer_rows_is_not_called_faster(tmp_path: Path) -> None:
    experiment = on_two(tmp_path / "r", {}, {"first": [first(1, rows=0)], "rows_each": 0.5})
    (cell,) = compared(experiment).cells
    assert cell.primary.verdict == (
        "not comparable: answers to read:2 (SELECT v FROM t WHERE k = :k): "
        "1 row per answer → 0.5 rows per answer"
    )
    (cell,) = compared(experiment, despite=["answers"]).cells
    assert cell.primary.verdict == "faster"
    (warning,) = (one for one in build(experiment).warnings if one.name == "answers-differ")
    assert "mariadb" in warning.details[0] and "postgresql" in warning.details[0]
    # Which side is wrong is not known: neither number is invalid, and no run has failed.
    cells = build(experiment).tidy["tables"]["cells"]
    assert {str(one["verdict"]) for one in cells} == {"indicative"}
    assert run_ends.exit_status(map(run_ends.end_of, experiment.runs)) == 0
    said = " ".join((run.command.help or "").split())
    assert "nothing is ranked (warning answers-differ), and the status stays" in said


def test_sides_with_the_same_answers_are_ranked_and_say_so(tmp_path: Path) -> None:
    experiment = on_two(tmp_path / "r", {}, {})
    made = compared(experiment)
    assert made.cells[0].primary.verdict == "faster"
    facts = comparison_report.build(made).facts
    assert (
        facts["answers"]
        == "the same: 1 statement, first 1 transaction of each of 32 clients, by values"
    )
    report = build(experiment)
    assert "answers-differ" not in {one.name for one in report.warnings}
