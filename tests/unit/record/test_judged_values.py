"""A run is judged by the values that were handed over; the record is not asked for them."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import invented_records as invented
from assay.judge import judge_run
from assay.judge.run import CalibrationRecord
from assay.load.existing_data import ExistingTable
from assay.record import Store

JUDGED = (
    "id", "system_label", "clients", "driving", "machine", "deployment", "data", "existing_data",
    "observation", "reports", "checks", "calibration", "of_repetition",
)  # fmt: skip
TABLES = ("deployments", "datasets", "observations", "checks", "existing_tables")


def hand_over(store: Store, planned: invented.Plan) -> None:
    """All of a run but its end, with what a later step says of its observation."""
    (run,) = planned.runs
    store.begin_run(run)
    store.provisioned(invented.deployment(run.cell))
    store.existing_data([ExistingTable("t", 3, "", False, "")], is_after=False)
    store.begin_step(0, "load")
    store.loaded(invented.dataset())
    store.end_step("done")
    store.begin_step(1, "drive")
    store.driving(invented.drive_document(run.cell))
    store.observed(invented.report_of(run.cell, 5 * invented.S))
    store.checked(invented.checks())
    store.end_step("done")
    store.amended(invented.report_of(run.cell, 6 * invented.S))
    store.existing_data([ExistingTable("t", 4, "", False, "")], is_after=True)


def calibration() -> CalibrationRecord:
    return CalibrationRecord("postgresql", 8, 2, 1, 10, 1, 900.0, 1.0, 1, 2, {})


def test_what_was_handed_over_is_what_the_record_has(tmp_path: Path) -> None:
    planned = invented.plan([invented.POSTGRESQL])
    with Store(tmp_path / "r.sqlite") as store:
        store.calibrated(calibration(), invented.MACHINE, invented.BUILD)
        invented.begin(store, planned)
        hand_over(store, planned)
        judged = store.run_so_far("done")
        store.end_run("done", verdict=("valid", ""))
        (kept,) = store.latest().runs
    assert judged.observation is not None and judged.checks and judged.existing_data is not None
    assert judged.calibration is not None and judged.calibration.statements_per_s == 900.0
    for name in JUDGED:
        assert getattr(kept, name) == getattr(judged, name), name
    assert judge_run(kept) == judge_run(judged)


def test_nothing_is_read_back_to_be_judged(tmp_path: Path) -> None:
    planned, path = invented.plan([invented.POSTGRESQL]), tmp_path / "r.sqlite"
    with Store(path) as store:
        invented.begin(store, planned)
        hand_over(store, planned)
        before = store.run_so_far("done")
        with closing(sqlite3.connect(path)) as connection, connection:
            for table in TABLES:
                connection.execute(f"DELETE FROM {table}")
        assert store.run_so_far("done") == before
        store.end_run("done")
