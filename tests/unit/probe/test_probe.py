"""A storage is probed, or it is said why not; nothing of the probe remains."""

from __future__ import annotations

import os
import subprocess
import tempfile
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from msgspec import structs

import invented_records as invented
from assay import registry
from assay.contracts import documents
from assay.contracts.durability import NO_SETTINGS, Durability, SessionSettings
from assay.contracts.experiment import StorageChoice
from assay.contracts.storage_facts import StorageFacts
from assay.contracts.storages.abilities import Inspectable
from assay.experiment.choices.storage_words import storage_choices
from assay.probe import durability, measure
from assay.probe.measure import DEPTHS, FirstUse, Probe, probe
from assay.provision import processes
from assay.provision.directory import server_directory
from assay.provision.machine import program
from assay.provision.running_system import directory_on
from assay.provision.undo import ledger
from assay.provision.undo.ledger import clear_leftovers
from assay.storages.here import HERE
from assay.storages.tmpfs import TMPFS
from forked_programs import BIN
from waiting import wait_until

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("_own_state")]
IS_ROOT = os.geteuid() == 0
needs_fio = pytest.mark.skipif(not measure.is_installed(), reason="fio is not installed")


def probed(folder: Path, seconds: float = 1.0) -> Probe:
    choice = StorageChoice("mine", directory=str(folder))
    with HERE.prepare(choice) as made, server_directory(made.facts) as directory:
        found = probe(directory, seconds)
        assert list(directory.root.iterdir()) == []
    assert list(ledger.state_directory().iterdir()) == []
    return found


@pytest.fixture
def folder() -> Iterator[Path]:
    """Where servers may enter, and with a sign that means something to fio."""
    path = Path(f"/var/tmp/assay-test-probe:{os.getpid()}")
    path.mkdir(mode=0o755)
    yield path
    path.rmdir()  # also asserts that everything in it was removed


@needs_fio
def test_reads_writes_and_flushes_are_measured_and_the_file_is_removed(folder: Path) -> None:
    found = probed(folder)
    assert (found.storage, found.reason) == ("mine", "")
    assert found.program.startswith("fio-")
    assert [one.depth for one in found.random_reads] == list(DEPTHS)
    rates = [*found.random_reads, found.sequential_read, found.sequential_write, found.flushes]
    assert all(one and one.count > 0 and one.per_s > 0 and one.mean_ns > 0 for one in rates)
    reads, flushes = found.random_reads[0], found.flushes
    assert flushes is not None
    assert flushes.low_per_s is not None and flushes.high_per_s is not None
    assert flushes.low_per_s <= flushes.per_s <= flushes.high_per_s
    # One after the other: so many of this length fill the time.
    for one in (reads, flushes):
        assert one.per_s * one.mean_ns / 1e9 == pytest.approx(1, abs=0.5)
        assert one.bytes_per_s == pytest.approx(one.per_s * 8192, rel=0.01)
    assert documents.read_shape(Probe, found.document, "probe") == found


def test_without_fio_it_is_said_and_nothing_is_made(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(program, "SEARCH_PATH", str(tmp_path))
    found = probed(folder)
    assert found.reason == "fio is not installed: apt-get install fio"
    assert (found.random_reads, found.flushes) == ((), None)


@pytest.fixture
def programs_of_the_test(monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Where servers' programs are found first; pytest closes its own folders to their user."""
    with tempfile.TemporaryDirectory(prefix="assay-test-", dir="/var/tmp") as made:
        Path(made).chmod(0o755)
        monkeypatch.setattr(program, "SEARCH_PATH", f"{made}:{program.SEARCH_PATH}")
        monkeypatch.setattr(processes, "SEARCH_PATH", f"{made}:{processes.SEARCH_PATH}")
        yield Path(made)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("echo no such engine; exit 1", "fio ended with status 1"),
        ("echo nothing", "expected a report in JSON from fio"),
        ("echo '{\n}'", "expected a report in JSON from fio"),
    ],
)
def test_what_fio_says_when_it_fails_is_the_reason(
    folder: Path, programs_of_the_test: Path, text: str, reason: str
) -> None:
    script = programs_of_the_test / "fio"
    script.write_text(f"#!/bin/sh\n{text}\n")
    script.chmod(0o755)
    assert probed(folder).reason.startswith(reason)


