"""What two sides are compared in: limits of conditions, metrics of groups and of several tests,
other languages; and what disturbed runs leave undecided."""

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
from assay import comparison
from assay.comparison import conditions
from assay.comparison.conclusions import questions
from assay.comparison.conditions import ConditionAnswer, ConditionResult, condition
from assay.comparison.sides import Compared, ComparedCell, Comparison
from assay.errors import ArgumentError
from assay.experiment import SystemChoice
from assay.judge.statistics.estimate import Design
from assay.record import ExperimentRecord, Run, Store
from step_workloads import folder_of, ran


@pytest.mark.parametrize(
    ("text", "name", "limit"),
    [
        ("p99 < 5ms", "latency_p99_ns", 5e6),
        ("p99.9 < 250us", "latency_p99_9_ns", 250e3),
        ("latency_p99[insert] > 1.5s", "latency_p99_ns[insert]", 1.5e9),
        ("latency_p99_ns > 5000000", "latency_p99_ns", 5e6),
        ("latency_p99_ns > 5ms", "latency_p99_ns", 5e6),
        ("throughput > 100/s", "throughput_per_s", 100),
        ("throughput_per_s < 0.95x", "throughput_per_s", 0.95),
        ("p99[insert] > 1.2x", "latency_p99_ns[insert]", 1.2),
    ],
)
def test_a_limit_has_the_unit_of_its_metric_or_its_own(text: str, name: str, limit: float) -> None:
    found = condition(text)
    assert (found.metric.name, found.limit) == (name, pytest.approx(limit))
    assert found.is_ratio == text.endswith("x")


@pytest.mark.parametrize(
    "text", ["p99 < 5", "p99 < 5%", "throughput_per_s > 5ms", "p98 < 5ms", "failed > 1ms", "p99"]
)
def test_a_limit_whose_unit_is_not_known_is_refused(text: str) -> None:
    with pytest.raises(ArgumentError) as refused:
        condition(text)
    assert refused.value.hint


@pytest.mark.parametrize(
    ("text", "hint"),
    [
        ("p99 < 5", "'p99 < 5ms'"),
        ("p99[insert]  <  5", "'p99[insert] < 5ms'"),
        ("elapsed < 2", "'elapsed < 2s'"),
        ("throughput < 100", "'throughput < 100/s'"),
        ("size_on_disk < 100", "'size_on_disk_bytes < 100'"),
    ],
)
def test_a_limit_without_its_unit_is_refused_with_the_unit(text: str, hint: str) -> None:
    with pytest.raises(ArgumentError, match="expected a limit with its unit") as refused:
        condition(text)
    assert refused.value.hint == hint


def test_an_unknown_percentile_is_answered_with_those_that_are_kept() -> None:
    with pytest.raises(ArgumentError, match="there is no metric 'p98'") as caught:
        condition("p98 < 5ms")
    assert caught.value.hint == "the percentiles that are kept: p50, p90, p95, p99, p99.9"


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
    found = comparison.compare(comparison.side("A", "", [record]), None, between="synchronous")
    (cell,) = (one for one in found.cells if one.test == test)
    return {one.metric.name: one for one in cell.metrics}


def test_it_has_a_ratio_with_the_last_of_its_tests(record: ExperimentRecord) -> None:
    assert "both" not in of_cell(record, "t")
    metrics = of_cell(record, "other")
    assert (metrics["two"].a, metrics["both"].a) == (20, 60)
    assert metrics["both"].a_values == metrics["both"].b_values == (60, 60)
    estimate = metrics["both"].estimate
    assert estimate is not None and estimate.ratio == 1
    assert not metrics["both"].metric.is_more_better


WORKLOAD = """
title = "Two groups"
source = "a test"
default_test = "both"

[data]
source = "none"

[tests.both]
title = "Both"
help = "Both groups"
changes_data = false

[[tests.both.steps]]
do = "drive"
name = "drive"

[[tests.both.steps.groups]]
name = "readers"
scripts = ["one.sql"]
clients = 1
transactions = 5

[[tests.both.steps.groups]]
name = "writers"
scripts = ["one.sql"]
clients = 1
transactions = 5
"""


def test_cells_are_paired_with_the_clients_of_a_group_left_out(tmp_path: Path) -> None:
    (tmp_path / "w").mkdir()
    (tmp_path / "w" / "workload.toml").write_text(WORKLOAD)
    (tmp_path / "w" / "one.sql").write_text("SELECT 1;\n")
    records = tmp_path / "r.sqlite"
    assay.run(
        tmp_path / "w",
        on="null",
        clients={"readers": [1, 4], "writers": [1, 2]},
        repetitions=2,
        probe_s=0,
        records=records,
    )
    with Store(records, must_exist=True) as store:
        side = comparison.side("A", "", [store.experiment(1)])
    made = comparison.compare(side, None, between="clients of readers")
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


