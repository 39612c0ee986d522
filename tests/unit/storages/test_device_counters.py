"""What a device wrote and flushed, compared with what is known to be written and flushed."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from msgspec.structs import astuple

from assay.contracts.deployment import Address, Deployment, Node
from assay.contracts.storage_facts import StorageFacts
from assay.storages import device_counters, mounts
from assay.storages.block.file_systems import FILE_SYSTEMS
from assay.storages.device_counters import (
    DeviceCounts,
    Devices,
    device_at,
    devices_of,
    devices_under,
)
from assay.storages.flush_requests import flush_requests
from assay.text.files.syncing import sync_file_system
from programs import need_program

pytestmark = pytest.mark.slow

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


def test_memory_has_no_device() -> None:
    if mounts.mount_of(Path("/dev/shm")).file_system != "tmpfs":
        pytest.skip("/dev/shm is no tmpfs here")
    assert devices_under(Path("/dev/shm")) is None


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


def test_an_older_kernel_does_not_count_flushes(tmp_path: Path) -> None:
    (tmp_path / "stat").write_text("9 0 100 0 9 0 8 0 0 3 4 0 0 0 0\n")
    found = Devices((tmp_path,)).counts()
    assert found is not None
    assert found.flushes is None