@needs_fio
@pytest.mark.skipif(not IS_ROOT, reason="only root chooses the size of a tmpfs")
def test_a_full_storage_has_a_reason_and_is_left_as_it_was(monkeypatch: pytest.MonkeyPatch) -> None:
    choice = StorageChoice("small", "tmpfs", options={"size": "12M"})
    with TMPFS.prepare(choice) as made, server_directory(made.facts) as directory:
        assert probe(directory, 0.5).reason == "12.6 MB are free, expected at least 16.8 MB"
        # As if another program filled it meanwhile.
        monkeypatch.setattr(measure, "_free_bytes", lambda _: 1 << 30)
        assert probe(directory, 0.5).reason == "the storage is full"
        assert list(directory.root.iterdir()) == []


@needs_fio
def test_after_a_kill_the_next_start_ends_fio_and_removes_its_file(folder: Path) -> None:
    words = ["measure", "storage", f"here:{folder}", "--probe-seconds", "600"]
    with subprocess.Popen([BIN / "assay", *words], stderr=subprocess.DEVNULL) as child:
        wait_until(lambda: list(folder.glob("assay-*/probe")), "fio has begun")
        child.kill()
        child.wait()
    cleared = clear_leftovers()
    assert not any(one.remaining for one in cleared)
    assert str(folder) not in _command_lines()


def probed_on(word: str, seconds: float) -> Probe:
    (choice,) = storage_choices([word])
    kind = registry.storage(choice.kind)
    if reason := isinstance(kind, Inspectable) and kind.why_unavailable():
        pytest.skip(reason)
    with kind.prepare(choice) as made, directory_on(kind, made) as directory:
        found = probe(directory, seconds)
    assert found.reason == ""
    return found


@needs_fio
def test_a_probe_works_within_the_limits_of_its_storage(folder: Path) -> None:
    limits = "read_iops=100,write_iops=80"
    found = probed_on(f"throttled[{limits},fs=ext4,size=256M]:{folder}", 3.0)
    assert found.flushes is not None
    for reads in found.random_reads:
        assert 0 < reads.per_s < 130, reads
    # A flush comes with the write before it, and both count.
    assert found.flushes.per_s < 80


@needs_fio
@pytest.mark.parametrize(("options", "reach_it"), [("", True), (",mount=nobarrier", False)])
def test_it_is_seen_whether_flushes_reach_the_device(
    folder: Path, options: str, reach_it: bool
) -> None:
    found = probed_on(f"loop[size=128M{options}]:{folder}", 0.5)
    assert found.device_flushes is not None
    assert found.passes_flushes_on == reach_it


@needs_fio
def test_a_raw_device_itself_is_probed(folder: Path) -> None:
    found = probed_on(f"raw[size=256M]:{folder}", 1.0)
    assert found.is_direct and found.flushes is not None
    assert 1 << 20 < found.file_bytes <= 64 << 20
    assert all(reads.count > 0 for reads in found.random_reads)
    assert found.flushes.count > 0


@pytest.mark.alone
@needs_fio
def test_a_probe_takes_the_modelled_time_of_a_disk(folder: Path) -> None:
    found = probed_on(f"modelled[profile=hdd-7200,size=256M]:{folder}", 1.0)
    one, *_, many = found.random_reads
    # Half a turn takes 4.2 ms, and there are the seeks; of many requests the nearest is next.
    assert one.per_s < 200
    assert one.per_s < many.per_s < 1000
    assert found.sequential_read is not None and found.sequential_read.bytes_per_s < 160e6


def _command_lines() -> str:
    listed = subprocess.run(["ps", "-e", "-o", "args"], capture_output=True, text=True, check=True)
    return listed.stdout


@pytest.mark.parametrize(
    ("asked_s", "compares_storages", "seconds"),
    [(None, True, 2.0), (None, False, 0.0), (0.0, True, 0.0), (5.0, False, 5.0)],
)
def test_a_storage_that_is_compared_with_none_is_probed_only_where_that_was_asked_for(
    asked_s: float | None, compares_storages: bool, seconds: float
) -> None:
    found = FirstUse(asked_s).chosen_probe_s(compares_storages=compares_storages)
    assert found == seconds


DISK = StorageFacts("here", "here", "/srv/data", "ext4", "/dev/sda1", "rw,noatime")
HOUR_NS = 3600 * 1_000_000_000
PLACE = measure.place(DISK)


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("ASSAY_CACHE", str(tmp_path))
    return tmp_path / "measured"


