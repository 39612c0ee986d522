"""A storage is created, has its facts, and is removed."""

from __future__ import annotations

import contextlib
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from assay.contracts.experiment import StorageChoice
from assay.contracts.storage_facts import StorageFacts
from assay.errors import ArgumentError
from assay.provision.machine.users import ServerUser
from assay.provision.undo.leftovers import clear_leftovers
from assay.storages import Storage, here
from assay.storages.here import HERE
from assay.storages.mounts import MountLine, mount_of
from assay.storages.tmpfs import TMPFS
from block_devices import MAY_MOUNT

pytestmark = pytest.mark.slow

IS_ROOT = os.geteuid() == 0


@pytest.fixture(autouse=True)
def _own_state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ASSAY_STATE_DIRECTORY", str(tmp_path / "state"))
    monkeypatch.delenv("ASSAY_DATA_DIRECTORY", raising=False)


def test_a_named_directory_must_be_there_and_is_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    """One made at a mistyped mount point would lie on another disk."""
    inner = Path(f"/var/tmp/assay-test-{os.getpid()}/deeper")
    mistyped = StorageChoice(directory=f"{inner.parent}/deepr/data")

    def refused(hint: str, choice: StorageChoice = mistyped) -> None:
        with pytest.raises(ArgumentError, match="does not exist; the nearest") as caught:
            HERE.check(choice)
        assert hint in str(caught.value.hint)

    refused(f"make it (mkdir -p {inner.parent}/deepr/data), or choose another: here:DIRECTORY")
    inner.mkdir(parents=True)
    refused(f"did you mean {inner}?")
    monkeypatch.setenv("ASSAY_DATA_DIRECTORY", str(inner.with_name("other")))
    refused("mkdir -p", StorageChoice())
    with HERE.prepare(StorageChoice(directory=str(inner))) as made:
        facts = made.facts
        assert inner.is_dir()
        assert facts.directory == str(inner)
        assert facts.size_bytes >= facts.free_bytes > 0
        assert facts.file_system and facts.device
        assert Path(str(facts.facts["mount_point"])) in inner.parents
        assert facts.facts.get("is_rotational") in (True, False, None)
    assert inner.exists(), "it was there before"
    inner.rmdir()
    inner.parent.rmdir()


def test_of_several_systems_in_the_default_directory_the_last_to_end_removes_it(
    monkeypatch: pytest.MonkeyPatch, storage: StorageFacts
) -> None:
    monkeypatch.chdir(storage.directory)
    inner = Path(storage.directory, ".assay")
    choice = StorageChoice()
    with contextlib.ExitStack() as first, contextlib.ExitStack() as second:
        first.enter_context(HERE.prepare(choice))
        second.enter_context(HERE.prepare(choice))
        first.close()
        assert inner.exists(), "the second has it, though it is empty"
        second.close()
        assert not inner.exists()


def test_a_directory_that_a_killed_assay_made_goes_at_the_next_start() -> None:
    # First the server's own directory, which lies in it and has an entry of its own.
    program = (
        "import time\n"
        "from assay.contracts.experiment import StorageChoice\n"
        "from assay.provision.disk.directory import server_directory\n"
        "from assay.storages.here import HERE\n"
        "with HERE.prepare(StorageChoice()) as made, server_directory(made.facts) as directory:\n"
        "    print(made.facts.directory, flush=True)\n"
        "    time.sleep(1000)\n"
    )
    work = Path(f"/var/tmp/assay-test-{os.getpid()}")
    work.mkdir()
    try:
        with subprocess.Popen(
            [sys.executable, "-c", program], stdout=subprocess.PIPE, text=True, cwd=work
        ) as child:
            assert child.stdout is not None
            directory = Path(child.stdout.readline().strip())
            assert directory == work / ".assay" and list(directory.iterdir())
            child.kill()
            child.wait()
        cleared = clear_leftovers()
        assert not any(one.remaining for one in cleared)
        assert not list(work.iterdir())
    finally:
        shutil.rmtree(work)


