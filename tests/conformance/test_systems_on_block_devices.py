"""Systems on storages of block devices: what each holds, limits, and that a full one is named."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import ExitStack, suppress
from pathlib import Path

import pytest

from able import one_of_each_line
from assay.contracts.experiment import SystemChoice
from assay.errors import MachineLimit
from assay.experiment.choices.storage_words import storage_choices
from assay.provision.directory import identity_of
from assay.provision.engine.engine_calls import session
from assay.provision.limits import PROCESSES, parent_groups
from assay.provision.machine import process_table
from assay.provision.running_system import running_system
from assay.storages.file_systems import FILE_SYSTEMS
from block_devices import HAS_LOOP_DEVICES, files_of_loop_devices
from commands import Assay, need
from programs import need_program

pytestmark = pytest.mark.skipif(not HAS_LOOP_DEVICES, reason="only root makes loop devices")


@pytest.fixture
def folder() -> Iterator[Path]:
    """Pytest's own directories are closed to the servers' user."""
    path = Path(f"/var/tmp/assay-test-{os.getpid()}-storages")
    path.mkdir(mode=0o755)
    yield path
    path.rmdir()  # also asserts that everything in it was removed


@pytest.mark.parametrize("file_system", ["ext4", "xfs", "btrfs"])
def test_systems_work_on_each_file_system(file_system: str, folder: Path, assay: Assay) -> None:
    need("postgresql")
    need_program(FILE_SYSTEMS[file_system].make)
    storage = f"loop[fs={file_system},size=320M]:{folder}"
    ended = assay(
        "run", "tpcb", "--on", "postgresql,sqlite", "--storage", storage, "--warm-up", "0",
        "--transactions", "20",
    )  # fmt: skip
    assert ended.status == 0, ended.err
    for run in ended.runs:
        assert run.state == "done"
        assert run.deployment is not None
        found = run.deployment.storage
        assert (found.name, found.file_system) == (storage, file_system)
        assert found.is_own_device
    assert not files_of_loop_devices(folder)


_MANY_ROWS = {
    "postgresql": "select repeat(md5(i::text), 8) from generate_series(1, 20000) as i",
    "mariadb": "select repeat(md5(seq), 8) from seq_1_to_20000",
    "mysql": "with recursive n(i) as (select 1 union all select i + 1 from n where i < 1000) "
    "select repeat(sha2(n.i * 20 + m.i, 256), 4) from n, n as m where m.i <= 20",
    "sqlite": "with recursive n(i) as (select 1 union all select i + 1 from n where i < 20000) "
    "select hex(randomblob(128)) from n",
}


@pytest.mark.parametrize(
    ("system", "size", "engine"),
    [
        ("postgresql", "64M", ""),
        ("mariadb", "160M", ""),
        # Tables of these wait for free space, for ever (in a load: test_small_storages.py).
        pytest.param("mariadb", "180M", "engine=MyISAM", marks=pytest.mark.same_line),
        ("mariadb", "180M", "engine=Aria"),
        pytest.param("mysql", "300M", "engine=MyISAM", marks=pytest.mark.same_line),
        ("sqlite", "16M", ""),
    ],
)
def test_a_storage_that_fills_up_during_a_run_is_named_and_another_is_not_hurt(
    system: str, size: str, engine: str, folder: Path, assay: Assay, working_folder: Path
) -> None:
    need(system)
    (working_folder / "grow.sql").write_text(
        f"create table if not exists grown (words varchar(300)) {engine};\n"
        f"insert into grown {_MANY_ROWS[system]};\n"
    )
    small = f"loop[size={size}]:{folder}"
    ended = assay(
        "run", "grow.sql", "--on", system, "--storage", f"{small},here:{folder}",
        "--warm-up", "0", "--transactions", "25",
    )  # fmt: skip
    on_small, on_large = ended.runs
    assert ended.status == 3, ended.err
    assert str(on_small.reason).startswith(f"no space left on storage {small}: ")
    assert (on_small.state, on_large.state) == ("failed", "done")
    assert not files_of_loop_devices(folder)


def test_every_process_of_a_server_is_in_the_control_group_of_its_storage(folder: Path) -> None:
    need("postgresql")
    try:
        parent_groups(["io"])
    except MachineLimit as error:
        pytest.skip(error.message)
    (choice,) = storage_choices([f"throttled[write_iops=5000,size=128M]:{folder}"])
    with ExitStack() as stack:
        running = stack.enter_context(
            running_system(SystemChoice("postgresql"), choice, connections=4)
        )
        assert running.deployment.storage.label_notes == ("throttled",)
        assert running.directory is not None
        (group,) = running.directory.control_groups
        processes = process_table.tagged_processes(identity_of(running.directory))
        members = {int(pid) for pid in (group / PROCESSES).read_text().split()}
        assert len(members) > 3
        assert {process.pid for process in processes} == members
        users = set()
        for pid in members:
            with suppress(FileNotFoundError):  # a worker of its own that has just ended
                users.add(Path(f"/proc/{pid}").stat().st_uid)
        assert users == {running.directory.run.stat().st_uid} != {0}
    assert not group.exists()


@pytest.mark.parametrize("system", one_of_each_line(["mariadb", "mysql"]))
def test_a_raw_device_holds_the_tables_over_a_restart(system: str, folder: Path) -> None:
    need(system)
    (choice,) = storage_choices([f"raw[size=128M]:{folder}"])
    with running_system(SystemChoice(system), choice, connections=4) as running:
        deployment = running.deployment
        assert deployment.storage.file_system == "raw"
        assert deployment.settings["innodb_data_file_path"].endswith(":128Mraw")
        text = "a text that is looked for on the device"
        with session(deployment.address) as opened:
            opened.execute("CREATE TABLE held (words VARCHAR(100))")
            opened.execute(f"INSERT INTO held VALUES ('{text}')")
        assert running.directory is not None
        assert not list(running.directory.data.rglob("held*.ibd"))
        assert running.directory.raw_device is not None
        node = running.directory.raw_device
        assert running.data is None, "a copy of the folder would not have the tables"
        running.stop()
        device = Path(deployment.storage.device)
        assert text.encode() in device.read_bytes()
        with session(running.start().address) as opened:
            assert opened.execute("SELECT words FROM held").rows == [(text,)]
    assert not files_of_loop_devices(folder)
    assert not node.exists()


@pytest.mark.parametrize(
    ("system", "storage", "message"),
    [
        ("sqlite", "raw[size=64M]", "keeps its data in files, not on a raw device"),
        ("sqlite", "throttled[read_iops=9]", "limits the server's processes"),
        ("null", "throttled[read_iops=9]", "limits the server's processes"),
        ("mariadb[engine=MyISAM]", "raw[size=64M]", "only InnoDB"),
        (
            "mariadb[innodb_file_per_table=ON]",
            "raw[size=64M]",
            "on a raw device Assay sets innodb_file_per_table",
        ),
    ],
)
def test_a_system_that_cannot_be_on_a_storage_is_refused_before_the_start(
    system: str, storage: str, message: str, assay: Assay
) -> None:
    ended = assay(
        "run", "tpcb", "--on", system, "--storage", storage, "--warm-up", "0", "--transactions", "1"
    )
    assert ended.status == 2
    assert message in ended.err
