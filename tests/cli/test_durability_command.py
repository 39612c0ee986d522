"""``assay measure durability``, and the durability class that ``assay run`` measures."""

from __future__ import annotations

import contextlib
import signal
import threading
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

from assay.probe.durability import PUT_OFF_S
from assay.provision.machine.mounts import MOUNT_TABLE, every_mount
from assay.storages.loop import LOOP
from assay.text.output_file import sync_file_system
from commands import Assay
from running import started
from servers import directory_for_servers
from waiting import HANG_S, wait_until

pytestmark = [
    pytest.mark.flushes,
    pytest.mark.skipif(LOOP.why_unavailable() is not None, reason="needs root and loop devices"),
]
FLUSHED, NOT_FLUSHED = "sqlite synchronous=full", "sqlite synchronous=off"
SYNCED = "other programs called sync, which flushes every file system of the machine"
BOTH = "sqlite[synchronous=full],sqlite[synchronous=off]"


@pytest.fixture
def folder() -> Iterator[str]:
    """One that servers, which run as another user, may enter."""
    with directory_for_servers() as found:
        yield found.directory


@pytest.mark.parametrize(
    "kind",
    [
        pytest.param("loop[fs=ext4,size=64M]", marks=pytest.mark.same_line),
        "modelled[profile=nvme,size=64M]",
    ],
)
def test_flushes_are_counted_on_every_device_of_its_own(
    assay: Assay, folder: str, kind: str
) -> None:
    """On a modelled disk, too: it is a process under a loop device."""
    ended = assay(
        "measure", "durability", "--on", BOTH, "--storage", f"disk={kind}:{folder}",
        "--format", "json",
    )  # fmt: skip
    assert ended.status == 0, ended.err
    found = {one["system"]: one for one in ended.document}
    assert {name: one["class"] for name, one in found.items()} == {FLUSHED: "D3", NOT_FLUSHED: "D1"}
    counted = {name: (one["flushed_before_answer"], one["commits"]) for name, one in found.items()}
    assert counted == {FLUSHED: (50, 50), NOT_FLUSHED: (0, 48)}
    assert found[FLUSHED]["longest_delay_s"] is found[FLUSHED]["reason"] is None
    assert isinstance(found[FLUSHED]["write_amplification"], float)


def test_flushes_that_other_programs_ask_for_are_not_taken_for_those_of_a_system(
    assay: Assay, folder: str
) -> None:
    """A thread syncs the storage's file system ten times a second, as a loop of sync(2) would."""
    has_ended = threading.Event()

    def sync_again_and_again() -> None:
        while not has_ended.wait(0.1):
            for mount in every_mount(MOUNT_TABLE.read_text()):
                if mount.point.is_relative_to(folder):
                    with contextlib.suppress(OSError):  # it was unmounted since
                        sync_file_system(mount.point)

    thread = threading.Thread(target=sync_again_and_again)
    thread.start()
    try:
        words = ("measure", "durability", "--on", BOTH, "--storage", f"loop[size=64M]:{folder}")
        ended = assay(*words, "--format", "json")
    finally:
        has_ended.set()
        thread.join()
    assert ended.status == 0, ended.err
    found = {one["system"]: (one["class"], one["reason"]) for one in ended.document}
    assert found == {FLUSHED: ("D3", None), NOT_FLUSHED: (None, SYNCED)}


def test_a_run_has_a_table_for_each_class(assay: Assay, folder: str) -> None:
    words = (
        "run", "tpcb.simple-update", "--on", "sqlite", "--set", "sqlite.synchronous=full,off",
        "--storage", f"loop[size=64M]:{folder}", "--clients", "1", "--warm-up", "0",
        "--transactions", "20",
        "--repetitions", "2",
    )  # fmt: skip
    ended = assay(*words, "--detail")
    assert ended.status == 0, ended.err
    shown = " ".join(ended.out.split())
    assert "durability D3 (flushed before every answer)" in shown
    assert "durability D1 (written, not flushed)" in shown
    assert "to make them D3: leave synchronous=off out" in shown
    assert ended.err.count("measure the durability") == 2, "once for each of the four runs' systems"
    found = assay("report", "--format", "json").document["tables"]["runs"]
    assert sorted((one["system"], one["durability_class"]) for one in found) == [
        (FLUSHED, "D3"), (FLUSHED, "D3"), (NOT_FLUSHED, "D1"), (NOT_FLUSHED, "D1"),
    ]  # fmt: skip
    without = assay(*words, "--no-durability", "--format", "json")
    assert without.status == 0, without.err
    runs = without.document["tables"]["runs"]
    assert [one["durability_class"] for one in runs] == [None] * 4


def test_a_kill_while_the_journal_is_put_off_leaves_no_mount(
    assay: Assay, folder: str, working_folder: Path
) -> None:
    def mounted() -> list[str]:
        lines = MOUNT_TABLE.read_text().splitlines()
        return [line for line in lines if folder in line]

    storage = f"loop[fs=ext4,size=64M]:{folder}"
    words = ("measure", "durability", "--on", "sqlite[synchronous=off]", "--storage", storage)
    with started(working_folder, *words) as running:
        wait_until(
            lambda: any(f"commit={PUT_OFF_S}" in line for line in mounted()),
            "the file system is mounted anew",
            goes_on=lambda: running.poll() is None,
        )
        psutil.Process(running.pid).send_signal(signal.SIGKILL)
        running.wait(HANG_S)
    assert mounted()
    ended = assay("run", "tpcb", "--on", "null", "--warm-up", "0", "--transactions", "1")
    assert ended.status == 0, ended.err
    assert not mounted()
