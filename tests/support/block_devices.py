"""Loop devices for tests, made and removed without Assay."""

from __future__ import annotations

import os
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from assay.storages.file_systems import FILE_SYSTEMS
from programs import need_program


def _may_mount() -> bool:
    """By trying: root in a container may often not."""
    with tempfile.TemporaryDirectory() as folder:
        mounted = subprocess.run(
            ["mount", "-t", "tmpfs", "assay-test", folder], capture_output=True, check=False
        )
        if mounted.returncode == 0:
            subprocess.run(["umount", folder], check=True)
        return mounted.returncode == 0


MAY_MOUNT = os.geteuid() == 0 and _may_mount()
HAS_LOOP_DEVICES = MAY_MOUNT and os.access("/dev/loop-control", os.R_OK | os.W_OK)


def skip_without_devices(*file_systems: str) -> None:
    """Skips the test where no file system can be made on a loop device."""
    if not HAS_LOOP_DEVICES:
        pytest.skip("only root makes loop devices")
    for name in file_systems:
        need_program(FILE_SYSTEMS[name].make)


def done(*words: str | Path) -> str:
    """What a program writes that ends with status 0."""
    return subprocess.run([*map(str, words)], check=True, capture_output=True, text=True).stdout


@contextmanager
def loop_device(file: Path, size_bytes: int = 32 << 20) -> Iterator[Path]:
    """A loop device of a new sparse file."""
    with file.open("wb") as made:
        made.truncate(size_bytes)
    node = Path(done("losetup", "--find", "--show", file).strip())
    try:
        yield node
    finally:
        done("losetup", "--detach", node)
        file.unlink()


def files_of_loop_devices(folder: Path) -> list[str]:
    """Those in the folder; other programs may have loop devices of theirs at the same time."""
    listed = done("losetup", "--list", "--noheadings", "--output", "BACK-FILE").splitlines()
    return sorted(line.strip() for line in listed if line.startswith(f"{folder}/"))


def mounted_at() -> set[str]:
    return {line.split(" ")[4] for line in Path("/proc/self/mountinfo").read_text().splitlines()}
