"""A run is judged by how it ended, and a cell when its last repetition has."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from msgspec.structs import replace

import invented_records as invented
import observations
from assay.cli.program import run_program
from assay.experiment import Driving
from assay.judge import judge_run
from assay.judge.cells import Cells
from assay.judge.evidence.service import starved
from assay.judge.run import Run, Verdict
from assay.record import Store
from assay.report.build import build


def lost(classes: list[str], driving: Driving) -> Run:
    """A run that is done, though transactions failed."""
    return Run(
        **invented.PLACE,
        driving=driving,
        observation=observations.observation(
            elapsed_ns=20 * invented.S,
            outcomes=observations.outcomes(ok=98, failed=1, unknown=1),
            errors=[observations.error(**{"class": one}) for one in classes],
        ),
    )


def test_a_failed_run_is_never_valid_however_it_was_judged(tmp_path: Path) -> None:
    planned = invented.plan([invented.SQLITE, invented.POSTGRESQL], repetitions=1)
    path = tmp_path / "r.sqlite"
    with Store(path) as store:
        invented.begin(store, planned)
        for run, verdict in zip(planned.runs, (("valid", ""), ("", "")), strict=True):
            end = ("failed", "the server went away")
            invented.write_run(store, run, invented.S, end=end, verdict=verdict)
        first, second = store.latest().runs
        went_away = Verdict.because("invalid", "the server went away")
        assert judge_run(first)[0] == first.judged == second.judged == went_away


def test_a_failed_run_is_listed_as_invalid(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    script, records = tmp_path / "wrong.sql", tmp_path / "r.sqlite"
    script.write_text("SELECT nothing FROM nowhere;\n")
    words = [str(script), "--on", "sqlite", "--transactions", "3", "--records", str(records)]
    assert run_program(["run", *words]) == 1
    capsys.readouterr()
    assert run_program(["list", "runs", "--format", "json", "--records", str(records)]) == 0
    (run,) = json.loads(capsys.readouterr().out)
    assert run["state"].startswith("failed (")
    assert run["verdict"] == "invalid"


def test_the_verdict_of_a_cell_is_kept_with_its_last_repetition(tmp_path: Path) -> None:
    planned = invented.plan([invented.SQLITE, invented.POSTGRESQL], repetitions=2)
    seconds = iter((1.0, 1.0, 2.0, 1.0))
    path = tmp_path / "r.sqlite"
    with Store(path) as store:
        invented.begin(store, planned)
        cells = Cells(planned.runs)
        for place, run in enumerate(planned.runs):
            assert len(kept_cells(path)) == max(0, place - 2)
            elapsed_ns = round(next(seconds) * invented.S)
            invented.write_run(store, run, elapsed_ns, cells=cells)
        found = store.latest()
        one, other = (found.cells[fingerprint, ""] for fingerprint, _ in kept_cells(path))
    assert [one.verdict.word, other.verdict.word] == [word for _, word in kept_cells(path)]
    assert [(cell.repetitions, cell.measured) for cell in (one, other)] == [(2, 2), (2, 2)]
    assert one.verdict == Verdict.of_record("indicative", "repetitions differ by 67 %")
    assert [warning.name for warning in one.warnings] == ["noisy-repetitions", "few-samples"]
    assert other.verdict == Verdict("valid")
    assert [warning.name for warning in other.warnings] == ["few-samples"]


def test_a_cell_that_is_not_complete_is_judged_when_it_is_read(tmp_path: Path) -> None:
    planned = invented.plan([invented.SQLITE], repetitions=2)
    with Store(tmp_path / "r.sqlite") as store:
        invented.begin(store, planned)
        invented.write_run(store, planned.runs[0], invented.S)
        (cell,) = store.latest().cells.values()
    assert cell.verdict == Verdict.of_record("indicative", "1 of 2 repetitions ended")
    assert kept_cells(tmp_path / "r.sqlite") == []


def test_a_report_shows_the_verdict_that_was_kept(tmp_path: Path) -> None:
    """Also where the program would judge otherwise today."""
    path = tmp_path / "r.sqlite"
    invented.experiment(path, invented.plan([invented.SQLITE]), 1.0)
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.execute("UPDATE cells SET verdict = 'invalid', verdict_reason = 'as it was'")
    with Store(path, must_exist=True) as store:
        tables = build(store.latest()).tidy["tables"]
    (row,) = tables["cells"]
    assert (row["verdict"], row["verdict_reason"]) == ("invalid", "as it was")


def kept_cells(path: Path) -> list[tuple[str, str]]:
    """Fingerprint and verdict of the cells that the file holds."""
    with closing(sqlite3.connect(path)) as connection:
        question = "SELECT cell_fingerprint, verdict FROM cells ORDER BY judged_unix_ns"
        return connection.execute(question).fetchall()


def test_a_merged_record_has_the_verdicts_of_its_cells(tmp_path: Path) -> None:
    one, other = tmp_path / "one.sqlite", tmp_path / "other.sqlite"
    kept = invented.experiment(one, invented.plan([invented.SQLITE], repetitions=2), 1.0).cells
    assert run_program(["merge", str(one), "--records", str(other)]) == 0
    with Store(other, must_exist=True) as store:
        assert store.latest().cells == kept != {}


@pytest.mark.parametrize(
    ("classes", "comes_back", "word", "reason"),
    [
        (["lost connection"], True, "indicative", "for lost connections"),
        (["deadlock"], False, "indicative", "for serialization failures and deadlocks"),
        (["deadlock", "lost connection"], True, "indicative", "and lost connections"),
        (["lost connection"], False, "invalid", "1 of 100 transactions failed, 1 unknown"),
        (["constraint", "lost connection"], True, "invalid", "1 of 100 transactions"),
    ],
)
def test_recovered_connection_losses_are_counted_and_make_the_run_indicative(
    classes: list[str], comes_back: bool, word: str, reason: str
) -> None:
    """As with the run's state: it is done where all that was lost was asked for."""
    driving = Driving(reconnect_timeout_s=60.0 if comes_back else None)
    verdict, _ = judge_run(lost(classes, driving))
    assert verdict.word == word
    assert reason in verdict.reason


