"""A storage is created, has its facts and the counters of its device, and is removed."""

from __future__ import annotations

import contextlib
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from msgspec.structs import astuple

from assay.contracts.deployment import Address, Deployment, Node
from assay.contracts.experiment import StorageChoice
from assay.contracts.observation import DeviceCounts
from assay.contracts.storage_facts import StorageFacts
from assay.errors import ArgumentError
from assay.provision.machine import mounts
from assay.provision.machine.mounts import MountLine, mount_of
from assay.provision.machine.users import ServerUser
from assay.provision.undo.ledger import clear_leftovers
from assay.storages import Storage, device_counters, here
from assay.storages.device_counters import (
    Devices,
    device_at,
    devices_of,
    devices_under,
    flush_requests,
)
from assay.storages.file_systems import FILE_SYSTEMS
from assay.storages.here import HERE
from assay.storages.tmpfs import TMPFS
from assay.text.output_file import sync_file_system
from block_devices import MAY_MOUNT
from programs import need_program

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("_own_state")]
IS_ROOT = os.geteuid() == 0


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
        "from assay.provision.directory import server_directory\n"
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
        "from assay.provision import processes\n"
        "from assay.provision.directory import server_directory\n"
        "from assay.storages.tmpfs import TMPFS\n"
        "with TMPFS.prepare(StorageChoice(kind='tmpfs')) as made, "
        "server_directory(made.facts) as directory:\n"
        f"    if {place == 'in use'}:\n"
        "        server = processes.start_server(['sleep', '1000'], directory)\n"
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
        Path("/"),
        "ext4",
        "/dev/root",
        "rw,relatime,errors=remount-ro",
        "254:0",
        "/",
        "rw,errors=remount-ro",
    )
    assert found("/data disk/x") == MountLine(
        Path("/data disk"), "btrfs", "/dev/sdb1", "rw,noatime,ssd", "0:33", "/", "rw,ssd"
    )
    assert found("/srv/x").file_system == "xfs", "the last mount on a point hides the others"
    assert found("/srvother").point == Path("/")
    assert found("/empty").source == ""


FSTAB = """\
# /dev/sda1 /commented ext4
/dev/sda2 /        ext4 defaults 0 1
/dev/sdb1 /mnt/ssd ext4 noauto   0 0
/dev/sdc1 /mnt/a\\040b xfs defaults 0 0
/dev/sdd1 /mnt/ssd/inner xfs defaults 0 0
/dev/sde1 none swap sw 0 0
"""
MOUNTED = """\
21 1 8:2 / / rw - ext4 /dev/sda2 rw
22 21 8:5 / /mnt/ssd/inner rw - xfs /dev/sdd1 rw
"""


@pytest.mark.parametrize(
    ("path", "point"),
    [
        ("/mnt/ssd", "/mnt/ssd"), ("/mnt/ssd/data", "/mnt/ssd"), ("/mnt/ssd/inner/data", None),
        ("/mnt/a b", "/mnt/a b"), ("/mnt/ssd2", None), ("/commented", None), ("/srv", None),
    ],
)  # fmt: skip
def test_the_innermost_mount_point_counts(path: str, point: str | None) -> None:
    found = mounts.unmounted_point(Path(path), FSTAB, MOUNTED)
    assert found == (None if point is None else Path(point))


def test_a_storage_there_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    table = tmp_path / "fstab"
    table.write_text(f"/dev/sdb1 {tmp_path} ext4 noauto 0 0\n")
    choice = StorageChoice("ssd", "here", str(tmp_path))
    here.HERE.check(choice)
    monkeypatch.setattr(mounts, "FSTAB", table)
    with pytest.raises(ArgumentError, match=r"is a mount point in .*nothing is mounted there"):
        here.HERE.check(choice)


MIB = 1 << 20


@pytest.fixture
def mounted(tmp_path: Path) -> Iterator[Path]:
    """An ext4 of 256 MiB on a loop device."""
    if os.geteuid() != 0:
        pytest.skip("needs root: a file system on a loop device is mounted")
    need_program(FILE_SYSTEMS["ext4"].make)
    image, point = tmp_path / "image", tmp_path / "mounted"
    with image.open("wb") as file:
        file.truncate(256 * MIB)
    subprocess.run(["mkfs.ext4", "-q", "-F", "-E", "lazy_itable_init=0", image], check=True)
    point.mkdir()
    done = subprocess.run(["mount", "-o", "loop", image, point], capture_output=True, text=True)
    if done.returncode:
        pytest.skip(f"no loop device can be mounted here: {done.stderr.strip()}")
    yield point
    subprocess.run(["umount", point], check=True)


def written(point: Path, work: int, size: int, rounds: int) -> DeviceCounts:
    """What the device did for ``rounds`` writes of ``size`` bytes, each flushed."""
    found = devices_under(point)
    assert found is not None
    before = found.counts()
    for number in range(rounds):
        os.pwrite(work, os.urandom(size), number * size)
        os.fdatasync(work)
    after = found.counts()
    assert before is not None and after is not None
    return DeviceCounts(
        *(
            None if None in pair else pair[1] - pair[0]
            for pair in zip(astuple(before), astuple(after), strict=True)
        )
    )


