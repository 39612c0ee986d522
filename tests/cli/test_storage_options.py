"""Storages of a run: their words, their room, their limits and probes, and disks that are
modelled."""

from __future__ import annotations

import json
import os
import re
import signal
import sqlite3
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import suppress
from itertools import product
from pathlib import Path
from typing import Any

import psutil
import pytest

from assay.cli.program import run_program
from assay.probe import measure
from assay.provision.processes import SETPRIV
from assay.record import DEFAULT_FILE_NAME
from assay.storages import block_devices
from assay.storages.disk_model import Control
from assay.storages.modelled import MODELLED
from block_devices import HAS_LOOP_DEVICES, done, files_of_loop_devices, loop_device
from commands import Assay
from forked_programs import Started
from plugins import assay
from programs import need_program
from running import started, wait_for_state
from waiting import HANG_S


def test_why_a_storage_is_not_available_stands_beside_it(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("COLUMNS", raising=False)
    monkeypatch.setattr("os.geteuid", lambda: 1000)
    assert run_program(["list", "storages"]) == 0
    heading, *rows = capsys.readouterr().out.splitlines()
    assert heading.endswith("why_not_available")
    (loop,) = [row for row in rows if row.startswith("loop ")]
    assert loop.split()[1] == "no" and "root" in loop
    assert run_program(["list", "storages", "--detail"]) == 0
    assert max(map(len, capsys.readouterr().out.splitlines())) <= 140


@pytest.mark.skipif(not HAS_LOOP_DEVICES, reason="only root makes loop devices")
@pytest.mark.parametrize(
    "words", ["verify null --storage", "measure durability --on sqlite --storage"]
)
def test_a_device_is_erased_only_if_that_is_asked_for(
    words: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with loop_device(tmp_path / "disk") as node:
        done("mkfs.ext4", "-q", "-F", "-L", "photos", node)
        asked = [*words.split(), f"device[fs=ext2]:{node}"]
        assert run_program(asked) == 2
        assert "would be erased; it holds ext4 labelled 'photos'" in capsys.readouterr().err
        assert done("blkid", "--match-tag", "LABEL", "-o", "value", node).strip() == "photos"
        assert run_program([*asked, "--erase"]) == 0
        found = done("blkid", "-p", "--match-tag", "TYPE", "-o", "value", node).strip()
        assert found == "ext2"


@pytest.mark.skipif(not HAS_LOOP_DEVICES, reason="only root makes loop devices")
def test_a_mount_option_that_is_refused_late_fails_the_runs_of_its_storage_alone(
    working_folder: Path, assay: Assay
) -> None:
    refused = "loop[size=16M,mount=colour=blue]"
    (working_folder / "one.sql").write_text("select 1;\n")
    ended = assay(
        "run", "one.sql", "--on", "sqlite", "--storage", f"{refused},here",
        "--transactions", "10", "--format", "json",
    )  # fmt: skip
    assert ended.status == 2
    runs = json.loads(ended.out)["tables"]["runs"]
    assert [(run["state"], run["storage"]) for run in runs] == [
        ("failed", refused),
        ("done", "here"),
    ]
    assert "ext4 cannot be mounted with mount=colour=blue" in runs[0]["reason"]


LOOP = "loop[fs=ext4,size=64M]"


@pytest.fixture(autouse=True)
def _in_working_folder(monkeypatch: pytest.MonkeyPatch, working_folder: Path) -> None:
    monkeypatch.chdir(working_folder)
    monkeypatch.setenv("ASSAY_STATE_DIRECTORY", str(working_folder / "state"))


def planned(capfd: pytest.CaptureFixture[str], *words: str) -> tuple[list[dict[str, Any]], str]:
    assert run_program(["plan", *words, "--format", "json"]) == 0
    out, said = capfd.readouterr()
    return json.loads(out), said


def test_runs_on_a_storage_that_cannot_be_made_are_shown_and_not_begun(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(block_devices, "LOOP_CONTROL", tmp_path / "none")
    words = ["tpcb", "--on", "null,sqlite", "--storage", f"here,{LOOP}", "--transactions", "5"]
    found, said = planned(capfd, *words)
    assert [(run["storage"], run["state"]) for run in found] == [
        ("here", None), (LOOP, "unavailable"), ("here", None), (LOOP, "unavailable"),
    ]  # fmt: skip
    assert f"the storage {LOOP} is unavailable, so `assay run` would not begin: " in said
    assert all(run["reason"] in said and run["about_s"] is None for run in found if run["state"])
    assert f"space on {LOOP}" not in said
    assert run_program(["run", *words]) == 3
    assert "LOOP_CONTROL" not in said and LOOP in capfd.readouterr().err
    assert not Path(DEFAULT_FILE_NAME).exists()
    assert run_program(["run", *words, "--only", "here", "--no-probe"]) == 0


def test_storages_and_systems_that_are_missing_are_refused_together(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(block_devices, "LOOP_CONTROL", tmp_path / "none")
    monkeypatch.setenv("ASSAY_POSTGRESQL_BIN", str(tmp_path))
    words = ["tpcb", "--on", "sqlite,postgresql", "--storage", f"here,{LOOP}"]
    assert run_program(["run", *words]) == 3
    said = capfd.readouterr().err
    assert "2 systems and storages are not available on this machine:\n" in said
    assert "- postgresql: PostgreSQL's programs" in said
    assert f"- the storage {LOOP}: " in said
    found, _ = planned(capfd, *words)
    assert [run["state"] for run in found] == [
        None, "unavailable", "not installed", "not installed",
    ]  # fmt: skip


def test_space_is_that_of_the_rows_until_the_data_were_loaded_once(
    capfd: pytest.CaptureFixture[str],
) -> None:
    words = ["tpcb.select-only", "--on", "sqlite", "--transactions", "5"]
    _, before = planned(capfd, *words, "--storage", "tmpfs")
    assert re.search(r"sqlite \d\S* MB \(text of its rows, without indexes\)", before)
    assert "copies of data" in before and "as much space again" in before
    assert run_program(["run", *words, "--no-probe"]) == 0
    capfd.readouterr()
    _, measured = planned(capfd, *words, "--storage", "tmpfs", "--clients", "3")
    assert "space on tmpfs" in measured and "text of its rows" not in measured
    _, other = planned(capfd, *words, "--storage", "tmpfs", "--set", "scale=2")
    assert "text of its rows" in other, "other data"


def test_runs_on_a_storage_that_this_machine_has_not_are_listed_with_the_reason(
    assay: Assay,
) -> None:
    words = ["tpcb.select-only", "--on", "sqlite", "--storage", "here:/no/such", "--duration", "9"]
    ended = assay("plan", *words, "--repetitions", "2")
    assert ended.status == 2
    assert "here:/no/such is unavailable, so `assay run` would not begin: " in ended.err
    assert "2 runs, at least 22 s" in ended.err, "the total is that of the file, wherever it is run"
    assert "unavailable" in ended.out
    ended = assay("run", *words)
    assert ended.status == 2
    assert "/no/such" in ended.err and "run 1" not in ended.err


ASSAY = Path(sys.executable).parent / "assay"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "one.sql").write_text("select 1;\n")
    return tmp_path


def limited(
    folder: Path, limit: str, *words: str, user: tuple[str, ...] = ()
) -> subprocess.CompletedProcess[str]:
    """`assay run` under a limit of the shell."""
    command = ["bash", "-c", f'ulimit {limit} && exec "$@"', "bash", *user, str(ASSAY), "run"]
    return subprocess.run(
        [*command, *words],
        cwd=folder,
        env={**os.environ, "XDG_STATE_HOME": str(folder / "state"), "PYTHONDONTWRITEBYTECODE": "1"},
        capture_output=True,
        text=True,
        timeout=HANG_S,
        check=False,
    )


@pytest.mark.parametrize(
    ("limit", "words", "message"),
    [
        ("-n 40", "one.sql --on sqlite --clients 1000", "1000 clients need"),
        ("-n 40", "one.sql --on null[protocol=postgresql] --clients 1000", "1000 clients need"),
        (
            "-v 3000000",
            "one.sql --on sqlite --clients 2000",
            "2000 clients need 2000 threads, the limit",
        ),
        ("-c 0", "one.sql --on sqlite --clients 100000", "100000 clients need"),
        ("-n 90", "tpcb --on sqlite --load-sessions 60", "60 load sessions need"),
    ],
)
def test_too_many_clients_are_refused_before_anything_is_started(
    folder: Path, limit: str, words: str, message: str
) -> None:
    ended = limited(folder, limit, *words.split(), "--duration", "1")
    assert ended.returncode == 3, ended.stderr
    assert ended.stderr.startswith(f"error: {message}"), ended.stderr
    assert "the limit is" in ended.stderr
    assert "\nhint: use fewer --" in ended.stderr
    assert "  start" not in ended.stderr, "nothing has been started"


def test_an_ordinary_user_has_a_thread_limit(folder: Path) -> None:
    user: tuple[str, ...] = ()
    if os.geteuid() == 0:
        need_program(SETPRIV)
        # Root is exempt from the limit. This user is not, and can still read our files.
        caps = "+dac_override"
        user = ("setpriv", "--reuid=61234", "--clear-groups", f"--inh-caps={caps}")
        user = (*user, f"--ambient-caps={caps}", "--")
    words = ("one.sql", "--on", "null", "--clients", "200", "--duration", "1")
    ended = limited(folder, "-u 60", *words, user=user)
    assert ended.returncode == 3, ended.stderr
    assert "200 clients need 200 threads, the limit is 60 (RLIMIT_NPROC" in ended.stderr
    assert "hint: use fewer --clients, or raise the limit: ulimit -u " in ended.stderr


NEEDS_MODELLED = pytest.mark.skipif(
    MODELLED.why_unavailable() is not None, reason="needs root, FUSE and loop devices"
)
PAUSES = ("--clients", "2", "--think-time", "constant:5ms")


@pytest.fixture
def reachable() -> Iterator[Path]:
    """Pytest's own directories are closed to the servers' user."""
    with tempfile.TemporaryDirectory(prefix="assay-test-", dir="/var/tmp") as made:
        Path(made).chmod(0o755)
        yield Path(made)


def _storage(reachable: Path, profile: str, *more: str) -> tuple[str, str]:
    options = ",".join((f"profile={profile}", *more))
    return "--storage", f"disk=modelled[{options}]:{reachable}"


def _disk_of(running: Started) -> psutil.Process:
    disks = []
    for child in psutil.Process(running.pid).children(recursive=True):
        with suppress(psutil.NoSuchProcess):  # it may be ending, with no command line any more
            if "serve" in child.cmdline():
                disks.append(child)
    (disk,) = disks
    return disk


def _assert_nothing_is_left(reachable: Path) -> None:
    assert not [
        path for path in reachable.iterdir() if path.name.startswith("assay-") and path.is_dir()
    ]
    assert str(reachable) not in Path("/proc/self/mounts").read_text()
    assert not files_of_loop_devices(reachable)


@NEEDS_MODELLED
def test_what_is_measured_on_a_modelled_disk_is_labelled_and_accounted_for(reachable: Path) -> None:
    words = ("run", "tpcb", "--on", "sqlite", "--duration", "2")
    done = assay(reachable, *words, *_storage(reachable, "scsi-15k", "size=128M"))
    assert done.returncode == 0, done.stderr
    assert "disk (modelled)" in done.stdout
    report = assay(reachable, "report", "--detail")
    assert "disk (modelled)" in report.stdout
    shown = " ".join(report.stdout.split())
    assert "scsi-15k is modelled on the class of the 15,000 rpm" in shown
    assert "Requests of modelled disks" in shown
    with sqlite3.connect(reachable / "assay-records.sqlite") as record:
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


@NEEDS_MODELLED
@pytest.mark.parametrize(
    ("failure", "system"),
    [
        pytest.param(*both, marks=() if both in _ANYWAY else pytest.mark.same_line)
        for both in product(FAILURES, ("sqlite", "postgresql"))
    ],
)
def test_a_run_whose_disk_fails_ends_with_that_reason(
    reachable: Path, failure: str, system: str
) -> None:
    command, arguments, expected = FAILURES[failure]
    words = ("run", "tpcb", "--on", system, "--duration", "600", "--no-probe", *PAUSES)
    with started(reachable, *words, *_storage(reachable, "fusion-io", "size=320M")) as running:
        wait_for_state(reachable, "driving")
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
    _assert_nothing_is_left(reachable)


@NEEDS_MODELLED
def test_the_next_start_removes_what_a_killed_assay_left(
    reachable: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ASSAY_STATE_DIRECTORY", str(reachable / "made"))
    words = ("run", "tpcb", "--on", "postgresql", "--duration", "600", "--no-probe", *PAUSES)
    with started(reachable, *words, *_storage(reachable, "hdd-7200", "size=320M")) as running:
        wait_for_state(reachable, "driving")
        running.kill()
    assert str(reachable) in Path("/proc/self/mounts").read_text()
    done = assay(
        reachable, "run", "tpcb", "--on", "sqlite", "--warm-up", "0", "--transactions", "1"
    )
    assert done.returncode == 0, done.stderr
    assert "of an earlier assay command was killed" in done.stderr
    _assert_nothing_is_left(reachable)


needs_fio = pytest.mark.skipif(not measure.is_installed(), reason="fio is not installed")
SHORT = ("--probe-seconds", "0.5")


@needs_fio
def test_a_document_has_the_figures_of_each_storage(assay: Assay) -> None:
    ended = assay("measure", "storage", "here", "mine=here", *SHORT, "--format", "json")
    assert ended.status == 0, ended.err
    first, second = ended.document
    assert (first["storage"], second["storage"]) == ("here", "mine")
    for one in (first, second):
        assert one["flushes_per_s"] > 0 and one["reads_depth_32_per_s"] > 0
        assert one["file_system"] and one["mount_options"] and one["free_bytes"] > 0


@pytest.mark.parametrize(
    ("words", "status", "said"),
    [
        (("nowhere",), 2, "unknown storage 'nowhere'"),
        (("here", "--probe-seconds", "0"), 2, "expected a number of seconds from"),
        (("tmpfs:/x",), 2, "storage 'tmpfs:/x'"),
    ],
)
def test_what_cannot_be_probed_is_refused(
    assay: Assay, words: tuple[str, ...], status: int, said: str
) -> None:
    ended = assay("measure", "storage", *words)
    assert (ended.status, ended.out) == (status, "")
    assert said in ended.err


@needs_fio
def test_a_run_keeps_the_probe_of_each_storage_once(assay: Assay, working_folder: Path) -> None:
    ended = assay(
        "run", "tpcb.simple-update", "--on", "sqlite", "--storage", "here,other=tmpfs",
        "--repetitions", "2", "--clients", "1", "--warm-up", "0",
        "--transactions", "100", *SHORT, "--format", "json",
    )  # fmt: skip
    assert ended.status == 0, ended.err
    tables = ended.document["tables"]
    assert [one["storage"] for one in tables["storage_probes"]] == ["here", "other"]
    for run in tables["runs"]:
        assert run["commits"] == 100
        # Nothing is flushed in memory.
        assert (run["commit_efficiency"] or 0) > 0 or run["storage"] == "other"
    connection = sqlite3.connect(working_folder / DEFAULT_FILE_NAME)
    (count,) = connection.execute("SELECT count(*) FROM probes").fetchone()
    connection.close()
    assert count == 2


def test_probing_options_without_effect_or_against_each_other_are_refused(assay: Assay) -> None:
    both = assay("run", "tpcb", "--on", "sqlite", "--no-probe", "--probe-seconds", "1")
    assert both.status == 2
    assert "--no-probe and --probe-seconds" in both.err
    words = ("run", "tpcb", "--on", "null:///", "--warm-up", "0", "--transactions", "1")
    by_url = assay(*words, "--probe-seconds", "1")
    assert by_url.status == 2
    assert "--probe-seconds does not apply" in by_url.err
    assert "--again does not apply" in assay(*words, "--again").err
    for without in (("--no-durability", "--no-probe"), ("--probe-seconds", "0")):
        assert "does not apply" not in assay(*words, *without).err, "to leave it out is no mistake"
