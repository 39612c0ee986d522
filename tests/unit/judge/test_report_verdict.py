"""When a number is valid, unreliable or invalid, which warnings a run has, and whether runs that
ask the same had the same results."""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from msgspec import structs

import invented_records as invented
from assay.contracts.deployment import Delay
from assay.contracts.observation import AnswerSumReport
from assay.judge import Verdict, judge_run
from assay.judge.agreement import Questions, compare_digests, what_is_asked
from assay.judge.run_warnings import mean_the_same
from assay.judge.statistics.samples import median_and_spread, samples_needed
from assay.judge.verdict import of_number, worst
from assay.plan import PlannedRun
from assay.record import Run
from assay.report.sections import answers
from step_workloads import folder_of, ran

HUGE = 10**14


LOWERED = {"durability_lowered_by": ["fsync = off"]}


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    """A run on a server, on data that do not fit in memory, without a warning."""
    planned = invented.plan([invented.POSTGRESQL])
    path = tmp_path_factory.mktemp("records") / "r.sqlite"
    (found,) = invented.experiment(path, planned, 10.0, dataset={"size_on_disk_bytes": HUGE}).runs
    return found


def judged(run: Run) -> tuple[str, list[str]]:
    verdict, warnings = judge_run(run)
    return verdict.word, [warning.name for warning in warnings]


def busy(user_s: float, system_s: float = 0, **changes: Any) -> dict[str, Any]:
    """An observation whose clients used so much time of the processors."""
    cost = {"user_ns": round(user_s * invented.S), "system_ns": round(system_s * invented.S)}
    return {"observation": {"client_cost": cost, **changes}}


def with_parts(run: Run, changes: Mapping[str, Mapping[str, Any]]) -> Run:
    for part, values in changes.items():
        run = invented.changed(run, part, **values)
    return run


LIMITED = {"deployment": {"memory_limit_bytes": 2**28}}
LOST = {"scheduled": 16, "ok": 15, "failed": 0, "unknown": 1}
EMBEDDED = {"deployment": {"is_embedded": True}}


def waiting(waited_s: float, machine_busy_s: int) -> dict[str, Any]:
    """A thread of clients that waited so long in ten seconds."""
    times_s = {"waited_for_processor_ns": waited_s, "machine_busy_ns": machine_busy_s}
    cost = {name: int(one * invented.S) for name, one in times_s.items()}
    cost |= {"user_ns": 2 * invented.S, "system_ns": 0}
    ten_s = 10 * invented.S
    return {"observation": {"client_cost": cost, "elapsed_ns": ten_s, "threads": 1}}


def round_trip(measured_s: float) -> dict[str, Any]:
    """1 ms was asked for."""
    return {"deployment": {"delay": Delay(0.001, measured_s, 0.00001, 0.00004)}}


@pytest.mark.parametrize(
    ("changes", "word", "warnings"),
    [
        ({}, "valid", []),
        ({"dataset": {"size_on_disk_bytes": 10**9}}, "valid", ["fits-in-memory"]),
        ({**LIMITED, "dataset": {"size_on_disk_bytes": 2**27}}, "valid", ["fits-in-memory"]),
        ({**LIMITED, "dataset": {"size_on_disk_bytes": 2**29}}, "valid", []),
        ({"dataset": {"source": "synthetic"}}, "valid", ["synthetic-data"]),
        ({"dataset": {"skipped_items": 3}}, "valid", ["input-skipped"]),
        ({"deployment": LOWERED}, "unreliable", ["durability-lowered"]),
        ({"deployment": LOWERED, "observation": {"commits": 0}}, "valid", []),  # queries
        ({"deployment": {"settings_asked": {"max_connections": "2000"}}},
         "valid", ["settings-differ"]),
        ({"deployment": {"settings_asked": {"max_connections": "1000"}}}, "valid", []),
        (busy(15, 2), "unreliable", ["client-busy"]),
        # The system works in the clients' process; or less than the kernel counts has passed.
        ({**busy(20), **EMBEDDED}, "valid", []),
        (busy(9e-6, elapsed_ns=4_000), "unreliable", ["short-passes"]),
        ({"observation": {"outcomes": LOST}}, "invalid", ["errors"]),
        ({**waiting(8, 70), **EMBEDDED}, "unreliable", ["client-waited-for-processor"]),
        ({**waiting(8, 3), **EMBEDDED}, "valid", []),
        ({**waiting(0.5, 70), **EMBEDDED}, "valid", []),
        (round_trip(0.00119), "valid", []),
        (round_trip(0.002289), "unreliable", ["round-trip-differs"]),
        (round_trip(0.0007), "unreliable", ["round-trip-differs"]),
    ],
)  # fmt: skip
def test_each_flaw_has_its_warning(
    run: Run, changes: dict[str, Any], word: str, warnings: list[str]
) -> None:
    found = with_parts(run, changes)
    assert judged(found) == (word, warnings)
    for one in judge_run(found)[1]:
        if one.name == "round-trip-differs":
            assert "ms measured, 1 ms asked" in one.detail or "µs measured" in one.detail


