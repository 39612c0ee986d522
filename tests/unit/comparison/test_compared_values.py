"""What two sides are compared in: limits of conditions and how they are judged, metrics of groups
and of several tests, other languages; and what disturbed runs leave undecided."""

from __future__ import annotations

import lzma
import statistics
from collections.abc import Collection
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from msgspec import structs

import assay
import invented_records as invented
from assay.cli.program import run_program
from assay.comparison import conditions
from assay.comparison.conclusions import questions
from assay.comparison.conditions import ConditionAnswer, condition
from assay.comparison.sides import Compared, ComparedCell, Comparison
from assay.errors import ArgumentError
from assay.experiment import SystemChoice
from assay.judge.statistics.estimate import Design
from assay.record import ExperimentRecord, Run, Store
from step_workloads import folder_of, ran
from two_sides import (
    HERE,
    MET,
    NOT_MET,
    NOTHING,
    SLOW,
    SLOWER,
    UNKNOWN,
    answers,
    compared,
    in_words,
    judged,
    measured,
    on_storages,
    shown,
    within,
)


@pytest.fixture(autouse=True)
def _folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def test_a_limit_has_the_unit_of_its_metric_or_its_own() -> None:
    for text, name, limit in (
        ("p99 < 5ms", "latency_p99_ns", 5e6),
        ("p99 < 5m", "latency_p99_ns", 3e11),
        ("p99.9 < 250us", "latency_p99_9_ns", 250e3),
        ("latency_p99[insert] > 1.5s", "latency_p99_ns[insert]", 1.5e9),
        ("latency_p99_ns > 5000000", "latency_p99_ns", 5e6),
        ("latency_p99_ns > 5ms", "latency_p99_ns", 5e6),
        ("throughput > 100/s", "throughput_per_s", 100),
        ("throughput_per_s < 0.95x", "throughput_per_s", 0.95),
        ("p99[insert] > 1.2x", "latency_p99_ns[insert]", 1.2),
    ):
        found = condition(text)
        assert (found.metric.name, found.limit) == (name, pytest.approx(limit))
        assert found.is_ratio == text.endswith("x")


@pytest.mark.parametrize(
    ("text", "message", "hint"),
    [
        ("p99 < 5", "expected a limit with its unit", "'p99 < 5ms'"),
        ("p99[insert]  <  5", "expected a limit with its unit", "'p99[insert] < 5ms'"),
        ("elapsed < 2", "expected a limit with its unit", "'elapsed < 2s'"),
        ("throughput < 100", "expected a limit with its unit", "'throughput < 100/s'"),
        ("size_on_disk < 100", "expected a limit with its unit", "'size_on_disk_bytes < 100'"),
        ("p98 < 5ms", "there is no metric 'p98'",
         "the percentiles that are kept: p50, p90, p95, p99, p99.9"),
        ("speed < 0.95x", "there is no metric 'speed'", "throughput_per_s"),
        ("throughput_per_s < 0x", "", "a ratio to A"), ("", "", "a ratio to A"),
        ("throughput_per_s 0.95x", "", "a ratio to A"), ("p99", "", "a ratio to A"),
        ("p99 < 5%", "", ""), ("throughput_per_s > 5ms", "", ""), ("failed > 1ms", "", ""),
    ],
)  # fmt: skip
def test_a_condition_that_is_none_is_refused(text: str, message: str, hint: str) -> None:
    with pytest.raises(ArgumentError) as refused:
        condition(text)
    assert message in refused.value.message
    assert refused.value.hint and hint in refused.value.hint


def test_a_ratio_of_single_runs_decides_nothing() -> None:
    """Fewer repetitions make no condition stricter, nor easier to pass. A value of B is judged."""
    made = compared(measured("a"), measured("b", (2.0,)))
    for text in (SLOWER, "throughput_per_s < 0.1x"):
        found = judged(made, text)
        assert found.answer is UNKNOWN
        assert "one repetition says nothing about noise; run 5 repetitions" in found.reason
    assert answers(made, "elapsed_ns > 1.9e9", "failed > 0") == [MET, NOT_MET]


