"""The bytes that a device wrote, compared with those that are known to be written."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from assay.storages import devices, mounts
from assay.storages.devices import devices_under

MIB = 1 << 20


@pytest.fixture
def mounted(tmp_path: Path) -> Iterator[Path]:
    """An ext4 of 256 MiB on a loop device."""
    if os.geteuid() != 0:
        pytest.skip("needs root: a file system on a loop device is mounted")
    if shutil.which("mkfs.ext4") is None:
        pytest.skip("needs mkfs.ext4 (e2fsprogs)")
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


def written(point: Path, work: int, size: int, rounds: int) -> int:
    """The bytes that the device wrote for ``rounds`` writes of ``size`` bytes, each flushed."""
    found = devices_under(point)
    assert found is not None
    before = found.transferred()
    for number in range(rounds):
        os.pwrite(work, os.urandom(size), number * size)
        os.fdatasync(work)
    after = found.transferred()
    assert before is not None and after is not None
    return after.written_bytes - before.written_bytes


def test_small_flushed_writes_count_as_the_bytes_that_the_device_wrote(mounted: Path) -> None:
    """The kernel charges the process up to 2 MiB for each of these 8 KiB: 512 MiB in place of 2."""
    file = os.open(mounted / "work", os.O_RDWR | os.O_CREAT)
    try:
        os.write(file, bytes(64 * MIB))
        os.fsync(file)
        small = written(mounted, file, 8 << 10, 256)
        # Each flush may also write an inode and one or two journal blocks of 4 KiB.
        assert 2 * MIB <= small <= 2 * MIB + 256 * 4 * (4 << 10)
        large = written(mounted, file, 16 * MIB, 2)
        assert 32 * MIB <= large <= 34 * MIB
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
    monkeypatch.setattr(devices, "_BLOCK_DEVICES", tmp_path / "block")
    node = tmp_path / "block" / "7:99"
    node.mkdir(parents=True)
    (node / "stat").write_text("9 0 100 0 9 0 8 0 0 0 0 0 0 0 0 0 0\n")
    (tmp_path / "mountinfo").write_text(below + table.format("/over", upper))
    found = devices_under(Path("/over/data"))
    assert found is not None
    assert found.transferred() == devices.Transferred(51200, 4096)
    (tmp_path / "mountinfo").write_text(below + table.format("/over", "/of/another/machine"))
    assert devices_under(Path("/over/data")) is None, "the upper directory cannot be seen"
    (node / "queue").mkdir()
    (node / "queue" / "iostats").write_text("0\n")
    assert devices_under(Path("/data")) is None, "the counters stand still"
