"""What reports say of a goal: numbers where it is decided, and why not where it is not."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

import invented_records as invented
from assay.experiment import Driving
from assay.record import ExperimentRecord, Run
from assay.report.build import build
from assay.report.cells.cell_runs import cells
from assay.report.summaries import first_look

SECONDS = 10.0
MS = 1_000_000


def searched(
    path: Path,
    p99_ms: Mapping[float, float],
    goal: str = "p99 < 5ms",
    repetitions: int = 1,
    reached: Mapping[float, float] | None = None,
    others: Mapping[float, float] | None = None,
) -> ExperimentRecord:
    """Offered rate per second → its p99, and the share of the rate that was reached."""
    rates = [
        Driving(duration_s=SECONDS, arrival="constant", offered_rate_per_s=rate) for rate in p99_ms
    ]
    planned = invented.plan([invented.POSTGRESQL], driving=rates, repetitions=repetitions)
    record = invented.experiment(path / "records.sqlite", planned, SECONDS)

    def measured(run: Run) -> Run:
        assert run.driving is not None and run.driven is not None
        rate = run.driving.offered_rate_per_s
        assert isinstance(rate, float)
        scheduled = round(rate * SECONDS)
        ended = round(scheduled * (reached or {}).get(rate, 1.0))
        value_ns = round(p99_ms[rate] * MS)
        times = {
            **run.driven.document["all_ok"]["latency"], "count": ended, "p50_ns": value_ns // 5,
            "p99_ns": value_ns, "p99_9_ns": 3 * value_ns,
        }  # fmt: skip
        found = invented.changed(
            run,
            "observation",
            outcomes={"scheduled": scheduled, "ok": ended},
            all_ok={**run.driven.document["all_ok"], "count": ended, "latency": times},
            intervals=[{"second": second, "ok": int(rate)} for second in range(int(SECONDS))],
            elapsed_ns=round(SECONDS * 1e9),
        )
        share = (others or {}).get(rate)
        return invented.disturbed(found, share) if share else invented.judged_again(found)

    asked = {**record.experiment, "goal": goal}
    return replace(record, runs=tuple(map(measured, record.runs)), experiment=asked)


def look(record: ExperimentRecord) -> str:
    return "\n".join(first_look.lines(record, build(record), 120, "assay report 1"))


def goals_of(record: ExperimentRecord) -> dict[str, Any]:
    (row,) = build(record).tidy["tables"]["goals"]
    found: dict[str, Any] = row
    return found


def section(record: ExperimentRecord) -> dict[str, str]:
    (shown,) = [
        one for part in build(record).sections for one in part.tables if one.name.endswith("_goal")
    ]
    titles = [column.title for column in shown.columns]
    return dict(zip(titles, [cell.shown for cell in shown.rows[0].cells], strict=True))


def test_line_section_and_json_have_the_interval_and_its_runs(tmp_path: Path) -> None:
    record = searched(tmp_path, {780.0: 4.0, 825.0: 7.0}, repetitions=6)
    words = (
        "met up to 780/s (p99 latency 4.00 ms, 6 runs), not at 825/s (p99 latency 7.00 ms, 6 runs)"
    )
    assert words in " ".join(look(record).split())
    shown = section(record)
    assert (shown["met at /s"], shown["not at /s"], shown["found"]) == ("780", "825", words)
    row = goals_of(record)
    assert (row["met_at_per_s"], row["not_met_at_per_s"]) == (780, 825)
    assert (row["met_runs"], row["not_met_runs"], row["not_decided"]) == (6, 6, None)


def test_line_section_and_json_say_that_nothing_is_decided_beside_other_programs(
    tmp_path: Path,
) -> None:
    record = searched(tmp_path, {7.02: 90.0, 100.0: 95.0}, others={7.02: 0.73})
    why = "other programs used 73 % of the CPUs at 7.02/s"
    assert f"p99 < 5ms: not decided: {why}" in " ".join(look(record).split())
    shown = section(record)
    assert (shown["met at /s"], shown["not at /s"]) == ("-", "-")
    assert shown["found"] == f"not decided: {why}"
    row = goals_of(record)
    assert (row["met_at_per_s"], row["not_met_at_per_s"], row["why_not_met"]) == (None, None, None)
    assert (row["not_decided"], row["other_programs"]) == (why, pytest.approx(0.73, rel=0.01))


def test_an_offered_rate_is_kept_if_it_is_reached_and_meets_the_goal(tmp_path: Path) -> None:
    """797/s of 825/s is beyond what may be late; 780/s missed the goal."""
    record = searched(tmp_path, {740.0: 4.0, 780.0: 57.0, 825.0: 57.0}, reached={825.0: 797 / 825})
    kept = "kept up to 740/s, not at 780/s (the goal was missed)"
    assert f"offered rate {kept}" in " ".join(look(record).split())
    report = build(record)
    assert f"offered rate: {kept}" in report.summary.lines
    notes = [note for part in report.sections for one in part.figures for note in one.notes]
    assert kept in notes
    without = replace(record, experiment={**record.experiment, "goal": ""})
    assert "kept up to 780/s, not at 825/s (797.0/s reached)" in " ".join(look(without).split())


@pytest.mark.parametrize(
    ("goal", "title", "first"),
    [("p99.9 < 5ms", "p99.9", "12"), ("mean < 5ms", "mean", ""), ("p99 < 5ms", "p99", "4")],
)
def test_the_first_table_has_the_percentile_that_was_asked_for(
    tmp_path: Path, goal: str, title: str, first: str
) -> None:
    record = searched(tmp_path, {780.0: 4.0, 825.0: 7.0}, goal)
    lines = look(record).splitlines()
    (head,) = [line for line in lines if " TPS " in line]
    assert head.split().count(title) == 1
    has_value = re.compile(rf" {first}[.]?0* ms")
    assert not first or any(map(has_value.search, lines[lines.index(head) :])), lines
    (shown,) = build(record).summary.tables
    place = [column.title for column in shown.columns].index(title)
    assert not first or shown.rows[0].cells[place].shown.startswith(first)


def test_the_report_says_how_many_repetitions_were_measured_again(tmp_path: Path) -> None:
    record = searched(tmp_path, {780.0: 4.0}, "", repetitions=4)
    first, second, third, fourth = record.runs
    runs = (invented.disturbed(first, 0.4), second, third, replace(fourth, in_place_of=1))
    record = replace(record, runs=runs)
    words = "1 of 4 runs left out, as other programs disturbed it; 1 measured again"
    assert f"disturbed {words}" in " ".join(look(record).split())
    report = build(record)
    assert f"disturbed: {words}" in report.summary.lines
    (cell,) = cells(record, record.runs)
    assert [run.id for run in cell.measured] == [fourth.id, second.id, third.id]
    alone = (invented.disturbed(first, 0.4), replace(second, in_place_of=1))
    (cell,) = cells(record, alone)
    assert [run.id for run in cell.measured] == [second.id], "of a trial"