def test_an_invalid_side_is_not_compared_and_fails_no_condition_silently() -> None:
    """A limit that B's wrong run keeps is not known to be kept."""
    wrong = measured("b", verdict=("invalid", "wrong answers: S01"))
    made = compared(measured("a"), wrong)
    assert "is invalid: wrong answers: S01" in made.cells[0].primary.verdict
    assert answers(made, "elapsed_ns > 2e9", "elapsed_ns > 1000") == [UNKNOWN, MET]
    made = compared(wrong, measured("c"))
    assert answers(made, "elapsed_ns > 2e9", "elapsed_ns > 1x") == [NOT_MET, UNKNOWN]


def test_a_limit_of_b_is_judged_where_a_has_no_such_number() -> None:
    def without_samples(run: Run) -> Run:
        assert run.driven is not None
        all_ok = run.driven.document["all_ok"]
        none = {**all_ok, "latency": {**all_ok["latency"], "count": 0}}
        return invented.changed(run, "observation", all_ok=none)

    made = compared(invented.each_run(measured("a"), without_samples), measured("b"))
    assert answers(made, "latency_p50_ns > 1", "latency_p50_ns > 1x") == [MET, UNKNOWN]
    failed = invented.each_run(
        measured("c", clients=(8, 16)),
        lambda run: structs.replace(run, state="failed", **NOTHING) if run.clients == 8 else run,
    )
    made = compared(failed, measured("d", clients=(8, 16)))
    assert answers(made, "failed > 0") == [NOT_MET] * 2
    assert "  failed  " not in shown(made, detail=True), "what never happened fills no rows"


def test_a_condition_is_not_known_of_a_cell_that_b_has_lost() -> None:
    both, alone = measured("a", clients=(8, 16)), measured("b", clients=(8,))
    made = compared(both, alone)
    for text in ("throughput_per_s < 0.5x", "elapsed_ns > 1e15"):
        kept, lost = conditions.judge_conditions(made, [conditions.condition(text)])
        assert kept.answer is NOT_MET
        assert (lost.answer, lost.reason) == (UNKNOWN, "B has no such cell")
        assert "16 clients" in lost.cell
    assert answers(compared(alone, both), "throughput_per_s < 0.5x") == [NOT_MET]


def test_a_difference_beyond_what_other_programs_can_make_is_decided() -> None:
    """With 50 % of the processors a factor of 4."""
    here = (1.0, 1.02, 0.98)
    little, great = (
        within(on_storages(f"{by}", here, tuple(one / by for one in here), others=0.5), "storage")
        for by in (3.5, 6.0)
    )
    why = "not decided: other programs used 50 % of the processors in the worst of 6 such runs"
    assert little.cells[0].primary.verdict == why
    assert great.cells[0].primary.verdict == "faster"
    found = {one.metric.name: one.verdict for one in great.cells[0].metrics}
    assert found["latency_p50_ns"] == why, "how long a wait behind them takes has no bound"
    assert "not decided" not in found["size_on_disk_bytes"], "it has nothing to do with them"
    assert "which explains a factor of 4:" in in_words(great)
    limits = [f"throughput_per_s > {limit}" for limit in ("1.2x", "5x", "30x")]
    assert answers(great, *limits) == [MET, UNKNOWN, NOT_MET]


def test_a_condition_is_judged_by_the_interval_of_the_cell_alone() -> None:
    """A fivefold loss in three repetitions is found among as many cells as there are."""
    clients = tuple(range(1, 15))
    planned = invented.plan([invented.POSTGRESQL], clients=clients, repetitions=3)
    times = {("postgresql", "here", one): (1.0, 1.4, 0.75) for one in clients}
    a = invented.experiment(Path("a"), planned, times)
    made = compared(a, invented.experiment(Path("b"), planned, {**times, HERE: (5.0, 7.0, 3.75)}))
    found = conditions.judge_conditions(made, [conditions.condition(SLOWER)])
    assert {one.cell for one in found if one.answer is MET} == {"postgresql, here, 8 clients"}
    others = [one for one in found if one.answer is not MET]
    assert {one.answer for one in others} == {ConditionAnswer.NOT_DECIDED}
    for one in others:
        assert "3 repetitions do not decide it: the interval reaches over the limit" in one.reason