def compared(path: Path, cql: dict[str, Any], sql: dict[str, Any], **of_cql: Any) -> ComparedCell:
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
    side = comparison.side("A", "", [record])
    (cell,) = comparison.compare(side, None, between="system").cells
    return cell


ONE = {"declared_fingerprint": "c" * 64}


def test_equal_declared_content_and_equal_answers_leave_a_verdict(tmp_path: Path) -> None:
    cell = compared(tmp_path, ONE, ONE)
    assert (cell.not_comparable, cell.primary.verdict) == ("", "faster")
    assert cell.answers == "all answers of 1 script"


def test_other_answers_leave_no_verdict(tmp_path: Path) -> None:
    cell = compared(tmp_path, ONE, ONE, sums=_sums(WRONG))
    assert cell.blocked_by == ("answers",)
    assert "answers of count: 3 rows (ffffffff) → 3 rows (01234567)" in cell.not_comparable
    assert cell.answers == ""


@pytest.mark.parametrize(
    ("cql", "sql"),
    [
        (ONE, {"declared_fingerprint": "e" * 64}),
        (ONE, {}),  # as an earlier Assay recorded it
        ({}, {}),
    ],
)
def test_other_declared_content_leaves_no_verdict(
    tmp_path: Path, cql: dict[str, Any], sql: dict[str, Any]
) -> None:
    cell = compared(tmp_path, cql, sql)
    assert cell.blocked_by == ("data", "data")
    assert "input of the data: " in cell.not_comparable


def test_answers_that_are_not_known_are_a_note(tmp_path: Path) -> None:
    cell = compared(tmp_path, ONE, ONE, sums=[])
    assert (cell.not_comparable, cell.primary.verdict) == ("", "faster")
    assert NOT_COMPARED in cell.notes and cell.answers == ""


@pytest.mark.slow
@pytest.mark.parametrize("levels", ["cassandra,postgresql", "cassandra,ferretdb"])
def test_a_real_count_in_three_languages_leaves_a_verdict(tmp_path: Path, levels: str) -> None:
    """A record of `tests/data/papers`: jobs in five tables, in three, and as documents."""
    file = tmp_path / "records.sqlite"
    kept = Path(__file__).parents[2] / "data" / "papers" / "glidemon-count.sqlite.xz"
    file.write_bytes(lzma.decompress(kept.read_bytes()))
    with Store(file) as store:
        side = comparison.side("A", "", [store.experiment(1)])
    (cell,) = comparison.compare(side, None, between=f"system={levels}").cells
    assert (cell.not_comparable, cell.blocked_by) == ("", ())
    assert cell.primary.estimate is not None
    assert cell.answers == "all answers of 1 script"


NOISE = (1.0, 1.02, 0.98, 1.01, 0.99, 1.03, 0.97, 1.0, 1.02, 0.98)


def interleaved(path: Path, ratio: float, repetitions: int = 10) -> ExperimentRecord:
    """The throughput on ssd is ``ratio`` times the one on here."""
    here = (*NOISE, 1.0)[:repetitions]
    planned = invented.plan(
        [invented.POSTGRESQL], [invented.HERE, invented.SSD], repetitions=repetitions
    )
    elapsed = {
        ("postgresql", "here", 8): here,
        ("postgresql", "ssd", 8): tuple(one / ratio for one in here[::-1]),
    }
    return invented.experiment(path / "records.sqlite", planned, elapsed)


def beside_others(
    record: ExperimentRecord, repetitions: Collection[int], share: float, storage: str = "ssd"
) -> ExperimentRecord:
    return structs.replace(
        record,
        runs=tuple(
            invented.disturbed(run, share)
            if run.repetition in repetitions and run.storage == storage
            else run
            for run in record.runs
        ),
    )


def of_storages(record: ExperimentRecord) -> Comparison:
    return comparison.compare(comparison.side("A", "", [record]), None, between="storage")


def judged(made: Comparison, text: str) -> ConditionResult:
    (found,) = conditions.judge_conditions(made, [conditions.condition(text)])
    return found