@pytest.mark.flushes
def test_small_flushed_writes_count_as_the_bytes_that_the_device_wrote(mounted: Path) -> None:
    """The kernel charges the process up to 2 MiB for each of these 8 KiB: 512 MiB in place of 2."""
    file = os.open(mounted / "work", os.O_RDWR | os.O_CREAT)
    try:
        os.write(file, bytes(64 * MIB))
        os.fsync(file)
        small = written(mounted, file, 8 << 10, 256)
        # Each flush may also write an inode and one or two journal blocks of 4 KiB.
        assert 2 * MIB <= small.written_bytes <= 2 * MIB + 256 * 4 * (4 << 10)
        assert small.writes is not None and small.writes >= 256
        # The kernel counts the busy time by ticks, and a fast device is idle at all of them.
        assert small.busy_ns is not None and small.queue_ns
        # A flush that follows a journal's commit may be a second one.
        assert small.flushes is not None and 256 <= small.flushes <= 2 * 256 + 8
        large = written(mounted, file, 16 * MIB, 2)
        assert 32 * MIB <= large.written_bytes <= 34 * MIB
        assert large.flushes is not None and 2 <= large.flushes <= 16
    finally:
        os.close(file)


@pytest.mark.flushes
def test_flushes_without_data_are_no_writes(mounted: Path) -> None:
    """The kernel counts 100 such requests as 100 writes. A file that is made has a journal's write
    instead, which carries data and needs flushes before and behind it."""
    devices = devices_under(mounted)
    assert devices is not None
    file = os.open(mounted / "work", os.O_RDWR | os.O_CREAT)
    os.write(file, bytes(1 * MIB))
    os.fsync(file)
    sync_file_system(mounted)

    def grown(work: Callable[[], object]) -> tuple[int, int]:
        before = devices.counts()
        with flush_requests(devices.nodes) as requests:
            work()
            empty = requests.count()
        after = devices.counts()
        assert before is not None and after is not None
        assert before.writes is not None and after.writes is not None
        if empty is None:
            pytest.skip("this kernel does not let requests for a flush be counted")
        return after.writes - before.writes, empty

    def overwrite_by_many() -> None:
        def write(client: int) -> None:
            for number in range(25):
                os.pwrite(file, os.urandom(4096), (client * 25 + number) * 4096)
                os.fdatasync(file)

        with ThreadPoolExecutor(4) as clients:
            list(clients.map(write, range(4)))

    def make() -> None:
        made = os.open(mounted / "made", os.O_WRONLY | os.O_CREAT)
        os.write(made, bytes(4096))
        os.fsync(made)
        os.close(made)

    try:
        writes, empty = grown(lambda: [os.fdatasync(file) for _ in range(100)])
        assert writes == empty == 100
        writes, empty = grown(overwrite_by_many)
        assert empty == 100, "each is counted, also where one flush answered several"
        assert writes - empty >= 90, "the kernel merges adjacent writes"
        writes, empty = grown(make)
        assert (writes >= 2, empty) == (True, 0)
    finally:
        os.close(file)


def test_the_device_below_a_stacked_file_system_is_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    upper = tmp_path / "upper"
    upper.mkdir()
    table = "30 1 0:40 / {} rw - overlay overlay rw,lowerdir=/l,upperdir={},workdir=/w\n"
    below = "1 0 7:99 / / rw - ext4 /dev/loop99 rw\n"
    monkeypatch.setattr(mounts, "MOUNT_TABLE", tmp_path / "mountinfo")
    monkeypatch.setattr(device_counters, "_BLOCK_DEVICES", tmp_path / "block")
    node = tmp_path / "block" / "7:99"
    node.mkdir(parents=True)
    (node / "stat").write_text("9 0 100 0 9 0 8 0 0 3 4 0 0 0 0 5 1\n")
    (tmp_path / "mountinfo").write_text(below + table.format("/over", upper))
    found = devices_under(Path("/over/data"))
    assert found is not None
    assert found.counts() == DeviceCounts(51200, 4096, 9, 9, 5, 3_000_000, 4_000_000)
    (tmp_path / "mountinfo").write_text(below + table.format("/over", "/of/another/machine"))
    assert devices_under(Path("/over/data")) is None, "the upper directory cannot be seen"
    (node / "queue").mkdir()
    (node / "queue" / "iostats").write_text("0\n")
    assert devices_under(Path("/data")) is None, "the counters stand still"


def test_flushes_of_a_partition_are_those_of_its_disk(tmp_path: Path) -> None:
    """The kernel counts them at the disk alone; the partition's own counter stays at 0."""
    disk, partition = tmp_path / "sdz", tmp_path / "sdz" / "sdz1"
    (disk / "queue").mkdir(parents=True)
    partition.mkdir()
    (partition / "partition").write_text("1\n")
    cache = disk / "queue" / "write_cache"
    cache.write_text("write back\n")
    (disk / "stat").write_text("90 0 1000 0 90 0 80 0 0 30 40 0 0 0 0 7 1\n")
    (partition / "stat").write_text("9 0 100 0 9 0 8 0 0 3 4 0 0 0 0 0 0\n")
    found = Devices((partition,)).counts()
    assert found is not None
    assert (found.reads, found.flushes) == (9, 7)
    cache.write_text("write through\n")
    found = Devices((partition,)).counts()
    assert found is not None
    assert found.flushes is None, "a device without a cache is sent no flushes: none is not zero"


def test_a_storage_with_a_device_of_its_own_has_that_one_alone(tmp_path: Path) -> None:
    device = Path("/dev/loop0")
    if not device.is_block_device():
        pytest.skip("no loop devices here")
    facts = StorageFacts("raw", "raw", str(tmp_path), device=str(device), is_own_device=True)
    deployment = Deployment(
        system="null",
        label="null",
        nodes=(Node("0", facts, directory=tmp_path),),
        endpoints=(Address("null"),),
        version="1",
        options={},
        settings_asked={},
        settings={},
    )
    found = devices_of(deployment)
    assert found is not None
    assert found.label == "loop0"


def test_a_file_that_is_no_device_has_no_counters() -> None:
    assert device_at(Path("/dev/null")) is None
    assert device_at(Path("/dev/there-is-none")) is None