def test_conditions_are_judged() -> None:
    slower = compared(measured("a"), measured("b", SLOW))
    met = (
        SLOWER, "throughput_per_s<1.05x", "elapsed_ns >= 1.1x", "elapsed_ns > 1100000000",
        "failed <= 0",
    )  # fmt: skip
    not_met = (
        "throughput_per_s < 0.8x", "throughput_per_s > 1x", "elapsed_ns > 1.3e9", "failed > 0",
    )  # fmt: skip
    for texts, answer in ((met, MET), (not_met, NOT_MET)):
        assert dict(zip(texts, answers(slower, *texts), strict=True)) == dict.fromkeys(
            texts, answer
        )


def test_a_gate_that_cannot_see_what_it_is_asked_has_a_status_of_its_own(
    capsys: pytest.CaptureFixture[str],
) -> None:
    """Equal sides, of which the repetitions show no difference of 10 %."""
    records = [
        measured(name, noise).path
        for name, noise in (("a", (1.0, 1.3, 0.8)), ("b", (1.25, 0.82, 1.01)))
    ]
    words = ["compare", *map(str, records), "--fail-if"]
    assert run_program([*words, "throughput_per_s < 0.9x"]) == 5
    said = capsys.readouterr().err
    assert "condition not decided" in said and "they show differences from" in said
    assert "repeat both to a precision of 5 %" in said
    assert run_program([*words, "throughput_per_s < 0.01x"]) == 0
    comparison = assay.compare(*(assay.open(path).latest for path in records))
    with pytest.raises(ArgumentError, match="not decided"):
        comparison.meets("throughput_per_s < 0.9x")


def test_outcomes_and_answers_that_are_not_right_are_conditions() -> None:
    a, b = measured("a"), measured("b")
    assert answers(compared(a, b), "checks_wrong > 0", "unknown > 0") == [NOT_MET, NOT_MET]
    wrong = measured("c", checks=invented.checks({"S01": 7}), verdict=("invalid", "wrong"))
    assert answers(compared(a, wrong), "checks_wrong > 0") == [MET]
    assert b.runs[0].driven
    outcomes = {**b.runs[0].driven.document["outcomes"], "unknown": 2}
    lost = invented.each_run(b, lambda run: invented.changed(run, "observation", outcomes=outcomes))
    assert answers(compared(a, lost), "unknown > 0") == [MET]
    unchecked = invented.each_run(b, lambda run: structs.replace(run, checks=()))
    found = judged(compared(a, unchecked), "checks_wrong > 0")
    assert found.answer is UNKNOWN
    assert found.reason == "checks_wrong of B was not counted", "not that there is none"


TESTS = """\
scripts = ["read.sql"]
passes = 3
clients = [1]

[tests.other]
title = "Other"
help = "Another test"
scripts = ["all.sql"]
passes = 2
clients = [2]

[derived.one]
title = "One"
help = "of the first test"
test = "t"
value = ":completed"

[derived.two]
title = "Two"
help = "of the other"
test = "other"
value = "10.0 * :completed / 2"

[derived.both]
title = "Both"
help = "of both"
value = ":one * :two"
better = "less"
"""


@pytest.fixture(scope="module")
def record(tmp_path_factory: pytest.TempPathFactory) -> ExperimentRecord:
    folder = folder_of(tmp_path_factory.mktemp("both") / "both", TESTS)
    return ran(
        Path(f"{folder}.t,other"),
        "sqlite",
        records=folder / "records.sqlite",
        repetitions=2,
        set=("sqlite.synchronous=full,off",),
    )


def of_cell(record: ExperimentRecord, test: str) -> dict[str, Compared]:
    (cell,) = (one for one in within(record, "synchronous").cells if one.test == test)
    return {one.metric.name: one for one in cell.metrics}