def test_one_disturbed_repetition_of_ten_leaves_the_others_to_decide(tmp_path: Path) -> None:
    made = of_storages(beside_others(interleaved(tmp_path, 0.85), [4], 0.4))
    assert judged(made, "throughput_per_s < 0.9x").answer is ConditionAnswer.MET
    assert judged(made, "throughput_per_s < 0.8x").answer is ConditionAnswer.NOT_MET
    cell = made.cells[0]
    assert len(cell.b_runs) == 10, "the record keeps all"
    assert len(cell.primary.b_values) == 9
    left_out = "B: 1 of 10 runs left out, as other programs disturbed it"
    assert left_out in cell.notes


def test_a_repetition_that_was_measured_again_is_paired_as_the_first_one(tmp_path: Path) -> None:
    record = beside_others(interleaved(tmp_path, 0.85, 11), [4], 0.4)
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


def test_where_all_were_disturbed_twice_medians_and_ratio_are_of_the_last_runs(
    tmp_path: Path,
) -> None:
    """The first three were slower than the three that were measured in their place."""
    noisy = interleaved(tmp_path, 0.8, 6)

    def changed(run: Run) -> Run:
        assert run.driven is not None
        run = invented.disturbed(run, 0.4)
        if run.repetition > 3:
            return invented.planned_as(run, in_place_of=run.repetition - 3)
        return invented.changed(run, "observation", elapsed_ns=run.driven.elapsed_ns * 3)

    last = structs.replace(noisy, runs=tuple(map(changed, noisy.runs)))
    primary = of_storages(last).cells[0].primary
    assert len(primary.a_values) == len(primary.b_values) == 3
    assert primary.estimate is not None
    medians = statistics.median(primary.b_values) / statistics.median(primary.a_values)
    assert primary.estimate.ratio == pytest.approx(medians, rel=0.05)
    assert "B: 3 of 6 runs left out" in of_storages(last).cells[0].notes[1]


def test_a_ratio_far_beyond_the_limit_is_decided_by_all_runs(tmp_path: Path) -> None:
    """Most of them were disturbed, by no more than explains a factor of 1.13."""
    record = interleaved(tmp_path, 0.65)
    made = of_storages(beside_others(record, range(1, 9), 0.06))
    assert judged(made, "throughput_per_s < 0.9x").answer is ConditionAnswer.MET
    assert judged(made, "throughput_per_s < 0.64x").answer is ConditionAnswer.UNKNOWN
    worse = of_storages(beside_others(record, range(1, 9), 0.4))
    found = judged(worse, "throughput_per_s < 0.9x")
    assert found.answer is ConditionAnswer.UNKNOWN
    assert "other programs used 40 % of the processors in the worst of 8" in found.reason


def test_few_undisturbed_runs_and_all_runs_together_decide(tmp_path: Path) -> None:
    """Half of the runs, which do not decide it alone, count before the others."""
    record = interleaved(tmp_path, 0.825)
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
    assert found.answer is ConditionAnswer.MET
    assert found.reason.endswith("by all runs, with what other programs can explain allowed for")


@pytest.mark.parametrize(("spread", "is_at_limit"), [(1.0, True), (12.0, False)])
def test_a_ratio_at_the_limit_is_said_to_be_there(
    tmp_path: Path, spread: float, is_at_limit: bool
) -> None:
    """Where both sides are known more precisely than what is advised, no advice is left."""
    planned = invented.plan([invented.POSTGRESQL], repetitions=10)
    key = ("postgresql", "here", 8)
    records = []
    for name, times in (("a", 1.0), ("b", 1 / 0.9)):
        (tmp_path / name).mkdir()
        elapsed = {key: tuple(one**spread * times for one in NOISE)}
        records.append(invented.experiment(tmp_path / name / "records.sqlite", planned, elapsed))
    sides = (comparison.side(name, "", [one]) for name, one in zip("AB", records, strict=True))
    found = judged(comparison.compare(*sides), "throughput_per_s < 0.9x")
    assert found.answer is ConditionAnswer.NOT_DECIDED
    assert ("the ratio lies at your limit" in found.reason) is is_at_limit
    assert ("repeat both to a precision of 5 %" in found.reason) is not is_at_limit


def test_where_few_pairs_are_left_their_number_is_said(tmp_path: Path) -> None:
    """Each side has four of six repetitions, the last two of which are of both."""
    record = beside_others(interleaved(tmp_path, 0.97, 6), [5, 6], 0.27)
    record = beside_others(record, [1, 2], 0.29, storage="here")
    (cell,) = of_storages(record).cells
    few = "not decided: 2 of 6 pairs are left, too few: more repetitions decide it"
    assert cell.primary.verdict == few
    (question,) = questions(record)
    assert question.conclusions[0].reason == few.removeprefix("not decided: ")
