"""The cache as a factor: cold and warm are what they say, and a warm one is verified."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest
from msgspec import structs

import invented_records as invented
from assay.contracts.observation import Interval, Observation
from assay.errors import ArgumentError, ExperimentError
from assay.experiment import Experiment
from assay.experiment.from_command_line import Words, experiment
from assay.judge import judge_run, seconds
from assay.plan import plan
from assay.plan.drives import drives
from assay.provision import page_cache
from assay.provision.machine.mounts import mount_of
from assay.report.build import build
from commands import Assay
from observations import observation
from step_workloads import HEAD, folder_of

pytestmark = [pytest.mark.slow, pytest.mark.disk]
BYTES = 3 * 1024 * 1024 + 17


def asked(target: str = "tpcb.select-only", **given: Any) -> Experiment:
    return experiment(Words(target, on=("sqlite",), **given))[0]


def test_each_state_is_a_cell_of_its_own_with_the_same_work() -> None:
    words = Words("tpcb.select-only", on=("sqlite",), cache="as-is,cold,warm")
    runs = plan(*experiment(words)).runs
    assert [run.cell.levels["cache"] for run in runs] == ["as-is", "cold", "warm"]
    assert len({run.cell.fingerprint for run in runs}) == 3
    assert len({run.seed for run in runs}) == 1
    (before,) = plan(*experiment(Words("tpcb.select-only", on=("sqlite",)))).runs
    assert before.cell.fingerprint == runs[0].cell.fingerprint


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"cache": "lukewarm"}, "lukewarm"),
        ({"cache": ""}, "expected a state of the cache, found nothing"),
        ({"cache": "cold,warm,cold"}, "cache: cold is given twice"),
    ],
)
def test_a_state_that_there_is_not_is_refused(given: dict[str, Any], message: str) -> None:
    with pytest.raises(ArgumentError, match=message):
        asked(**given)


def test_a_system_without_data_is_refused_warm_and_measured_as_it_is(assay: Assay) -> None:
    words = [
        "--on", "null", "--cache", "warm,as-is", "--warm-up", "0", "--transactions", "5",
        "--format", "json",
    ]  # fmt: skip
    ended = assay("run", "tpcb.select-only", *words)
    assert ended.status == 0, ended.err
    assert [run.state for run in ended.runs] == ["refused", "done"]


def test_a_test_that_restarts_its_system_sets_the_cache_itself(tmp_path: Path) -> None:
    test = (
        'scripts = ["read.sql"]\npasses = 1\nsteps = [{do="load"}, {do="restart"}, {do="drive"}]\n'
    )
    folder = folder_of(tmp_path / "w", test)
    with pytest.raises(ArgumentError, match=r"--cache does not apply to w\.t: "):
        asked(str(folder), cache="cold")
    (tmp_path / "w" / "workload.toml").write_text(HEAD + f'cache = ["cold"]\n{test}')
    with pytest.raises(ExperimentError, match="the caches of this test cannot be set"):
        asked(str(folder))


def test_a_test_may_say_in_which_states_it_is_run(tmp_path: Path) -> None:
    folder = folder_of(
        tmp_path / "w",
        'scripts = ["read.sql"]\npasses = 1\ncache = ["cold", "warm"]\n'
        '[tests.load]\ntitle = "L"\nhelp = "Loads"\nsteps = [{do = "load"}]\n',
    )

    def states(**given: Any) -> list[str]:
        words = Words(f"{folder}.t,load", on=("sqlite",), **given)
        return [
            f"{run.cell.test} {run.cell.levels['cache']}" for run in plan(*experiment(words)).runs
        ]

    assert states() == ["t cold", "t warm", "load as-is"]
    assert states(cache="warm,as-is") == ["t warm", "t as-is", "load as-is"]


def test_a_measurement_with_cold_caches_begins_with_the_first_transaction() -> None:
    """Ramp-up and warm-up would warm them. Where no other state is asked for they are refused."""
    words = Words("tpcb.select-only", on=("sqlite",), cache="cold,warm", ramp_up_s=1.0)
    planned, workload = experiment(words)
    cold, warm = plan(planned, workload).runs
    (first,) = drives(workload, cold)
    for driving in (cold.cell.driving, first.run.cell.driving):
        assert (driving.ramp_up_s, driving.warm_up_s) == (0, 0)
    assert (warm.cell.driving.ramp_up_s, warm.cell.driving.warm_up_s) == (1, 2)
    with pytest.raises(
        ArgumentError, match=r"--warm-up does not apply to tpcb\.select-only: .* cold"
    ):
        asked(cache="cold", warm_up_s=5.0)
    assert asked(cache="cold", warm_up_s=0.0).driving["warm_up_s"] == 0


def test_the_warm_up_of_a_step_is_left_out_as_well(tmp_path: Path) -> None:
    test = (
        'scripts = ["read.sql"]\nduration_s = 1\n'
        'steps = [{do="load"}, {do="drive", warm_up_s=3}, {do="drive", name="b", warm_up_s=4}]\n'
    )
    words = Words(str(folder_of(tmp_path / "w", test)), on=("sqlite",), cache="cold")
    planned, workload = experiment(words)
    (run,) = plan(planned, workload).runs
    assert [one.run.cell.driving.warm_up_s for one in drives(workload, run)] == [0, 0]


def test_an_experiment_file_has_the_same_levels(tmp_path: Path) -> None:
    file = tmp_path / "e.toml"
    text = 'workload = "tpcb"\ntest = "select-only"\nsystems = ["sqlite"]\ncache = {}\n'
    file.write_text(text.format('["cold", "warm"]'))
    assert experiment(Words(str(file)))[0].levels["cache"] == ("cold", "warm")
    assert experiment(Words(str(file), cache="as-is"))[0].levels["cache"] == ("as-is",)
    file.write_text(text.format('"lukewarm"'))
    with pytest.raises(ExperimentError, match="lukewarm") as refused:
        experiment(Words(str(file)))
    assert "e.toml:4" in str(refused.value)


def test_files_that_are_read_are_in_the_page_cache(tmp_path: Path) -> None:
    if mount_of(tmp_path).file_system == "tmpfs":
        pytest.skip(f"{tmp_path} is on tmpfs")
    file = tmp_path / "table"
    file.write_bytes(os.urandom(BYTES))
    assert page_cache.drop_cached(tmp_path) == 0
    assert page_cache.look_at_cache(tmp_path) == (BYTES, 0), "looking reads nothing"
    assert page_cache.read_into_cache(tmp_path) == (BYTES, BYTES)
    assert page_cache.look_at_cache(tmp_path) == (BYTES, BYTES)


def test_a_cold_run_reads_from_storage_and_a_warm_one_does_not(assay: Assay) -> None:
    ended = assay(
        "run", "tpcb.select-only", "--on", "sqlite", "--cache", "cold,warm",
        "--transactions", "100000", "--clients", "1", "--warm-up", "0",
    )  # fmt: skip
    assert ended.status == 0, ended.err
    cold, warm = ended.runs
    assert cold.deployment is not None
    if cold.deployment.storage.file_system == "tmpfs":
        pytest.skip("the data are in memory")
    assert cold.driven is not None and warm.driven is not None
    assert cold.driven.cache_state is not None and warm.driven.cache_state is not None
    assert cold.deployment.page_cache_kept_bytes == 0
    assert cold.driven.cache_state.done == ("restarted", "its files dropped")
    read_bytes = cold.driven.embedded_read_bytes
    assert read_bytes is not None and read_bytes > 500_000, "1.1 MB of accounts, from the device"
    read_bytes = warm.driven.embedded_read_bytes
    assert read_bytes is not None and read_bytes < 200_000, "of this process, its programs included"
    state = warm.driven.cache_state
    assert state.file_bytes is not None and state.file_bytes > 1_000_000
    assert state.cached_bytes == state.file_bytes
    assert state.done == ("its files read", "test run once")
    assert not {one.name for one in warm.warnings} & {"not-warm", "warm-not-verified"}
    (table,) = (
        table
        for section in build(ended.experiment).sections
        for table in section.tables
        if table.name == "select-only_caches"
    )
    assert [row.cells[2].shown for row in table.rows] == ["cold", "warm"]
    titles = ["first execution", "warm after", "then, TPS", "over all, TPS"]
    assert [one.title for one in table.columns][-4:] == titles
    first = table.rows[0].cells[-4].number
    (select,) = cold.driven.transactions
    assert first is not None and select.first is not None
    assert first.value == select.first.latency_ns > 3 * select.latency.p50_ns
    assert [cell.shown for cell in table.rows[1].cells[-4:]] == [""] * 4


def of_seconds(per_second: list[int]) -> Observation:
    """A measurement in which so many transactions ended in each second."""
    of_line = dict.fromkeys(Interval.__struct_fields__, 0)
    none = {"group": "", "latency": None, "schedule_lag": None, "schedule_lag_p99_ns": None}
    lines = [
        Interval(**{**of_line, **none, "second": second, "ok": ok})
        for second, ok in enumerate(per_second)
    ]
    return structs.replace(observation(elapsed_ns=len(per_second) * 10**9), intervals=tuple(lines))


@pytest.mark.parametrize(
    ("per_second", "expected"),
    [([10, 20, *[100, 101, 99, 100] * 5], (2, 100.0)), ([100, 101, 99, 100] * 5, None)],
)
def test_a_cold_run_is_warm_where_its_seconds_begin_to_be_alike(
    per_second: list[int], expected: tuple[int, float] | None
) -> None:
    found = seconds.warm_after(of_seconds(per_second))
    assert (None if found is None else tuple(found)) == expected


def test_a_test_that_changes_data_is_not_run_beforehand(assay: Assay) -> None:
    ended = assay(
        "run", "tpcb.simple-update", "--on", "sqlite", "--cache", "warm",
        "--warm-up", "0", "--transactions", "10", "--clients", "1",
    )  # fmt: skip
    (run,) = ended.runs
    assert run.driven is not None and run.driven.cache_state is not None
    assert run.driven.cache_state.done == ("its files read",)


WARM = {"cache": "warm", "done": ["read its files"]}
OWN = {"cpu_ns": 1, "resident_peak_bytes": 1, "per_transaction_ns": 1}
DEVICE = {"device": "vda", "read_bytes": 10**9, "written_bytes": 0}


@pytest.mark.parametrize(
    ("observed", "warning"),
    [
        ({"server_cost": {**OWN, "read_bytes": 0}, "device_cost": DEVICE}, None),
        ({"server_cost": {**OWN, "read_bytes": 10**9}}, "not-warm"),
        ({"server_cost": {**OWN, "read_bytes": None}, "device_cost": DEVICE}, "not-warm"),
        ({"server_cost": {**OWN, "read_bytes": None}}, "warm-not-verified"),
        ({"embedded_read_bytes": 0}, None),
    ],
)
def test_a_warm_cache_is_verified_by_what_the_system_read(
    tmp_path: Path, observed: dict[str, Any], warning: str | None
) -> None:
    planned = invented.plan([invented.POSTGRESQL], test="load")
    record = invented.experiment(
        tmp_path / "r.sqlite", planned, 20.0, observation={**observed, "cache_state": WARM}
    )
    _, found = judge_run(record.runs[0])
    names = {one.name for one in found} & {"not-warm", "warm-not-verified"}
    assert names == ({warning} if warning else set())