def test_a_run_in_which_no_transaction_succeeded_is_invalid_whatever_the_reason() -> None:
    run = lost(["deadlock"], Driving())
    assert run.driven is not None
    none_ok = replace(run.driven, outcomes=replace(run.driven.outcomes, ok=0, failed=99))
    assert judge_run(replace(run, observation=none_ok))[0].word == "invalid"


def test_a_refused_run_has_no_verdict(tmp_path: Path) -> None:
    with Store(tmp_path / "r.sqlite") as store:
        planned = invented.plan([invented.SQLITE], driving=[Driving(passes=1)])
        invented.begin(store, planned)
        store.begin_run(planned.runs[0])
        store.end_run("refused", reason="sqlite has no isolation levels")
        (run,) = store.latest().runs
        (cell,) = store.latest().cells.values()
    assert (run.state, run.judged.word, cell.verdict.word) == ("refused", "", "")


def test_clients_of_a_slower_group_are_not_starved() -> None:
    def ends(group: str, *transactions: int) -> list[dict[str, object]]:
        shared = {"client": 0, "elapsed_ns": 1, "passes": 0, "group": group, "state": "done"}
        return [{**shared, "transactions": one} for one in transactions]

    def found(*client_ends: dict[str, object]) -> str:
        numbers = ("clients", "throughput_per_s", "latency_ns", "pause_ns", "clients_by_law")
        law = dict.fromkeys(numbers, 3.0)
        return starved(observations.observation(littles_law=law, client_ends=client_ends))

    assert not found(*ends("readers", 1000, 990), *ends("writers", 20))
    both = found(*ends("readers", 1000, 20), *ends("writers", 20))
    assert both.startswith("1 of 2 clients ended 20 transactions, the most served 1000")


@pytest.mark.parametrize(("ok", "aborted", "expected"), [(0, 50, True), (1, 49, False)])
def test_a_run_in_which_nothing_was_committed_says_so(
    ok: int, aborted: int, expected: bool
) -> None:
    run = lost([], Driving(duration_s=20.0))
    outcomes = observations.outcomes(ok=ok, aborted=aborted)
    observed = observations.observation(elapsed_ns=20 * invented.S, outcomes=outcomes)
    verdict, warnings = judge_run(replace(run, observation=observed))
    assert ("all-aborted" in {one.name for one in warnings}) == expected
    assert ("all aborted" in verdict.reason) == expected
