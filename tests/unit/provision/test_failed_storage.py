"""A file system that takes no more changes after an error of its disk is named."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from assay.provision import running_system
from block_devices import MAY_MOUNT

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
    monkeypatch.setattr(running_system, "_MOUNTS", mounts)
    why = running_system.why_failed(tmp_path, "disk")
    assert why is not None and expected in why


def test_another_mount_that_can_only_be_read_is_none_of_its_business(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    number = tmp_path.stat().st_dev
    mounts = tmp_path / "mountinfo"
    mounts.write_text(
        f"36 1 {os.major(number)}:{os.minor(number)} /etc /etc ro - ext4 /dev/vda rw\n"
        "37 1 0:99 / /other ro - tmpfs none ro\n"
    )
    monkeypatch.setattr(running_system, "_MOUNTS", mounts)
    assert running_system.why_failed(tmp_path, "disk") is None
