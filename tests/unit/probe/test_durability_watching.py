"""What a device does for commits, and the class that follows from it."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path

import pytest

from assay.contracts.storage_facts import StorageFacts
from assay.probe import durability, flushes
from assay.probe.durability import own_flushes_put_off, sync_storage
from assay.probe.flushes import (
    Counts,
    FlushCounter,
    Idle,
    Watched,
    follow,
    idle,
    watch,
    why_flushes_are_not_counted,
)
from assay.provision.machine.mounts import mount_of
from assay.storages.device_counters import devices_under
from block_devices import skip_without_devices
from own_device import own_device

pytestmark = [pytest.mark.slow, pytest.mark.flushes]
PAGE = 4096
QUIET = Idle(2.0, 0, 0)


class Device:
    """Counters that a test advances."""

    def __init__(self) -> None:
        self.flushes = self.written_bytes = 0

    def read(self) -> Counts:
        return Counts(self.flushes, self.written_bytes)

    def write(self) -> None:
        self.written_bytes += PAGE

    def flush(self) -> None:
        self.flushes += 1


@pytest.fixture(autouse=True)
def few_commits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(flushes, "COMMITS", 8)
    monkeypatch.setattr(flushes, "_SLACK_S", 0.0)


def class_of(watched: list[Watched], written_bytes: int, idle: Idle = QUIET) -> str | None:
    found = durability.classified(
        watched,
        idle,
        followed_bytes=PAGE,
        payload_bytes=len(watched) * PAGE,
        written_bytes=written_bytes,
        elapsed_s=1.0,
        file_system_flushes="",
    )
    return found.durability_class


def watched_on(device: Device, commit: Callable[[], None], limit_s: float = 0.2) -> list[Watched]:
    return all_watched(commit, device.read, PAGE // 2, limit_s)


def all_watched(
    commit: Callable[[], None], read: Callable[[], Counts], least_bytes: int, limit_s: float
) -> list[Watched]:
    first = watch(lambda: None, commit, read, least_bytes)
    waits = all(one.is_flushed_before_answer for one in first)
    return [*first, *follow(lambda: None, commit, read, least_bytes, limit_s, waits=waits)]


def test_a_flush_behind_the_write_of_every_commit_is_d3() -> None:
    device = Device()

    def commit() -> None:
        device.write()
        device.flush()

    watched = watched_on(device, commit)
    assert len(watched) == 8 and all(one.is_flushed_before_answer for one in watched)
    assert class_of(watched, device.written_bytes) == "D3"


def test_one_commit_without_a_flush_is_not_d3() -> None:
    device = Device()

    def commit() -> None:
        device.write()
        if device.written_bytes != 3 * PAGE:
            device.flush()

    watched = watched_on(device, commit)
    assert sum(one.is_flushed_before_answer for one in watched) == 4, "the last three were followed"
    assert class_of(watched, device.written_bytes) == "D2"


def test_flushes_without_a_write_are_not_taken_for_those_of_commits() -> None:
    """As of a log that is flushed at every tick, whether anything was written or not."""
    device = Device()
    watched = watched_on(device, device.flush)
    assert not any(one.is_flushed_before_answer for one in watched)
    assert class_of(watched, 0) == "D0"


def test_a_write_behind_the_flush_is_not_flushed() -> None:
    """The kernel may write pages back later; nothing flushes them."""
    device = Device()

    def commit() -> None:
        device.flush()
        threading.Timer(0.05, device.write).start()

    watched = watched_on(device, commit, 0.4)
    assert watched[-1].delay_ns is None
    assert class_of(watched, 8 * PAGE) == "D1"


@contextmanager
def every_50_ms(work: Callable[[], None]) -> Iterator[None]:
    stop = threading.Event()

    def loop() -> None:
        while not stop.wait(0.05):
            work()

    thread = threading.Thread(target=loop)
    thread.start()
    try:
        yield
    finally:
        stop.set()
        thread.join()


def test_a_flush_within_the_limit_of_every_commit_that_is_followed_is_d2() -> None:
    device = Device()
    waiting: list[int] = []

    def flush() -> None:
        if waiting:
            device.written_bytes += PAGE * len(waiting)
            waiting.clear()
            device.flush()

    with every_50_ms(flush):
        watched = watched_on(device, lambda: waiting.append(1), 60.0)
    delays = [one.delay_ns for one in watched[-3:]]
    assert all(delay is not None and 0 <= delay < 60_000_000_000 for delay in delays)
    assert class_of(watched, device.written_bytes) == "D2"


def test_a_flush_of_the_first_rows_is_not_that_of_the_commit() -> None:
    """As of a log that is flushed in the middle of a long transaction, and 500 ms after its end: on
    a busy machine less of that is left when the commit is answered."""
    device = Device()

    def rest() -> None:
        device.write()
        device.flush()

    def commit() -> None:
        device.write()
        device.flush()
        threading.Timer(0.5, rest).start()

    watched = follow(lambda: None, commit, device.read, PAGE // 2, 60.0, waits=False)
    assert len(watched) == 3
    assert all(one.delay_ns is not None and one.delay_ns >= 20_000_000 for one in watched), watched


def test_flushes_without_commits_leave_d2_open_but_not_d3_and_d1() -> None:
    busy = Idle(2.0, 7, PAGE)
    late, missing, before = Watched(False, 10), Watched(False, None), Watched(True, 0)
    assert class_of([late] * 8, 8 * PAGE, busy) is None
    assert class_of([late] * 8, 8 * PAGE) == "D2"
    assert class_of([before] * 8, 8 * PAGE, busy) == "D3"
    assert class_of([late, late, missing], 3 * PAGE, busy) == "D1"


def test_flushes_of_less_than_a_commit_are_the_system_s_own(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """As of a job that runs every second: what is followed is larger than what it writes."""
    monkeypatch.setattr(flushes, "IDLE_S", 0.01)
    small, large = Device(), Device()

    def work(device: Device, size: int) -> Counts:
        device.flush()
        device.written_bytes += size
        return device.read()

    found = idle(lambda: work(small, PAGE // 8), PAGE // 2)
    assert (found.flushes, found.written_bytes) == (1, PAGE // 8)
    assert class_of([Watched(False, 10)] * 8, 8 * PAGE, found) == "D2"
    found = idle(lambda: work(large, PAGE), PAGE // 2)
    assert large.flushes == 20, "every try had as much as a commit"
    assert class_of([Watched(False, 10)] * 8, 8 * PAGE, found) is None


def test_what_is_written_without_commits_does_not_hide_that_nothing_was_written_for_them() -> None:
    missing = Watched(False, None)
    busy = Idle(2.0, 0, 200 * PAGE)
    assert class_of([missing] * 8, 100 * PAGE, busy) == "D0"
    assert class_of([missing] * 8, 100 * PAGE) == "D1"


# On a device.


def watched_files(
    storage: StorageFacts, *, flushes: bool, put_off: bool = True
) -> tuple[list[Watched], str]:
    """A program that appends a page for each commit, and flushes it or not; and that makes and
    removes a file, as a rollback journal is: that is in the file system's own journal."""
    directory = Path(storage.directory)
    devices = devices_under(directory)
    assert devices is not None and why_flushes_are_not_counted(devices) is None
    file = os.open(directory / "work", os.O_WRONLY | os.O_CREAT)

    def commit() -> None:
        os.write(file, os.urandom(PAGE))
        (directory / "journal").touch()
        (directory / "journal").unlink()
        if flushes:
            os.fdatasync(file)

    how = own_flushes_put_off(directory) if put_off else nullcontext("")
    try:
        with how as words:
            sync_storage(directory)
            return all_watched(commit, FlushCounter(devices).read, 1, 3.0), words
    finally:
        os.close(file)


