"""A run on a modelled disk is labelled; when the disk fails, the run ends with that reason, and
nothing is left."""

from __future__ import annotations

import signal
import sqlite3
import tempfile
from collections.abc import Iterator
from contextlib import suppress
from itertools import product
from pathlib import Path
from typing import Any

import psutil
import pytest

from assay.storages.disk_model.control import Control
from assay.storages.modelled import MODELLED
from forked_programs import Started
from plugins import assay
from running import started, wait_for_state
from waiting import HANG_S

pytestmark = pytest.mark.skipif(
    MODELLED.why_unavailable() is not None, reason="needs root, FUSE and loop devices"
)
PAUSES = ("--clients", "2", "--think-time", "constant:5ms")


@pytest.fixture
def folder() -> Iterator[Path]:
    """Pytest's own directories are closed to the servers' user."""
    with tempfile.TemporaryDirectory(prefix="assay-test-", dir="/var/tmp") as made:
        Path(made).chmod(0o755)
        yield Path(made)


def _storage(folder: Path, profile: str, *more: str) -> tuple[str, str]:
    options = ",".join((f"profile={profile}", *more))
    return "--storage", f"disk=modelled[{options}]:{folder}"


def _disk_of(running: Started) -> psutil.Process:
    disks = []
    for child in psutil.Process(running.pid).children(recursive=True):
        with suppress(psutil.NoSuchProcess):  # it may be ending, with no command line any more
            if "serve" in child.cmdline():
                disks.append(child)
    (disk,) = disks
    return disk


def _assert_nothing_is_left(folder: Path) -> None:
    assert not [
        path for path in folder.iterdir() if path.name.startswith("assay-") and path.is_dir()
    ]
    assert str(folder) not in Path("/proc/self/mounts").read_text()
    backing = Path("/sys/block").glob("loop*/loop/backing_file")
    assert not [file for file in backing if str(folder) in _text_of(file)]


def _text_of(path: Path) -> str:
    """Empty where it is gone by now."""
    try:
        return path.read_text(errors="replace")
    except OSError:
        return ""


def test_what_is_measured_on_a_modelled_disk_is_labelled_and_accounted_for(folder: Path) -> None:
    words = ("run", "tpcb", "--on", "sqlite", "--duration", "2")
    done = assay(folder, *words, *_storage(folder, "scsi-15k", "size=128M"))
    assert done.returncode == 0, done.stderr
    assert "disk (modelled)" in done.stdout
    report = assay(folder, "report", "--detail")
    assert "disk (modelled)" in report.stdout
    shown = " ".join(report.stdout.split())
    assert "scsi-15k is modelled on the class of the 15,000 rpm" in shown
    assert "Requests of modelled disks" in shown
    with sqlite3.connect(folder / "assay-records.sqlite") as record:
        found = record.execute(
            "SELECT operation, sum(count), min(second), max(second) FROM storage_requests "
            "GROUP BY operation"
        ).fetchall()
        (elapsed_s,) = record.execute(
            "SELECT max(ended_unix_ns - begun_unix_ns) / 1e9 FROM steps WHERE do = 'drive'"
        ).fetchone()
    counted = {operation: numbers for operation, *numbers in found}
    assert counted["flush"][0] > 0 and counted["write"][0] > 0
    assert 0 <= counted["flush"][1] <= counted["flush"][2] <= elapsed_s


FAILURES: dict[str, tuple[str, dict[str, Any], list[str]]] = {
    "killed": ("", {}, ["the modelled disk", "ended by SIGKILL"]),
    "power": ("power-cut", {}, ["the power of the modelled disk is off"]),
    "errors": ("errors", {"rules": [{"kind": "write"}]}, ["I/O error"]),
    "full": ("full", {"after_bytes": 100_000}, ["the modelled disk is full"]),
}
"""Command to the disk, its arguments, and what is said."""
_ANYWAY = {("killed", "sqlite"), ("power", "postgresql"), ("errors", "postgresql"),
           ("full", "sqlite")}  # fmt: skip
"""Each failure on one system; the other one with `--every-system`."""


@pytest.mark.parametrize(
    ("failure", "system"),
    [
        pytest.param(*both, marks=() if both in _ANYWAY else pytest.mark.same_line)
        for both in product(FAILURES, ("sqlite", "postgresql"))
    ],
)
def test_a_run_whose_disk_fails_ends_with_that_reason(
    folder: Path, failure: str, system: str
) -> None:
    command, arguments, expected = FAILURES[failure]
    words = ("run", "tpcb", "--on", system, "--duration", "600", "--no-probe", *PAUSES)
    with started(folder, *words, *_storage(folder, "fusion-io", "size=320M")) as running:
        wait_for_state(folder, "driving")
        disk = _disk_of(running)
        if command:
            line = disk.cmdline()
            Control(Path(line[line.index("--control") + 1])).ask(command, **arguments)
        else:
            disk.send_signal(signal.SIGKILL)
        printed, said = running.communicate(timeout=HANG_S)
    assert running.returncode == 3, said
    for words_expected in expected:
        assert words_expected in said, said
    assert "could not remove" not in printed + said
    _assert_nothing_is_left(folder)


def test_the_next_start_removes_what_a_killed_assay_left(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ASSAY_STATE_DIRECTORY", str(folder / "made"))
    words = ("run", "tpcb", "--on", "postgresql", "--duration", "600", "--no-probe", *PAUSES)
    with started(folder, *words, *_storage(folder, "hdd-7200", "size=320M")) as running:
        wait_for_state(folder, "driving")
        running.kill()
    assert str(folder) in Path("/proc/self/mounts").read_text()
    done = assay(folder, "run", "tpcb", "--on", "sqlite", "--warm-up", "0", "--transactions", "1")
    assert done.returncode == 0, done.stderr
    assert "of an earlier assay command was killed" in done.stderr
    _assert_nothing_is_left(folder)