def test_how_long_a_measurement_must_be_depends_on_what_ends_it(run: Run) -> None:
    none = {"passes": None, "transactions": None, "duration_s": None}
    for stop, elapsed_s, expected in (
        ({"passes": 1}, 0.6, []),
        ({"passes": 1}, 0.4, ["short-passes"]),
        ({"transactions": 100}, 0.6, ["short-measurement"]),
        ({"duration_s": 10}, 9, ["short-measurement"]),
    ):
        found = invented.changed(run, "observation", elapsed_ns=int(elapsed_s * invented.S))
        driving = structs.replace(found.driving, **{**none, **stop})
        names = judged(invented.of_cell(found, driving=driving))[1]
        assert [name for name in names if name.startswith("short")] == expected


def test_each_setting_that_lowers_durability_says_what_to_set_instead(run: Run) -> None:
    changed = invented.changed(
        run, "deployment",
        durability_lowered_by=["fsync = off", "sync = periodic"],
        durable_instead={"sync = periodic": "sync = batch"},
    )  # fmt: skip
    details = [one.detail for one in judge_run(changed)[1]]
    assert [detail.partition(": ")[2] for detail in details if "durable" in detail] == [
        "fsync = off; durable: its default",
        "sync = periodic; durable: sync = batch",
    ]


def test_a_busy_client_is_said_to_be_beyond_the_limit_that_it_exceeds(run: Run) -> None:
    (shown,) = judge_run(with_parts(run, busy(99)))[1]
    both = "used 100 % of the machine's CPUs; its threads were busy 100 % of the time"
    assert shown.detail.endswith(both), "no more than all are busy"
    assert run.driven is not None
    threads_s = run.driven.threads * run.driven.elapsed_ns / invented.S
    machine: Any = {**run.machine, "processors": 400, "processors_usable": 400}
    evidence = structs.replace(with_parts(run, busy(0.97 * threads_s)), machine=machine)
    (shown,) = judge_run(evidence)[1]
    assert shown.detail == "postgresql, 8 clients: its threads were busy 97 % of the time"


@pytest.mark.parametrize(("share", "is_warned"), [(0.04, False), (0.06, True)])
def test_other_programs_on_the_machine_have_a_warning(
    run: Run, share: float, is_warned: bool
) -> None:
    found = invented.disturbed(run, share)
    said = [one.detail for one in found.warnings if one.name == "other-programs"]
    assert bool(said) == is_warned
    assert all(one.endswith("other programs used 6 % of the processors") for one in said)
    assert found.verdict == ("unreliable" if is_warned else "valid")


def test_all_warnings_of_a_run_have_one_share_of_other_programs(run: Run) -> None:
    starved = with_parts(run, {**waiting(8, 70), **EMBEDDED})
    said = [one.detail for one in invented.disturbed(starved, 0.27).warnings]
    shares = [re.findall(r"other programs used (\d+ %)", detail) for detail in said]
    assert [share for share in shares if share] == [["27 %"], ["27 %"]]


def test_counted_conflicts_make_the_run_unreliable(run: Run) -> None:
    outcomes = {"scheduled": 16, "ok": 8, "failed": 8, "unknown": 0}
    of_class = {
        word: invented.changed(run, "observation", outcomes=outcomes, errors=[{"class": word}])
        for word in ("deadlock", "constraint")
    }
    verdict, _ = judge_run(of_class["deadlock"])
    assert verdict.word == "unreliable"
    assert "8 of 16 transactions (50 %)" in verdict.reason
    assert judged(of_class["constraint"])[0] == "invalid"


def test_medians_of_few_noisy_or_missing_repetitions_are_unreliable(run: Run) -> None:
    def word(elapsed: list[float], asked: int) -> tuple[str, str]:
        spread = median_and_spread(elapsed)
        found = of_number([run.judged] * len(elapsed), len(elapsed), asked, spread)
        return found.word, found.reason

    assert word([1.0, 1.1, 1.05], 3) == ("valid", "")
    assert word([1.0], 1) == ("valid", "one repetition")
    assert word([1.0, 1.1], 3) == ("unreliable", "2 of 3 repetitions ended")
    assert word([1.0, 1.0, 1.5], 3) == ("unreliable", "repetitions differ by 50 %")
    several = [
        Verdict.of_record("unreliable", f"short; repetitions differ by {share} %")
        for share in (64, 177, 54)
    ]
    assert worst(several).reason == "short; repetitions differ by 177 %"
    failed = structs.replace(run, state="failed", reason="the server went away")
    judged = [run.judged, judge_run(failed)[0], run.judged]
    verdict = of_number(judged, 3, 3, median_and_spread([1.0, 1.0, 1.0]))
    assert verdict == Verdict.because("invalid", "the server went away")