@pytest.mark.usefixtures("_own_state")
@pytest.mark.parametrize("file_system", ["ext2", "ext3", "ext4", "xfs", "btrfs"])
def test_a_program_that_flushes_each_commit_is_seen(file_system: str) -> None:
    skip_without_devices(file_system)
    with own_device(file_system) as storage:
        watched, _ = watched_files(storage, flushes=True)
        assert all(one.is_flushed_before_answer for one in watched)


@pytest.mark.usefixtures("_own_state")
def test_the_mount_is_as_it_was_once_flushes_were_put_off() -> None:
    """Also where the journal has the data: the kernel shows an option that ext3 does not take."""
    skip_without_devices("ext3")
    with own_device("ext3", "noatime,data=journal") as storage:
        directory = Path(storage.directory)
        before = mount_of(directory).options
        with own_flushes_put_off(directory):
            assert {"commit=3600", "noatime"} <= {*mount_of(directory).options.split(",")}
        assert mount_of(directory).options == before


@pytest.mark.usefixtures("_own_state")
@pytest.mark.parametrize("file_system", ["ext3", "ext4", "btrfs"])
def test_the_journal_of_a_file_system_is_not_taken_for_a_flush_of_the_system(
    file_system: str,
) -> None:
    """Its interval of 1 s is within the limit of 3 s: without putting it off, a program that never
    flushes seems to flush within a second. Where the kernel is late with its journal three times,
    there is nothing to put off."""
    skip_without_devices(file_system)
    with own_device(file_system, "commit=1") as storage:
        options = mount_of(Path(storage.directory)).options
        watched, words = watched_files(storage, flushes=False)
        assert watched[-1].delay_ns is None
        assert words == f"{file_system}'s own flushes put off: commit=3600"
        assert mount_of(Path(storage.directory)).options == options
        tries = (watched_files(storage, flushes=False, put_off=False)[0] for _ in range(3))
        if not any(watched[-1].delay_ns is not None for watched in tries):
            pytest.skip(f"the journal of {file_system} was not written within 3 s, three times")


@pytest.mark.usefixtures("_own_state")
def test_a_mount_without_barriers_flushes_nothing() -> None:
    skip_without_devices("ext4")
    with own_device("ext4", "barrier=0") as storage:
        watched, _ = watched_files(storage, flushes=True)
        assert not any(one.is_flushed_before_answer for one in watched)
        assert watched[-1].delay_ns is None
