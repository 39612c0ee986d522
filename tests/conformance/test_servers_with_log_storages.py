"""Servers whose log is on another storage than their data: what reaches which device, by the
kernel's counters, and that nothing is left of either."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

from able import one_of_each_line, with_ability
from assay.contracts.experiment import SystemChoice
from assay.contracts.factors import ServerMachine
from assay.contracts.systems.abilities import SeparateLog
from assay.experiment.choices.storage_words import storage_choices
from assay.provision.engine.engine_calls import session
from assay.provision.running_system import RunningSystem, running_system
from assay.storages.device_counters import devices_of, devices_of_log
from block_devices import HAS_LOOP_DEVICES, files_of_loop_devices
from commands import Assay, need
from running import said_until, started

pytestmark = pytest.mark.skipif(not HAS_LOOP_DEVICES, reason="only root makes loop devices")
MB = 1 << 20
_SERVERS = with_ability(SeparateLog)
_COMMITS = 20
"""Of half a megabyte each."""


@pytest.fixture
def folder() -> Iterator[Path]:
    """Pytest's own directories are closed to the servers' user."""
    path = Path(f"/var/tmp/assay-test-{os.getpid()}-logs")
    path.mkdir(mode=0o755)
    yield path
    path.rmdir()  # also asserts that everything in it was removed


def _storages(folder: Path) -> tuple[str, str]:
    of_kind = f"loop[fs=ext4,size=600M]:{folder}"
    return f"data={of_kind}", f"log={of_kind}"


def _written_mb(running: RunningSystem) -> tuple[float, float]:
    """By the devices of data and log, since they were made, once all is flushed."""
    os.sync()
    devices = devices_of(running.deployment), devices_of_log(running.deployment)
    counts = [one.counts() for one in devices if one is not None]
    data, log = (one.written_bytes / MB for one in counts if one is not None)
    return data, log


@pytest.mark.parametrize("system", one_of_each_line(_SERVERS))
def test_rows_are_written_to_the_device_of_the_log_first_and_then_to_that_of_the_data(
    system: str, folder: Path
) -> None:
    need(system)
    data, log = storage_choices([",".join(_storages(folder))])
    choice = SystemChoice(system, machine=ServerMachine(log_storage=log))
    with running_system(choice, data, connections=4) as running:
        node = running.deployment.nodes[0]
        assert node.log_storage is not None
        assert (node.storage.name, node.log_storage.name) == ("data", "log")
        assert node.storage.device != node.log_storage.device
        with session(running.deployment.address) as opened:
            opened.execute("CREATE TABLE held (words VARCHAR(1000))")
            began = _written_mb(running)
            for _ in range(_COMMITS):
                opened.execute("BEGIN")
                for _ in range(10):
                    values = ",".join([f"('{'x' * 1000}')"] * 50)
                    opened.execute(f"INSERT INTO held VALUES {values}")
                opened.execute("COMMIT")
            running.stop()  # which writes all pages
        os.sync()
        ended = _after(node.storage.device), _after(node.log_storage.device)
        running.start()
        with session(running.deployment.address) as opened:
            assert opened.execute("SELECT count(*) FROM held") is not None
    rows_mb = _COMMITS * 10 * 50 * 1000 / MB
    of_data, of_log = (after - before for after, before in zip(ended, began, strict=True))
    assert of_log > 0.9 * rows_mb
    assert of_data > 0.9 * rows_mb
    assert not files_of_loop_devices(folder)


def _after(device: str) -> float:
    fields = Path(f"/sys/class/block/{Path(device).name}/stat").read_text().split()
    return int(fields[6]) * 512 / MB


@pytest.mark.parametrize("system", one_of_each_line(_SERVERS))
def test_each_storage_of_the_log_is_a_cell_and_both_devices_are_measured(
    system: str, folder: Path, assay: Assay
) -> None:
    need(system)
    data, log = _storages(folder)
    ended = assay(
        "run", "tpcb.simple-update", "--on", system, "--storage", data,
        "--log-storage", f"none,{log}", "--clients", "2",
        "--warm-up", "0", "--duration", "1.5", "--format", "json",
    )  # fmt: skip
    assert ended.status == 0, ended.err
    together, apart = ended.runs
    assert (together.server_machine.log_storage, apart.storage) == (None, "data")
    assert apart.system_label == f"{system} log_storage=log"
    assert together.cell_fingerprint != apart.cell_fingerprint
    assert together.driven is not None and apart.driven is not None
    assert together.driven.log_device_cost is None
    of_data, of_log = apart.driven.device_cost, apart.driven.log_device_cost
    assert of_data is not None and of_log is not None
    assert of_data.device != of_log.device
    assert of_log.flushes is not None and of_data.flushes is not None
    commits = apart.driven.outcomes.ok
    assert of_log.flushes > commits / 4 > 0, "of two clients, two commits in a group at most"
    for run in ended.runs:
        assert run.deployment is not None and run.deployment.durability is not None
        assert run.deployment.durability.durability_class == "D3"
    rows = ended.document["tables"]["runs"]
    assert [row["log_storage"] for row in rows] == [None, "log"]
    assert rows[1]["log_device_written_bytes"] == of_log.written_bytes
    assert not files_of_loop_devices(folder)


def test_a_full_storage_of_the_log_is_named(folder: Path, assay: Assay) -> None:
    need("postgresql")
    ended = assay(
        "run", "tpcb", "--on", "postgresql", "--storage", f"data=loop[size=400M]:{folder}",
        "--log-storage", f"log=loop[size=40M]:{folder}", "--set", "scale=3", "--warm-up", "0",
        "--transactions", "1", "--no-durability", "--no-probe",
    )  # fmt: skip
    [run] = ended.runs
    assert ended.status == 3
    assert str(run.reason).startswith("no space left on storage log: "), run.reason


def test_nothing_of_either_storage_is_left_after_a_kill(
    folder: Path, assay: Assay, working_folder: Path
) -> None:
    need("postgresql")
    data, log = _storages(folder)
    words = (
        "run", "tpcb", "--on", "postgresql", "--storage", data, "--log-storage", log,
        "--duration", "600", "--warm-up", "0", "--no-durability", "--no-probe",
    )  # fmt: skip
    with started(working_folder, *words) as killed:
        said_until(killed, "  drive")
        assert len(files_of_loop_devices(folder)) == 2
        killed.send_signal(signal.SIGKILL)
        killed.wait()
    ended = assay("run", "tpcb", "--on", "null", "--transactions", "1", "--warm-up", "0")
    assert ended.status == 0, ended.err
    assert not files_of_loop_devices(folder)
    assert not [mount for mount in Path("/proc/mounts").read_text().split() if str(folder) in mount]
