"""Why a run failed: its failed transactions by class, and how many conflicts are too many; what a
test without clients did."""

from __future__ import annotations

import io
from pathlib import Path

import pytest

import invented_records as invented
import observations
from assay.contracts.observation import Observation
from assay.judge.check.verdict import CONFLICTS, why_failed
from assay.record import ExperimentRecord, Store
from assay.report.build import build
from assay.report.summaries import first_look


def ended(ok: int, failed: int, **by_class: int) -> Observation:
    errors = [
        observations.error(**{"class": name, "count": count, "retried": 0, "message": "no"})
        for name, count in by_class.items()
    ]
    outcomes = observations.outcomes(ok=ok, failed=failed, unknown=0)
    made = observations.observation(elapsed_ns=invented.S, outcomes=outcomes, errors=errors)
    assert isinstance(made, Observation)
    return made


def test_failed_transactions_are_counted_by_class() -> None:
    mixed = ended(1722, 604, serialization=400, data=185, deadlock=19)
    assert why_failed(mixed, [], None) == (
        "604 transactions failed (419 serialization or deadlock, 185 data): serialization: no; "
        "fix: more retries of each transaction (1000, say), fewer clients, or a setting of the "
        "system by which fewer of them are refused"
    )
    assert why_failed(ended(1, 2, data=2), [], None) == "2 transactions failed: data: no"


@pytest.mark.parametrize(("failed", "is_failed_run"), [(10, False), (26, True)])
def test_conflicts_that_are_counted_fail_a_run_where_they_are_many(
    failed: int, is_failed_run: bool
) -> None:
    """Those of an ad hoc script, as in pgbench."""
    run = ended(100 - failed, failed, deadlock=failed)
    reason = why_failed(run, [], None, counted=CONFLICTS)
    assert (reason is not None) is is_failed_run
    if reason is not None:
        assert reason.startswith("26 transactions failed, 26 % of all: deadlock: no; fix: more")


_ANSWERED = {"transactions": 5, "median_ns": 1, "longest_ns": 2}
BACKUP = {
    "kind": "backup", "way": "dump", "size_bytes": 12_000_000, "shares_blocks": False,
    "backup_ns": 3 * invented.S, "reads": _ANSWERED, "writes": _ANSWERED,
    "restore_ns": 5 * invented.S, "equals_source": True, "lost_writes": 0, "tables": {},
}  # fmt: skip


def backed_up(path: Path) -> ExperimentRecord:
    planned = invented.plan([invented.SQLITE])
    with Store(path) as store:
        invented.begin(store, planned, workload={"report": {}})
        for run in planned.runs:
            store.begin_run(run)
            store.provisioned(invented.deployment(run.cell))
            store.observed(invented.observed(BACKUP))
            store.end_run("done", verdict=("valid", ""))
        store.end_experiment()
        return store.latest()


def test_a_test_without_clients_shows_what_it_did(tmp_path: Path) -> None:
    """Also where its workload declares no report."""
    experiment = backed_up(tmp_path / "r.sqlite")
    report = build(experiment)
    table = report.sections[0].tables[0]
    assert [column.title for column in table.columns][-3:] == [
        "size", "backup", "restore"
    ]  # fmt: skip
    (row,) = table.rows
    assert [cell.shown for cell in row.cells][-3:] == ["12 MB", "3.000", "5.000"]
    stream = io.StringIO()
    first_look.render(experiment, report, stream, "")
    assert "measured     size 12 MB; backup 3.000 s; restore 5.000 s" in stream.getvalue()


def test_a_finished_run_is_never_under_way(tmp_path: Path) -> None:
    planned = invented.plan([invented.SQLITE])
    with Store(tmp_path / "r.sqlite") as store:
        invented.begin(store, planned, workload={"report": {}})
        for run in planned.runs:
            store.begin_run(run)
            store.end_run("done", verdict=("valid", ""))
        store.end_experiment()
        report = build(store.latest())
    shown = [cell.shown for row in report.sections[0].tables[0].rows for cell in row.cells]
    assert "under way" not in shown
    assert "not measured" in shown