def test_percentiles_need_enough_samples() -> None:
    assert [samples_needed(share) for share in (0.5, 0.9, 0.95, 0.99)] == [6, 36, 72, 368]


def test_settings_are_compared_by_meaning() -> None:
    for asked, effective, same in (
        ("1GB", "1024MB", True), ("1G", "1073741824", True), ("on", "1", True),
        ("ON", "off", False), ("30s", "30000ms", True), ("0", "OFF", True),
        ("O_DIRECT", "o_direct", True), ("1GB", "1048576", False), ("10", "100", False),
    ):  # fmt: skip
        assert mean_the_same(asked, effective) is same


COMPARED = 'scripts = ["read.sql"]\ncompare_results = true\nqueue = 40\nclients = [3]\n'
ENDLESS = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT max(i) FROM n;\n"
SAME = "\\set id random(1, 10)\nSELECT id, {value} FROM data WHERE id = :id;\n"


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
    folder = folder_of(tmp_path, COMPARED, read=SAME.format(value="value"))
    (folder / "overrides" / "null").mkdir(parents=True)
    (folder / "overrides" / "null" / "read.sql").write_text("-- null: no rows\nSELECT 1;\n")
    experiment = ran(folder, "sqlite", "null")
    for one in experiment.runs:
        assert (one.state, one.judged.word) == ("done", "invalid"), "neither is the one to blame"
        assert one.judged.reason == "results differ: read (sqlite: 40 rows; null: 0 rows)"
        (check,) = one.checks
        assert (check["ok"], check["note"][:14]) == (False, "results differ")
    with sqlite3.connect(experiment.path) as record:
        words = record.execute("SELECT verdict FROM cells").fetchall()
    assert words == [("invalid",), ("invalid",)]


def planned_run(position: int, seed: int = 1, **parameters: Any) -> PlannedRun:
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


def test_a_statement_that_was_cancelled_answered_nothing(tmp_path: Path) -> None:
    """What the others answered is no other answer; without one no known answer is missed."""
    questions = Questions()
    checks = []
    for place, rows, cancelled in ((0, 4, set()), (1, 0, {"day"})):
        sums = [AnswerSumReport("day", 1 - len(cancelled), rows, f"{rows}")]
        checks += compare_digests(
            questions, planned_run(place), "same", "A", sums, {}, {"day": "4"}, cancelled
        )
    assert not questions.take_disputes()
    assert [(check["ok"], check["note"]) for check in checks] == [
        (True, ""),
        (None, "not run: cancelled at the limit of a statement"),
    ]
    folder = folder_of(tmp_path, COMPARED.replace("40", "1"), read=ENDLESS)
    (ended,) = ran(folder, "sqlite", statement_limit_s=0.1).runs
    assert answers.check_words([ended]) == (
        "sqlite: 1 not run: cancelled at the limit of a statement"
    )


def test_other_data_or_counts_are_other_questions() -> None:
    asked = what_is_asked(planned_run(0), {"queue": 5}, "mix")
    assert asked == what_is_asked(planned_run(1), {"queue": 5}, "mix")
    for other in (
        what_is_asked(planned_run(1, seed=2), {"queue": 5}, "mix"),
        what_is_asked(planned_run(1, scale=2), {"queue": 5}, "mix"),
        what_is_asked(planned_run(1), {"queue": 6}, "mix"),
        what_is_asked(planned_run(1), {"queue": 5}, "sequence"),
    ):
        assert asked != other


def test_an_answer_that_is_known_is_compared_with_it(tmp_path: Path) -> None:
    once = COMPARED.replace("queue = 40\nclients = [3]", "queue = 1\nclients = [1]")
    read = "SELECT id, {value} FROM data;\n"
    folder = folder_of(tmp_path, once, read=read.format(value="value"))
    (first,) = ran(folder, "sqlite").runs
    assert first.driven is not None and first.data is not None
    (found,) = first.driven.answer_sums
    (folder / "expected.toml").write_text(
        f'[[dataset]]\nname = "d"\nsource = "s"\nfingerprint = "{first.data.request.fingerprint}"\n'
        f'entries = 10\nbytes = 1\n[dataset.answers.t]\nread = "{found.digest}"\n'
    )
    for value, is_right in (("value", True), ("value + 1", False)):
        (folder / "read.sql").write_text(read.format(value=value))
        (one,) = ran(folder, "sqlite").runs
        (check,) = one.checks
        assert check["ok"] is is_right
        assert check["note"] == ("" if is_right else "not the answer that is known")
        assert (one.judged.word == "invalid") is not is_right
