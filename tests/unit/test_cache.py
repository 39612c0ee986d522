"""The cache as a factor: cold and warm are what they say, and a warm one is verified."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import invented_records as invented
import pytest

from assay.errors import ArgumentError, ExperimentError
from assay.experiment import Experiment
from assay.experiment.words import Words, experiment
from assay.judge import judge_run
from assay.plan import plan
from assay.provision import page_cache
from assay.report.build import build
from assay.storages.mounts import mount_of
from commands import Assay

BYTES = 3 * 1024 * 1024 + 17


def asked(target: str = "tpcb.select-only", **given: Any) -> Experiment:
    return experiment(Words(target, on=("sqlite",), **given))[0]


def test_each_state_is_a_cell_of_its_own_with_the_same_work() -> None:
    words = Words("tpcb.select-only", on=("sqlite",), cache="as-is,cold,warm")
    runs = plan(*experiment(words)).runs
    assert [run.cell.cache for run in runs] == ["as-is", "cold", "warm"]
    assert len({run.cell.fingerprint for run in runs}) == 3
    assert len({run.seed for run in runs}) == 1
    (before,) = plan(*experiment(Words("tpcb.select-only", on=("sqlite",)))).runs
    assert before.cell.fingerprint == runs[0].cell.fingerprint


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"cache": "lukewarm"}, "lukewarm"),
        ({"cache": ""}, "no state is given"),
        ({"cache": "cold,warm,cold"}, "cache: cold is given twice"),
    ],
)
def test_a_state_that_there_is_not_is_refused(given: dict[str, Any], message: str) -> None:
    with pytest.raises(ArgumentError, match=message):
        asked(**given)


def test_a_test_that_restarts_its_system_sets_the_cache_itself() -> None:
    with pytest.raises(ArgumentError, match=r"--cache does not apply to glidemon\.aggregate-cold"):
        asked("glidemon.aggregate-cold", cache="cold")


def test_an_experiment_file_has_the_same_levels(tmp_path: Path) -> None:
    file = tmp_path / "e.toml"
    text = 'workload = "tpcb"\ntest = "select-only"\nsystems = ["sqlite"]\ncache = {}\n'
    file.write_text(text.format('["cold", "warm"]'))
    assert experiment(Words(str(file)))[0].caches == ("cold", "warm")
    assert experiment(Words(str(file), cache="as-is"))[0].caches == ("as-is",)
    file.write_text(text.format('"lukewarm"'))
    with pytest.raises(ExperimentError, match="lukewarm") as refused:
        experiment(Words(str(file)))
    assert "e.toml:4" in str(refused.value)


def test_files_that_are_read_are_in_the_page_cache(tmp_path: Path) -> None:
    if mount_of(tmp_path).file_system == "tmpfs":
        pytest.skip(f"{tmp_path} is on tmpfs")
    file = tmp_path / "table"
    file.write_bytes(os.urandom(BYTES))
    assert page_cache.drop(tmp_path) == 0
    assert page_cache.read(tmp_path) == (BYTES, BYTES)


def test_a_system_that_cannot_be_restarted_is_refused_before_it_is_started(assay: Assay) -> None:
    ended = assay("run", "tpcb.select-only", "--on", "null", "--cache", "cold", "--duration", "1")
    (run,) = ended.runs
    assert run.state == "refused"
    assert "restart" in run.reason


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
    assert warm.driven.embedded_read_bytes == 0
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
    assert [row.cells[3].shown for row in table.rows] == ["cold", "warm"]


def test_a_test_that_changes_data_is_not_run_beforehand(assay: Assay) -> None:
    ended = assay(
        "run", "tpcb.simple-update", "--on", "sqlite", "--cache", "warm",
        "--transactions", "10", "--clients", "1",
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
    _, found = judge_run(record.runs[0].evidence)
    names = {one.name for one in found} & {"not-warm", "warm-not-verified"}
    assert names == ({warning} if warning else set())
