"""Files are removed from the operating system's page cache, and what remains is counted."""

from __future__ import annotations

import mmap
import os
import subprocess
import tempfile
from pathlib import Path

import pytest

from assay.provision.disk import page_cache
from assay.storages.mounts import mount_of
from commands import Assay

pytestmark = [pytest.mark.slow, pytest.mark.disk]

BYTES = 3 * 1024 * 1024 + 17


def written(folder: Path) -> Path:
    (folder / "below").mkdir(parents=True)
    (folder / "below" / "table").write_bytes(b"x" * BYTES)
    (folder / "empty").touch()
    (folder / "link").symlink_to("below/table")
    return folder


def test_files_on_a_disk_leave_nothing_in_the_page_cache(tmp_path: Path) -> None:
    if mount_of(tmp_path).file_system == "tmpfs":
        pytest.skip(f"{tmp_path} is on tmpfs")
    assert page_cache.drop(written(tmp_path / "data")) == 0


def test_what_remains_in_memory_is_counted_in_whole_pages() -> None:
    if mount_of(Path("/dev/shm")).file_system != "tmpfs":
        pytest.skip("/dev/shm is no tmpfs here")
    with tempfile.TemporaryDirectory(dir="/dev/shm") as folder:
        kept = page_cache.drop(written(Path(folder, "data")))
    assert kept == -(-BYTES // mmap.PAGESIZE) * mmap.PAGESIZE


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
            assert page_cache.read(device) == (1 << 20, 1 << 20)
            assert page_cache.drop(device) == 0
            assert len(opened.read()) == 1 << 20
    finally:
        subprocess.run(["losetup", "-d", device], check=True)


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