def test_it_has_a_ratio_with_the_last_of_its_tests(record: ExperimentRecord) -> None:
    assert "both" not in of_cell(record, "t")
    metrics = of_cell(record, "other")
    assert (metrics["two"].a, metrics["both"].a) == (20, 60)
    assert metrics["both"].a_values == metrics["both"].b_values == (60, 60)
    estimate = metrics["both"].estimate
    assert estimate is not None and estimate.ratio == 1
    assert not metrics["both"].metric.is_more_better


GROUPS = '[[tests.t.steps]]\ndo = "load"\n\n[[tests.t.steps]]\ndo = "drive"\n' + "".join(
    f'\n[[tests.t.steps.groups]]\nname = "{name}"\nscripts = ["read.sql"]\n'
    "clients = 1\ntransactions = 5\n"
    for name in ("readers", "writers")
)


def test_cells_are_paired_with_the_clients_of_a_group_left_out(tmp_path: Path) -> None:
    folder = folder_of(tmp_path / "w", GROUPS)
    assay.run(
        folder, on="null", clients={"readers": [1, 4], "writers": [1, 2]}, repetitions=2,
        probe_s=0, records="r.sqlite",
    )  # fmt: skip
    with Store(Path("r.sqlite"), must_exist=True) as store:
        made = within(store.experiment(1), "clients of readers")
    assert [cell.name for cell in made.cells] == ["null, here, writers 1", "null, here, writers 2"]
    assert made.unequal == ()


CQL = SystemChoice("cassandra")
RIGHT, WRONG = "0123456789abcdef", "f" * 16
NOT_COMPARED = "answers not compared: the statements are in other languages"


def _sums(digest: str) -> list[dict[str, Any]]:
    return [{"transaction": "count", "transactions": 3, "rows": 3, "digest": digest}]


def _tables(system: str) -> dict[str, Any]:
    rows = {"jobs": 28000, "pages": 0} if system == "postgresql" else {"jobs_by_user": 28000}
    return {"fingerprint": ("a" if system == "postgresql" else "b") * 64, "rows": rows}


def in_two_languages(
    path: Path, cql: dict[str, Any], sql: dict[str, Any], **of_cql: Any
) -> ComparedCell:
    """Interleaved repetitions on both; ``cql``, ``sql``: what else their data sets say."""
    planned = invented.plan([CQL, invented.POSTGRESQL], repetitions=3)
    # Seeds are equal where systems alone differ.
    runs = tuple(replace(run, seed=run.repetition) for run in planned.runs)
    planned = replace(planned, runs=runs)
    with invented.at_once(path / "r") as store:
        number = invented.begin(store, planned)
        for run in planned.runs:
            system = run.cell.system.name
            is_cql = system == CQL.name
            sums = of_cql.get("sums", _sums(RIGHT)) if is_cql else _sums(RIGHT)
            invented.write_run(
                store,
                run,
                round((9.0 if is_cql else 1.0) * (1 + run.repetition / 100) * invented.S),
                dataset={**_tables(system), **(cql if is_cql else sql)},
                observation={"answer_sums": sums},
            )
        store.end_experiment()
        record = store.experiment(number)
    (cell,) = within(record, "system").cells
    return cell


ONE = {"declared_fingerprint": "c" * 64}


