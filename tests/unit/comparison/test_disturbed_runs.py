"""A few runs that other programs disturbed do not end a gate without an answer."""

from __future__ import annotations

import statistics
from collections.abc import Collection
from pathlib import Path
from types import SimpleNamespace

import pytest
from msgspec.structs import replace

import invented_records as invented
from assay import comparison
from assay.comparison import conditions, fail_conditions
from assay.comparison.fail_conditions import ConditionAnswer, ConditionResult
from assay.comparison.ratios import pairs
from assay.comparison.sides.values import Comparison
from assay.judge.statistics.estimate import Design
from assay.record import ExperimentRecord, Run

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
    return replace(
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
    (found,) = fail_conditions.judge(made, [conditions.condition(text)])
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
        return replace(run, in_place_of=4, **times) if run.repetition == 11 else run

    kept = (run for run in record.runs if (run.repetition, run.storage) != (11, "here"))
    made = of_storages(replace(record, runs=tuple(map(again, kept))))
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


def test_where_both_sides_were_measured_again_the_last_runs_are_the_pair() -> None:
    """Each side's second run follows its first one at once."""
    order = [("a", 1), ("a", 1), ("b", 1), ("b", 1), ("b", 2), ("a", 2)]
    runs = [
        (side, (0, SimpleNamespace(of_repetition=one, begun_unix_ns=at, ended_unix_ns=at + 1)))
        for at, (side, one) in enumerate(order, 1)
    ]
    a, b = ([run for name, run in runs if name == side] for side in "ab")
    found = pairs.interleaved(a, b)  # type: ignore[arg-type]
    assert found is not None
    assert [(x.begun_unix_ns, y.begun_unix_ns) for x, y in found] == [(2, 4), (6, 5)]


def test_where_all_were_disturbed_twice_medians_and_ratio_are_of_the_last_runs(
    tmp_path: Path,
) -> None:
    """The first three were slower than the three that were measured in their place."""
    noisy = interleaved(tmp_path, 0.8, 6)

    def changed(run: Run) -> Run:
        assert run.driven is not None
        run = invented.disturbed(run, 0.4)
        if run.repetition > 3:
            return replace(run, in_place_of=run.repetition - 3)
        return invented.changed(run, "observation", elapsed_ns=run.driven.elapsed_ns * 3)

    last = replace(noisy, runs=tuple(map(changed, noisy.runs)))
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
    record = replace(record, runs=noisy)
    quiet = of_storages(replace(record, runs=noisy[:10]))
    assert judged(quiet, "throughput_per_s < 1x").answer is ConditionAnswer.NOT_DECIDED
    made = of_storages(beside_others(record, range(6, 11), 0.052))
    found = judged(made, "throughput_per_s < 1x")
    assert found.answer is ConditionAnswer.MET
    assert found.reason.endswith("by all runs, with what other programs can explain allowed for")


def test_two_experiments_are_decided_beyond_what_other_programs_explain(tmp_path: Path) -> None:
    planned = invented.plan([invented.POSTGRESQL], repetitions=5)
    key = ("postgresql", "here", 8)
    records = []
    for name, times in (("a", 1.0), ("b", 2.0)):
        (tmp_path / name).mkdir()
        elapsed = {key: tuple(one * times for one in NOISE[:5])}
        record = invented.experiment(tmp_path / name / "records.sqlite", planned, elapsed)
        records.append(beside_others(record, range(1, 6), 0.1, "here"))
    sides = (comparison.side(name, "", [one]) for name, one in zip("AB", records, strict=True))
    made = comparison.compare(*sides)
    assert judged(made, "throughput_per_s < 0.9x").answer is ConditionAnswer.MET
    assert judged(made, "throughput_per_s < 0.55x").answer is ConditionAnswer.UNKNOWN


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
