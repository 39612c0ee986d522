"""The client's maximum throughput: measured, stored, found again, and compared with a run."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

import invented_records as invented
from assay.judge import judge_run
from assay.lab import calibration
from assay.record import CalibrationRecord, Run, Store
from assay.report.build import build

pytestmark = pytest.mark.slow

CEILING = CalibrationRecord(
    driver="postgresql",
    clients=8,
    threads=2,
    begun_unix_ns=1,
    statements=300_000,
    elapsed_ns=3 * invented.S,
    statements_per_s=100_000.0,
    client_ns_per_statement=4000.0,
    p50_ns=80_000,
    p99_ns=200_000,
    observation={"statements": 300_000},
)


def run_with(
    folder: Path, *ceilings: CalibrationRecord, machine: Any = invented.MACHINE, **observed: Any
) -> Run:
    """A run of 8 clients in a record that holds these calibrations."""
    file = folder / "r.sqlite"
    with Store(file) as store:
        for ceiling in ceilings:
            store.calibrated(ceiling, machine, invented.BUILD)
    planned = invented.plan([invented.POSTGRESQL])
    dataset = {"size_on_disk_bytes": 10**14}
    run = invented.experiment(file, planned, 10.0, dataset=dataset).runs[0]
    return invented.changed(run, "observation", **observed)


def found(folder: Path, *ceilings: CalibrationRecord, **more: Any) -> float | None:
    ceiling = run_with(folder, *ceilings, **more).calibration
    return None if ceiling is None else ceiling.statements_per_s


def test_the_calibration_with_the_nearest_client_count_is_used_and_of_these_the_newest(
    tmp_path: Path,
) -> None:
    far = replace(CEILING, clients=32, statements_per_s=1.0)
    old = replace(CEILING, clients=7, statements_per_s=2.0)
    new = replace(CEILING, clients=7, statements_per_s=3.0)
    assert found(tmp_path, far, old, new) == 3.0


def test_a_calibration_of_another_driver_or_machine_is_not_used(tmp_path: Path) -> None:
    assert found(tmp_path, replace(CEILING, driver="mysql")) is None
    (tmp_path / "other").mkdir()
    other = {**invented.MACHINE, "processors": 9}
    assert found(tmp_path / "other", CEILING, machine=other) is None


@pytest.mark.parametrize(
    ("statements", "expected"), [(690_000, []), (710_000, ["near-the-client-ceiling"])]
)
def test_a_run_above_70_percent_of_the_ceiling_is_warned_of(
    statements: int, expected: list[str], tmp_path: Path
) -> None:
    run = run_with(tmp_path, CEILING, statements=statements)
    verdict, warnings = judge_run(run)
    assert [warning.name for warning in warnings] == expected
    assert verdict.word == ("indicative" if expected else "valid")
    if expected:
        assert "71 % of 100000 at 8 clients" in warnings[0].detail


def test_the_details_say_that_a_machine_was_not_calibrated_and_what_the_client_used(
    tmp_path: Path,
) -> None:
    run = run_with(tmp_path, statements=690_000)
    assert run.driven is not None
    elapsed_ns, cost = run.driven.elapsed_ns, run.driven.document["client_cost"]
    one_of_eight = {**cost, "user_ns": elapsed_ns // 2, "system_ns": elapsed_ns // 2}
    run = invented.changed(run, "observation", client_cost=one_of_eight)
    _, warnings = judge_run(run)
    assert warnings == []
    with Store(tmp_path / "r.sqlite") as store:
        experiment = replace(store.latest(), runs=(run,))
    tables = [table for section in build(experiment).sections for table in section.tables]
    (headroom,) = [table for table in tables if table.name == "headroom"]
    *_, ceiling, share, of_processors = headroom.rows[0].cells
    assert [ceiling.shown, share.shown] == ["not calibrated"] * 2
    assert of_processors.shown == "12 %"
    assert "assay calibrate" in headroom.notes[0]


@pytest.fixture
def _own_places(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setenv("ASSAY_STATE_DIRECTORY", str(tmp_path / "state"))
    with tempfile.TemporaryDirectory(prefix="assay-test-", dir="/var/tmp") as made:
        Path(made).chmod(0o755)  # the servers' user must be able to enter
        monkeypatch.setenv("ASSAY_DATA_DIRECTORY", made)
        yield


@pytest.mark.usefixtures("_own_places")
@pytest.mark.parametrize("protocol", calibration.protocols())
def test_a_calibration_is_measured_and_kept(protocol: str, tmp_path: Path) -> None:
    measured = calibration.calibrate(protocol, 4, threads=1, duration_s=0.3)
    assert (measured.driver, measured.clients) == (
        "null" if protocol == calibration.IN_PROCESS else protocol,
        4,
    )
    assert measured.statements > 100 and 0 < measured.p50_ns <= measured.p99_ns
    assert measured.client_ns_per_statement > 0
    with Store(tmp_path / "r.sqlite") as store:
        store.calibrated(measured, invented.MACHINE, invented.BUILD)
        assert json.dumps(dict(measured.observation))