@pytest.mark.parametrize(
    ("cql", "sql", "sums", "blocked_by", "said", "compared"),
    [
        (ONE, ONE, _sums(RIGHT), (), "", "all answers of 1 script"),
        (ONE, ONE, _sums(WRONG), ("answers",),
         "answers of count: 3 rows (ffffffff) → 3 rows (01234567)", ""),
        (ONE, ONE, [], (), "", ""),
        (ONE, {"declared_fingerprint": "e" * 64}, _sums(RIGHT), ("data", "data"),
         "input of the data: ", None),
        (ONE, {}, _sums(RIGHT), ("data", "data"), "input of the data: ", None),  # earlier Assay
        ({}, {}, _sums(RIGHT), ("data", "data"), "input of the data: ", None),
    ],
)  # fmt: skip
def test_other_declared_content_or_answers_leave_no_verdict(
    tmp_path: Path, cql: dict[str, Any], sql: dict[str, Any], sums: list[dict[str, Any]],
    blocked_by: tuple[str, ...], said: str, compared: str | None,
) -> None:  # fmt: skip
    cell = in_two_languages(tmp_path, cql, sql, sums=sums)
    assert cell.blocked_by == blocked_by
    assert said in cell.not_comparable
    if not blocked_by:
        assert (cell.not_comparable, cell.primary.verdict) == ("", "faster")
    assert compared is None or cell.answers == compared
    assert (NOT_COMPARED in cell.notes) is (not sums)


@pytest.mark.slow
@pytest.mark.parametrize("levels", ["cassandra,postgresql", "cassandra,ferretdb"])
def test_a_real_count_in_three_languages_leaves_a_verdict(tmp_path: Path, levels: str) -> None:
    """A record of `tests/data/papers`: jobs in five tables, in three, and as documents."""
    file = tmp_path / "records.sqlite"
    kept = Path(__file__).parents[2] / "data" / "papers" / "glidemon-count.sqlite.xz"
    file.write_bytes(lzma.decompress(kept.read_bytes()))
    with Store(file) as store:
        (cell,) = within(store.experiment(1), f"system={levels}").cells
    assert (cell.not_comparable, cell.blocked_by) == ("", ())
    assert cell.primary.estimate is not None
    assert cell.answers == "all answers of 1 script"


NOISE = (1.0, 1.02, 0.98, 1.01, 0.99, 1.03, 0.97, 1.0, 1.02, 0.98)


def interleaved(ratio: float, repetitions: int = 10) -> ExperimentRecord:
    """The throughput on ssd is ``ratio`` times the one on here."""
    here = (*NOISE, 1.0)[:repetitions]
    return on_storages("r", here, tuple(one / ratio for one in here[::-1]))


def beside_others(
    record: ExperimentRecord, repetitions: Collection[int], share: float, storage: str = "ssd"
) -> ExperimentRecord:
    def changed(run: Run) -> Run:
        is_so = run.repetition in repetitions and run.storage == storage
        return invented.disturbed(run, share) if is_so else run

    return invented.each_run(record, changed)


def of_storages(record: ExperimentRecord) -> Comparison:
    return within(record, "storage")


def test_one_disturbed_repetition_of_ten_leaves_the_others_to_decide() -> None:
    made = of_storages(beside_others(interleaved(0.85), [4], 0.4))
    assert answers(made, "throughput_per_s < 0.9x", "throughput_per_s < 0.8x") == [MET, NOT_MET]
    (cell,) = made.cells
    assert len(cell.b_runs) == 10, "the record keeps all"
    assert len(cell.primary.b_values) == 9
    assert "B: 1 of 10 runs left out, as other programs disturbed it" in cell.notes


def test_a_repetition_that_was_measured_again_is_paired_as_the_first_one() -> None:
    record = beside_others(interleaved(0.85, 11), [4], 0.4)
    bad = next(run for run in record.runs if (run.repetition, run.storage) == (4, "ssd"))

    def again(run: Run) -> Run:
        """Repetition 11 at the time of the disturbed one."""
        times = {"begun_unix_ns": bad.begun_unix_ns, "ended_unix_ns": bad.ended_unix_ns}
        if run.repetition != 11:
            return run
        return structs.replace(invented.planned_as(run, in_place_of=4), **times)

    kept = (run for run in record.runs if (run.repetition, run.storage) != (11, "here"))
    made = of_storages(structs.replace(record, runs=tuple(map(again, kept))))
    cell = made.cells[0]
    assert not cell.differences
    assert cell.primary.estimate is not None
    assert cell.primary.estimate.design is Design.PAIRED
    assert cell.primary.estimate.degrees_of_freedom == 9, "ten pairs"
    assert not any("without a partner" in note for note in cell.notes)
    assert (
        "B: 1 of 11 runs left out, as other programs disturbed it; "
        "1 disturbed repetition measured again" in cell.notes
    )