def probed_before(hours: float = 2) -> Probe:
    begun_unix_ns = time.time_ns() - int(hours * HOUR_NS)
    return structs.replace(invented.probe("here", 100.0), begun_unix_ns=begun_unix_ns)


@pytest.mark.usefixtures("cache")
def test_a_probe_is_kept_for_a_day_and_shown_with_its_age() -> None:
    for hours, is_found in ((23.9, True), (24, False), (-1, False), (2, True)):
        measure.keep(probed_before(hours), PLACE)
        assert (measure.kept(Probe, PLACE) is not None) == is_found
    found = measure.kept(Probe, PLACE)
    assert found is not None and found.taken_unix_ns
    assert measure.said_age(found) == ": measured 2 h ago; --again measures anew"
    assert measure.age(probed_before()) == "" and measure.kept(Durability, PLACE) is None


def test_a_place_is_a_device_a_file_system_its_options_and_a_boot(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def of(**changes: Any) -> object:
        return measure.place(structs.replace(DISK, **changes))

    image = {"image_in": str(tmp_path)}
    others = [of(device="/dev/sdb1"), of(file_system="xfs"), of(mount_options="rw")]
    others += [of(facts={"limits": {"write_iops": 100}}), of(facts=image)]
    assert of(directory="/srv/other") == PLACE not in others
    assert of(facts=image, device="/dev/loop1") == of(facts=image, device="/dev/loop2")
    monkeypatch.setattr(measure, "boot_id", lambda: "another")
    assert of() != PLACE


@pytest.mark.parametrize(
    "content", [b"", b"\xff", b'{"storage":"here",', b'{"begun_unix_ns":"yesterday"}', None]
)
def test_a_torn_or_foreign_file_is_passed_over(cache: Path, content: bytes | None) -> None:
    measure.keep(probed_before(), PLACE)
    (file,) = cache.iterdir()
    file.unlink()
    file.mkdir() if content is None else file.write_bytes(content)
    assert measure.kept(Probe, PLACE) is None
    measure.keep(probed_before(), PLACE)
    assert (measure.kept(Probe, PLACE) is None) == (content is None)


def test_a_cache_that_cannot_be_written_is_said_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").touch()
    monkeypatch.setenv("ASSAY_CACHE", str(tmp_path / "file"))
    said: list[str] = []
    for place in (PLACE, "another"):
        measure.keep(probed_before(), place, said.append)
    (line,) = said
    assert "cannot be written" in line and "name another folder in ASSAY_CACHE" in line


@needs_fio
def test_a_probe_that_other_programs_disturbed_is_not_kept(
    cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ticks, said = iter((0, 10_000)), list[str]()
    monkeypatch.setattr(measure, "ticks_of_others", lambda _: next(ticks))
    choice = StorageChoice("mine", directory="/var/tmp")
    with HERE.prepare(choice) as made, server_directory(made.facts) as directory:
        probe(directory, 0.1, warn=said.append)
    found = "other programs used 100 % of the CPUs"
    assert said == [f"the probe of mine is not kept for a day: {found}"]
    assert not cache.exists()


def test_a_named_pipe_is_passed_over(cache: Path) -> None:
    measure.keep(probed_before(), PLACE)
    (file,) = cache.iterdir()
    file.unlink()
    os.mkfifo(file)
    assert measure.kept(Probe, PLACE) is None


def test_several_that_keep_a_probe_at_once_leave_one_whole_file(cache: Path) -> None:
    def keep_and_find(_: int) -> bool:
        measure.keep(probed_before(), PLACE)
        return measure.kept(Probe, PLACE) is not None

    with ThreadPoolExecutor(8) as threads:
        assert all(threads.map(keep_and_find, range(100)))
    (file,) = cache.iterdir()
    os.utime(file, (0, 0))
    measure.keep(probed_before(), "another")
    assert file not in cache.iterdir()


def test_a_durability_class_is_that_of_a_version_and_its_settings() -> None:
    known = invented.deployment(invented.plan([invented.SQLITE]).runs[0].cell)

    def of(settings: SessionSettings = NO_SETTINGS, **changes: Any) -> object:
        return durability._depends_on(replace(known, **changes), settings)

    others = [
        of(version="99"),
        of(settings_asked={"fsync": "off"}),
        of(SessionSettings(("SET x",))),
    ]
    assert of() not in [*others, of(durability_lowered_by=("fsync = off",))]
