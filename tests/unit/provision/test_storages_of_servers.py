"""What servers find on their storage: one that failed or is full, pages in memory, memory that is
shared."""

from __future__ import annotations

import ctypes
import mmap
import os
import secrets
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from assay.errors import (
    FULL_DISK_HINT,
    FULL_SERVER_DISK_HINT,
    RESOURCES,
    SHARED_MEMORY,
    AssayError,
    RunFailed,
    SystemDied,
    SystemRefused,
    resources_hint,
)
from assay.provision import page_cache, running_system
from assay.provision.machine.mounts import mount_of
from assay.provision.space import Space, name_full_storage
from assay.provision.undo import ledger
from assay.provision.undo.ledger import undone_at_end
from assay.provision.undo.resources import CannotUndo, PosixSharedMemory, SharedMemory
from block_devices import MAY_MOUNT
from commands import Assay

pytestmark = pytest.mark.slow


@pytest.mark.skipif(not MAY_MOUNT, reason="only root can mount")
def test_a_file_system_that_has_become_read_only_has_failed(tmp_path: Path) -> None:
    subprocess.run(["mount", "-t", "tmpfs", "none", tmp_path], check=True)
    try:
        assert running_system.why_failed(tmp_path, "disk") is None
        subprocess.run(["mount", "-o", "remount,ro", tmp_path], check=True)
        why = running_system.why_failed(tmp_path, "disk")
        assert why is not None and "storage disk can only be read" in why
    finally:
        subprocess.run(["umount", tmp_path], check=True)


@pytest.mark.parametrize("option, expected", [("emergency_ro", "read"), ("shutdown", "shut")])
def test_the_options_of_a_failed_file_system_are_known(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, option: str, expected: str
) -> None:
    """ext4 since Linux 6.15: what the file system is mounted with stays."""
    number = tmp_path.stat().st_dev
    device = f"{os.major(number)}:{os.minor(number)}"
    mounts = tmp_path / "mountinfo"
    mounts.write_text(
        f"36 1 {device} / /data rw,relatime shared:1 - ext4 /dev/loop3 rw,{option}\n"
        "37 1 0:99 / /other ro - tmpfs none ro\n"
    )
    monkeypatch.setattr(running_system, "MOUNT_TABLE", mounts)
    why = running_system.why_failed(tmp_path, "disk")
    assert why is not None and expected in why


GB = 1 << 30