def test_here_prefers_the_current_directory_if_the_servers_user_can_reach_it(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    ourselves = ServerUser("", os.geteuid(), os.getegid())
    monkeypatch.chdir(tmp_path)
    assert here.default_directory(ourselves) == tmp_path / ".assay"
    if IS_ROOT:
        closed = tmp_path / "closed"
        closed.mkdir(mode=0o700)
        monkeypatch.chdir(closed)
        assert here.default_directory(ServerUser("nobody", 65534, 65534)) == Path("/var/tmp")


@pytest.mark.skipif(not IS_ROOT, reason="only root runs servers as another user")
def test_here_names_the_directory_that_denies_access(tmp_path: Path) -> None:
    barred = tmp_path / "barred"
    (barred / "data").mkdir(mode=0o700, parents=True)
    barred.chmod(0o700)
    tops = [path for path in (*tmp_path.parents, tmp_path) if path.stat().st_mode & 1 == 0]
    with (
        pytest.raises(ArgumentError, match="may not enter") as caught,
        HERE.prepare(StorageChoice(directory=str(barred / "data"))),
    ):
        pytest.fail("no server could use it")
    assert caught.value.hint is not None
    assert any(caught.value.hint.endswith(f"chmod o+x {path}") for path in [*tops, barred])
    assert not list((barred / "data").iterdir())


def test_an_impossible_storage_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.touch()
    impossible: list[tuple[Storage, StorageChoice, str]] = [
        (HERE, StorageChoice(directory=str(file)), "not a directory"),
        (HERE, StorageChoice(directory=str(file / "below")), "not a directory"),
        (HERE, StorageChoice(options={"size": "1G"}), "no option 'size'"),
        (TMPFS, StorageChoice(kind="tmpfs", options={"speed": "1"}), "no option 'speed'"),
        (TMPFS, StorageChoice(kind="tmpfs", directory="/x"), "chooses its own directory"),
        (TMPFS, StorageChoice(kind="tmpfs", options={"size": "1G,exec"}), "size: expected"),
    ]
    for storage, choice, words in impossible:
        with pytest.raises(ArgumentError, match=words), storage.prepare(choice):
            pytest.fail("it cannot be had")


def test_tmpfs_is_in_memory_and_goes_away() -> None:
    options = {"size": "8M"} if MAY_MOUNT else {}
    with TMPFS.prepare(StorageChoice("fast", "tmpfs", options=options)) as made:
        facts = made.facts
        directory = Path(facts.directory)
        assert (facts.name, facts.file_system) == ("fast", "tmpfs")
        if MAY_MOUNT:
            assert directory.is_mount()
            assert facts.size_bytes == 8 << 20
        (directory / "data").write_bytes(b"x" * 4096)
    assert not directory.exists()


@pytest.mark.parametrize("place", ["in use", "idle"])
def test_a_tmpfs_of_a_killed_assay_is_removed_at_the_next_start(place: str) -> None:
    # The server's own directory is on the mount and has its own entry in the ledger.
    program = (
        "import time\n"
        "from assay.contracts.experiment import StorageChoice\n"
        "from assay.provision.processes import process\n"
        "from assay.provision.disk.directory import server_directory\n"
        "from assay.storages.tmpfs import TMPFS\n"
        "with TMPFS.prepare(StorageChoice(kind='tmpfs')) as made, "
        "server_directory(made.facts) as directory:\n"
        f"    if {place == 'in use'}:\n"
        "        server = process.start(['sleep', '1000'], directory)\n"
        "        server.__enter__()\n"
        "    print(made.facts.directory, flush=True)\n"
        "    time.sleep(1000)\n"
    )
    with subprocess.Popen(
        [sys.executable, "-c", program], stdout=subprocess.PIPE, text=True
    ) as child:
        assert child.stdout is not None
        directory = Path(child.stdout.readline().strip())
        assert directory.is_dir()
        child.kill()
        child.wait()
    cleared = clear_leftovers()
    assert [len(one.entries) for one in cleared] == [2] and not any(
        one.remaining for one in cleared
    )
    assert not directory.exists()


def test_the_mount_table_is_read_as_the_kernel_writes_it() -> None:
    table = (
        "22 1 254:0 / / rw,relatime shared:1 - ext4 /dev/root rw,errors=remount-ro\n"
        "40 22 0:33 / /data\\040disk rw,noatime - btrfs /dev/sdb1 rw,ssd\n"
        "41 22 0:34 / /srv rw - tmpfs none rw,size=1k\n"
        "42 22 8:17 / /srv ro,nosuid - xfs /dev/sdb1 ro,noquota\n"
        "43 22 0:40 / /empty rw - overlay  rw\n"
    )

    def found(path: str) -> MountLine:
        return mount_of(Path(path), table)

    assert found("/home") == MountLine(
        Path("/"), "ext4", "/dev/root", "rw,relatime,errors=remount-ro", "254:0"
    )
    assert found("/data disk/x") == MountLine(
        Path("/data disk"), "btrfs", "/dev/sdb1", "rw,noatime,ssd", "0:33"
    )
    assert found("/srv/x").file_system == "xfs", "the last mount on a point hides the others"
    assert found("/srvother").point == Path("/")
    assert found("/empty").source == ""
