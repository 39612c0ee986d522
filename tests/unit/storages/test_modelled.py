"""A modelled disk is a storage: it takes its modelled time, fails on demand, and leaves nothing."""

from __future__ import annotations

import errno
import mmap
import os
import signal
import stat
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from assay.contracts.experiment import StorageChoice
from assay.contracts.storage_facts import StorageFacts
from assay.contracts.storages.abilities import (
    Accounted,
    Fault,
    FaultInjection,
    Fills,
    OwnDevice,
    PowerCut,
    RawDevice,
)
from assay.errors import ArgumentError, SystemUnderTestError
from assay.probe.durability import sync_storage
from assay.provision import processes
from assay.provision.directory import server_directory
from assay.storages import disk_model
from assay.storages.disk_model import Control
from assay.storages.modelled import MODELLED
from waiting import HANG_S, wait_until

pytestmark = pytest.mark.slow
"""Nothing here takes nearly so long; a hang does."""
can_be_had = pytest.mark.skipif(
    MODELLED.why_unavailable() is not None, reason="needs root, FUSE and loop devices"
)
SLOW_FLASH = {"profile": "sata-ssd", "program_latency": "400ms", "gc_every": "off", "fs": "ext2"}
"""What is written stays in its cache for this long, and each flush of mkfs takes it too."""


@pytest.fixture(autouse=True)
def _nothing_is_left(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setenv("ASSAY_STATE_DIRECTORY", str(tmp_path / "state"))
    yield
    # Of this test alone: others make and remove theirs at the same time.
    place = str(tmp_path)
    mounts = Path("/proc/self/mounts").read_text().splitlines()
    assert not [line for line in mounts if place in line]
    backing = Path("/sys/block").glob("loop*/loop/backing_file")
    assert not [file for file in map(_text_of, backing) if place in file]
    words = Path("/proc").glob("[0-9]*/cmdline")
    assert not [file for file in map(_text_of, words) if "disk_model" in file and place in file]
    assert not list(tmp_path.glob("assay-*"))


def _text_of(path: Path) -> str:
    """Empty where it is gone by now."""
    try:
        return path.read_text(errors="replace")
    except OSError:
        return ""


def _choice(tmp_path: Path, **options: str) -> StorageChoice:
    tmp_path.chmod(0o755)
    return StorageChoice("old disk", "modelled", str(tmp_path), options={"size": "64M", **options})


@pytest.fixture
def reachable(tmp_path: Path) -> Path:
    """Servers run as another user, who must be able to enter."""
    for path in (*tmp_path.parents, tmp_path):
        if not path.stat().st_mode & stat.S_IXOTH:
            path.chmod(0o755)
    return tmp_path


def _read_directly(device: Path, offset: int = 0) -> bytes:
    """Past the page cache."""
    descriptor = os.open(device, os.O_RDONLY | os.O_DIRECT)
    try:
        with mmap.mmap(-1, 4096) as page:
            os.preadv(descriptor, [page], offset)
            return page[:]
    finally:
        os.close(descriptor)


def _write(path: Path, content: bytes, *, is_flushed: bool) -> None:
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_DIRECT)
    try:
        with mmap.mmap(-1, len(content)) as pages:
            pages[:] = content
            os.write(descriptor, pages)
        if is_flushed:
            os.fsync(descriptor)
    finally:
        os.close(descriptor)


@can_be_had
def test_a_flush_takes_the_time_of_the_disk_and_is_accounted_for(reachable: Path) -> None:
    with MODELLED.prepare(_choice(reachable, profile="scsi-15k", fs="ext4")) as prepared:
        facts = prepared.facts
        assert (facts.file_system, facts.is_own_device) == ("ext4", True)
        assert facts.label_notes == ("modelled",)
        assert facts.facts["model"]["parameters"]["rpm"] == "15000"
        assert "Cheetah" in facts.facts["model"]["source"]
        kinds = [(row["operation"], row["depth"]) for row in facts.facts["path_cost"]]
        assert kinds == [("read", 1), ("read", 16), ("write", 1), ("write", 16), ("flush", 1)]
        *_, flush = facts.facts["path_cost"]
        # Of one write: not of all that the measurement of writes has left in the cache.
        assert flush["modelled_ns"] < 40e6
        assert isinstance(MODELLED, OwnDevice) and isinstance(MODELLED, Accounted)
        assert str(MODELLED.device_node(prepared)) == facts.device
        before = MODELLED.account(prepared)
        began_ns, began_s = time.time_ns(), time.monotonic()
        for number in range(20):
            _write(Path(facts.directory, "log"), bytes([number]) * 8192, is_flushed=True)
        took_s = time.monotonic() - began_s
        after = MODELLED.account(prepared)
        assert after.flushes - before.flushes >= 20
        assert after.written_bytes - before.written_bytes >= 20 * 8192
        # Half a revolution of 4 ms each at least: a disk without delays needs a hundredth.
        assert took_s > 20 * 0.002
        found = MODELLED.seconds(prepared, began_ns, time.time_ns())
        flushes = [second for second in found if second.operation == "flush"]
        assert sum(second.count for second in flushes) >= 20
        assert all(0 < second.longest_ns <= second.time_ns for second in flushes)
        assert not any(second.failed for second in found)