@pytest.mark.parametrize(
    ("error", "space", "is_named"),
    [
        (SystemDied("connection reset by peer"), Space(GB, GB // 200), True),
        (RunFailed("the server disconnected"), Space(GB, 4096), True),
        (SystemRefused("strange number 42"), Space(GB, GB // 2, has_free_files=False), True),
        (SystemRefused("strange number 42"), Space(GB, GB // 70), False),
        (SystemRefused("out", error_class=RESOURCES), Space(GB, GB // 70), True),
        (SystemRefused("No space left on device"), None, True),
        (SystemDied("connection reset by peer"), Space(1000 * GB, 5 * GB), False),
        (SystemDied("connection reset by peer"), None, False),
    ],
)
def test_a_full_storage_is_named(error: AssayError, space: Space | None, is_named: bool) -> None:
    assert name_full_storage(error, "small", space) is is_named
    assert error.message.startswith("no space left on storage small: ") is is_named
    if is_named and space is not None:
        assert "it has 1 GiB" in str(error.hint)


def test_what_to_do_depends_on_whose_storage_it_is() -> None:
    for is_by_url, hint in ((False, FULL_DISK_HINT), (True, FULL_SERVER_DISK_HINT)):
        error = SystemRefused("No space left on device")
        assert name_full_storage(error, "small", Space(GB, 0), is_by_url=is_by_url)
        assert error.hint == f"{hint} (it has 1 GiB)"


def test_full_shared_memory_is_not_a_full_storage() -> None:
    words = 'could not resize shared memory segment "/PostgreSQL.1" to 1048576 bytes: '
    error = SystemRefused(words + "No space left on device", error_class=RESOURCES)
    assert not name_full_storage(error, "small", Space(GB, GB // 2))
    assert error.message.startswith(f"no space left in {SHARED_MEMORY}, which has ")
    assert "--shm-size" in str(error.hint)
    assert resources_hint(error.message) == error.hint


BYTES = 3 * 1024 * 1024 + 17


def written(folder: Path) -> Path:
    (folder / "below").mkdir(parents=True)
    (folder / "below" / "table").write_bytes(b"x" * BYTES)
    (folder / "empty").touch()
    (folder / "link").symlink_to("below/table")
    return folder


@pytest.mark.disk
def test_files_on_a_disk_leave_nothing_in_the_page_cache(tmp_path: Path) -> None:
    if mount_of(tmp_path).file_system == "tmpfs":
        pytest.skip(f"{tmp_path} is on tmpfs")
    assert page_cache.drop_cached(written(tmp_path / "data")) == 0


@pytest.mark.disk
def test_what_remains_in_memory_is_counted_in_whole_pages() -> None:
    if mount_of(Path("/dev/shm")).file_system != "tmpfs":
        pytest.skip("/dev/shm is no tmpfs here")
    with tempfile.TemporaryDirectory(dir="/dev/shm") as folder:
        kept = page_cache.drop_cached(written(Path(folder, "data")))
    assert kept == -(-BYTES // mmap.PAGESIZE) * mmap.PAGESIZE


@pytest.mark.disk
def test_the_image_of_a_loop_device_without_direct_io_is_cached_itself(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(page_cache, "_SYS_BLOCK", tmp_path)
    for name, has_direct_io in (("loop3", "0"), ("loop4", "1")):
        (tmp_path / name / "loop").mkdir(parents=True)
        (tmp_path / name / "loop" / "dio").write_text(f"{has_direct_io}\n")
        (tmp_path / name / "loop" / "backing_file").write_text("/images/a b.img\n")
    assert page_cache.image_below("/dev/loop3") == Path("/images/a b.img")
    assert page_cache.image_below("/dev/loop4") is None
    assert page_cache.image_below("/dev/sda1") is None


@pytest.mark.disk
@pytest.mark.skipif(os.geteuid() != 0, reason="needs root, for a loop device")
def test_a_block_device_leaves_nothing_in_the_page_cache(tmp_path: Path) -> None:
    """While it is open: the kernel drops the pages of a device that nobody has open."""
    image = tmp_path / "image"
    image.write_bytes(os.urandom(1 << 20))
    made = subprocess.run(["losetup", "-f", "--show", image], capture_output=True, text=True)
    if made.returncode != 0:
        pytest.skip(f"no loop device can be made: {made.stderr}")
    device = Path(made.stdout.strip())
    try:
        with device.open("rb") as opened:
            assert page_cache.read_into_cache(device) == (1 << 20, 1 << 20)
            assert page_cache.drop_cached(device) == 0
            assert len(opened.read()) == 1 << 20
    finally:
        subprocess.run(["losetup", "-d", device], check=True)


@pytest.mark.disk
@pytest.mark.parametrize("storage", ["here", "tmpfs"])
def test_a_cold_start_says_what_remained_in_the_page_cache(assay: Assay, storage: str) -> None:
    ended = assay(
        "run", "glidemon.aggregate", "--on", "sqlite", "--storage", storage,
        "--cache", "cold", "--set", "scale=0.001",
    )  # fmt: skip
    assert ended.status == 0, ended.err
    (run,) = ended.runs
    assert run.deployment is not None
    kept = run.deployment.page_cache_kept_bytes
    assert kept is not None
    warned = {warning.name for warning in run.warnings}
    assert ("page-cache-kept" in warned) == (kept > 0)
    if run.deployment.storage.file_system == "tmpfs":
        assert kept > 1_000_000


MAKE = """
import ctypes, sys
if ctypes.CDLL(None).shmget(int(sys.argv[1]), 4096, 0o1600) < 0:
    sys.exit("no segment")
"""


def is_there(key: int) -> bool:
    return bool(ctypes.CDLL(None).shmget(key, 0, 0) >= 0)


@pytest.fixture
def key() -> Iterator[int]:
    found = 0x5A000000 + secrets.randbits(20)
    assert not is_there(found)
    yield found
    subprocess.run(["ipcrm", "--shmem-key", hex(found)], capture_output=True, check=False)


def make_in_another_process(key: int) -> None:
    subprocess.run([sys.executable, "-c", MAKE, str(key)], check=True)


def test_it_goes_with_the_entry_of_a_maker_that_has_ended(
    key: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ASSAY_STATE_DIRECTORY", str(tmp_path))
    with undone_at_end(ledger.new_id()) as entry:
        noted = SharedMemory.of_key(key, os.getuid())
        entry.add(noted)
        make_in_another_process(key)
        assert is_there(key)
    assert not is_there(key)
    assert noted.undo("000000000000").removed == "", "there is none any longer"
    assert SharedMemory.of_document(noted.document()) == noted


def test_one_of_a_living_process_or_from_before_is_left_alone(key: int) -> None:
    noted = SharedMemory.of_key(key, os.getuid())
    later = SharedMemory(key, os.getuid(), int(time.time()) + 60)
    of_another = SharedMemory(key, os.getuid() + 1, noted.noted_unix_s)
    make_in_another_process(key)
    for other in (later, of_another):
        with pytest.raises(CannotUndo, match="another user, or was there before"):
            other.undo("000000000000")
    assert noted.undo("000000000000").removed == f"shared memory 0x{key:08x}"
    assert ctypes.CDLL(None).shmget(key, 4096, 0o1600) >= 0
    with pytest.raises(CannotUndo, match=f"process {os.getpid()}, which is not of this run"):
        noted.undo("000000000000")
    assert is_there(key)


def test_a_file_in_shared_memory_goes_with_those_whose_numbers_it_holds(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ASSAY_STATE_DIRECTORY", str(tmp_path))
    program = f"assay-test-{os.getpid()}"
    first, named, of_others = (SHARED_MEMORY / f"{program}.{number}" for number in (7, 258, 259))
    for path in (first, named, of_others):
        path.write_bytes((258).to_bytes(4, sys.byteorder) * 1024 + b"odd")
    try:
        with first.open("r+b") as file, mmap.mmap(file.fileno(), 0):
            (noted,) = (
                one for one in PosixSharedMemory.mapped_by(os.getpid()) if one.path == str(first)
            )
        reused = PosixSharedMemory(noted.path, noted.inode + 1)
        assert reused.undo("000000000000").removed == "" and first.exists()
        with undone_at_end(ledger.new_id()) as entry:
            entry.add(noted)
        assert not first.exists() and not named.exists()
        assert of_others.exists()
        assert noted.undo("000000000000").removed == "", "there is none any longer"
    finally:
        for path in (first, named, of_others):
            path.unlink(missing_ok=True)