def test_where_all_were_disturbed_twice_medians_and_ratio_are_of_the_last_runs() -> None:
    """The first three were slower than the three that were measured in their place."""
    noisy = interleaved(0.8, 6)

    def changed(run: Run) -> Run:
        assert run.driven is not None
        run = invented.disturbed(run, 0.4)
        if run.repetition > 3:
            return invented.planned_as(run, in_place_of=run.repetition - 3)
        return invented.changed(run, "observation", elapsed_ns=run.driven.elapsed_ns * 3)

    last = invented.each_run(noisy, changed)
    primary = of_storages(last).cells[0].primary
    assert len(primary.a_values) == len(primary.b_values) == 3
    assert primary.estimate is not None
    medians = statistics.median(primary.b_values) / statistics.median(primary.a_values)
    assert primary.estimate.ratio == pytest.approx(medians, rel=0.05)
    assert "B: 3 of 6 runs left out" in of_storages(last).cells[0].notes[1]


def test_a_ratio_far_beyond_the_limit_is_decided_by_all_runs() -> None:
    """Most of them were disturbed, by no more than explains a factor of 1.13."""
    record = interleaved(0.65)
    made = of_storages(beside_others(record, range(1, 9), 0.06))
    assert answers(made, "throughput_per_s < 0.9x", "throughput_per_s < 0.64x") == [MET, UNKNOWN]
    found = judged(of_storages(beside_others(record, range(1, 9), 0.4)), "throughput_per_s < 0.9x")
    assert found.answer is UNKNOWN
    assert "other programs used 40 % of the processors in the worst of 8" in found.reason


def test_few_undisturbed_runs_and_all_runs_together_decide() -> None:
    """Half of the runs, which do not decide it alone, count before the others."""
    record = interleaved(0.825)
    noisy = tuple(
        invented.changed(run, "observation", elapsed_ns=round(run.driven.elapsed_ns * times))
        for run, times in zip(record.runs, [1.0, 1.1, 1.0, 0.9] * 5, strict=True)
        if run.driven
    )
    record = structs.replace(record, runs=noisy)
    quiet = of_storages(structs.replace(record, runs=noisy[:10]))
    assert judged(quiet, "throughput_per_s < 1x").answer is ConditionAnswer.NOT_DECIDED
    made = of_storages(beside_others(record, range(6, 11), 0.052))
    found = judged(made, "throughput_per_s < 1x")
    assert found.answer is MET
    assert found.reason.endswith("by all runs, with what other programs can explain allowed for")


@pytest.mark.parametrize(("spread", "is_at_limit"), [(1.0, True), (12.0, False)])
def test_a_ratio_at_the_limit_is_said_to_be_there(spread: float, is_at_limit: bool) -> None:
    """Where both sides are known more precisely than what is advised, no advice is left."""
    a, b = (
        measured(name, tuple(one**spread * times for one in NOISE))
        for name, times in (("a", 1.0), ("b", 1 / 0.9))
    )
    found = judged(compared(a, b), "throughput_per_s < 0.9x")
    assert found.answer is ConditionAnswer.NOT_DECIDED
    assert ("the ratio lies at your limit" in found.reason) is is_at_limit
    assert ("repeat both to a precision of 5 %" in found.reason) is not is_at_limit


def test_where_few_pairs_are_left_their_number_is_said() -> None:
    """Each side has four of six repetitions, the last two of which are of both."""
    record = beside_others(interleaved(0.97, 6), [5, 6], 0.27)
    record = beside_others(record, [1, 2], 0.29, storage="here")
    (cell,) = of_storages(record).cells
    few = "not decided: 2 of 6 pairs are left, too few: more repetitions decide it"
    assert cell.primary.verdict == few
    (question,) = questions(record)
    assert question.conclusions[0].reason == few.removeprefix("not decided: ")