@can_be_had
def test_a_power_cut_loses_what_no_flush_had_reached(reachable: Path) -> None:
    assert isinstance(MODELLED, PowerCut)
    with MODELLED.prepare(_choice(reachable, **SLOW_FLASH)) as prepared:
        data, device = Path(prepared.facts.directory), MODELLED.device_node(prepared)
        _write(data / "kept", b"k" * 65536, is_flushed=True)
        sync_storage(data)
        _write(data / "kept", b"l" * 65536, is_flushed=False)
        lost = MODELLED.cut_power(prepared)
        assert lost["lost_bytes"] >= 65536
        assert MODELLED.why_it_died(prepared) == "the power of the modelled disk is off"
        with pytest.raises(OSError) as caught:
            _read_directly(device)
        assert caught.value.errno == errno.EIO
        MODELLED.restore_power(prepared)
        assert MODELLED.why_it_died(prepared) is None
        subprocess.run(["umount", data], check=True, timeout=HANG_S)
        subprocess.run(["mount", device, data], check=True, timeout=HANG_S)
        assert (data / "kept").read_bytes() == b"k" * 65536


@can_be_had
def test_errors_and_a_full_disk_come_on_demand_and_go(reachable: Path) -> None:
    assert isinstance(MODELLED, FaultInjection) and isinstance(MODELLED, Fills)
    with MODELLED.prepare(_choice(reachable, profile="nvme", fs="ext2")) as prepared:
        device = MODELLED.device_node(prepared)
        MODELLED.inject(prepared, (Fault("read", first_byte=1 << 20, length_bytes=4096),))
        assert _read_directly(device, 0)
        with pytest.raises(OSError, match="Input/output error"):
            _read_directly(device, 1 << 20)
        MODELLED.inject(prepared, ())
        assert _read_directly(device, 1 << 20)
        file = Path(prepared.facts.directory, "file")
        MODELLED.fill(prepared, after_bytes=8192)
        with pytest.raises(OSError) as caught:
            _write(file, b"x" * (1 << 20), is_flushed=True)
        assert caught.value.errno in (errno.ENOSPC, errno.EIO)
        MODELLED.free_again(prepared)
        with suppress(OSError):  # of what the kernel itself wrote while the disk was full
            _write(file, b"x" * (1 << 20), is_flushed=True)
        _write(file, b"x" * (1 << 20), is_flushed=True)


@can_be_had
def test_a_killed_process_means_errors_and_no_hang(reachable: Path) -> None:
    with MODELLED.prepare(_choice(reachable, profile="hdd-7200")) as prepared:
        assert MODELLED.why_it_died(prepared) is None
        os.kill(prepared.handle.disk.process.pid, signal.SIGKILL)
        with pytest.raises(OSError):
            _write(Path(prepared.facts.directory, "file"), b"x" * 8192, is_flushed=True)
        # Its requests fail a moment before the kernel has ended the process.
        why = wait_until(lambda: MODELLED.why_it_died(prepared), "its end is known")
        assert "SIGKILL" in str(why)


@can_be_had
def test_without_a_file_system_it_is_a_raw_disk(reachable: Path) -> None:
    assert isinstance(MODELLED, RawDevice)
    choice = _choice(reachable, profile="nvme", fs="none")
    assert MODELLED.is_raw(choice)
    assert not MODELLED.is_raw(_choice(reachable, profile="nvme"))
    with MODELLED.prepare(choice) as prepared:
        node = MODELLED.raw_device(prepared)
        assert (
            node is not None
            and node.stat().st_rdev == MODELLED.device_node(prepared).stat().st_rdev
        )
        facts = prepared.facts
        assert (facts.file_system, facts.size_bytes) == ("raw", MODELLED.size_bytes(choice))
        # The log of a system is in the directory, so that flushes of the disk are not its commits.
        assert Path(facts.directory).is_dir() and not facts.is_own_device
        assert facts.label_notes == ("modelled",)
        _write(node, b"r" * 8192, is_flushed=True)
        assert _read_directly(MODELLED.device_node(prepared)) == b"r" * 4096
    assert not node.exists()
    with pytest.raises(ArgumentError, match="has no mount options"):
        MODELLED.check(_choice(reachable, fs="none", mount="noatime"))


def test_an_impossible_disk_is_refused_before_anything_is_made(tmp_path: Path) -> None:
    for options, expected in (
        ({"profile": "floppy"}, "profile of .*expected scsi-10k"),
        ({"profile": "sata-ssd", "rpm": "7200"}, "rpm: a disk of the profile"),
        ({"seek_average": "4"}, "seek_average: expected a time with its unit"),
        ({"disks": "6"}, "6 disks need raid"),
        ({"spindle": "1"}, "no option 'spindle'"),
    ):
        with pytest.raises(ArgumentError, match=expected):
            MODELLED.check(_choice(tmp_path, **options))


@can_be_had
def test_a_disk_for_which_there_is_no_room_is_refused(reachable: Path) -> None:
    with (
        pytest.raises(ArgumentError, match="its image needs"),
        MODELLED.prepare(_choice(reachable, size="900T")),
    ):
        pytest.fail("there is no room")


@pytest.mark.parametrize(
    ("is_killed", "reason"),
    [(True, "the modelled disk .* was ended by SIGKILL"), (False, "was ended by SIGKILL")],
)
def test_why_a_killed_disk_cannot_be_calibrated_is_never_empty(
    is_killed: bool,
    reason: str,
    storage: StorageFacts,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    dies = "import os, signal; os.kill(os.getpid(), signal.SIGKILL)"
    monkeypatch.setattr(disk_model, "_COMMAND", (sys.executable, "-c", dies))
    idle = ["sleep", "1000"]
    with server_directory(storage) as directory, processes.start_server(idle, directory) as server:
        if is_killed:
            server.send(signal.SIGKILL)
            wait_until(server.died, "its end is known")
        disk = disk_model.ServedDisk(server, tmp_path, Control(tmp_path), tmp_path)
        with pytest.raises(SystemUnderTestError, match=f"cannot be measured: .*{reason}"):
            disk.calibrate(tmp_path)
