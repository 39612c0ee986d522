"""A run on a modelled disk is labelled, and says so when the disk's process has died."""

from __future__ import annotations

import signal
from pathlib import Path

import psutil
import pytest

from assay.storages.modelled import MODELLED
from plugins import assay
from running import started, wait_for_state

pytestmark = pytest.mark.skipif(
    MODELLED.why_unavailable() is not None, reason="needs root, FUSE and loop devices"
)
HANG_S = 120


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for path in (tmp_path.parent.parent, tmp_path.parent, tmp_path):
        path.chmod(0o755)  # servers run as another user
    return tmp_path


def _storage(folder: Path, profile: str) -> tuple[str, str]:
    return "--storage", f"disk=modelled[profile={profile},size=128M]:{folder}"


def test_what_is_measured_on_a_modelled_disk_is_labelled(folder: Path) -> None:
    words = ("run", "tpcb", "--on", "sqlite", "--duration", "2")
    done = assay(folder, *words, *_storage(folder, "scsi-15k"))
    assert done.returncode == 0, done.stderr
    assert "disk (modelled)" in done.stdout
    report = assay(folder, "report", "--detail")
    assert "disk (modelled)" in report.stdout
    assert "scsi-15k is modelled on the class of the 15,000 rpm" in " ".join(report.stdout.split())


def test_a_run_whose_disk_dies_fails_with_that_reason(folder: Path) -> None:
    words = ("run", "tpcb", "--on", "sqlite", "--duration", "600")
    with started(folder, *words, *_storage(folder, "nvme")) as running:
        wait_for_state(folder, "driving")
        [disk] = [
            child
            for child in psutil.Process(running.pid).children(recursive=True)
            if "serve" in child.cmdline()
        ]
        disk.send_signal(signal.SIGKILL)
        printed, said = running.communicate(timeout=HANG_S)
    assert running.returncode == 3, said
    assert "the modelled disk" in printed + said
    assert "ended by SIGKILL" in printed + said
    assert not [
        path for path in folder.iterdir() if path.name.startswith("assay-") and path.is_dir()
    ]
    assert str(folder) not in Path("/proc/self/mounts").read_text()
