"""What was measured is found again for a day, for the same storage, system and boot alone."""

from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from msgspec import structs

import invented_records as invented
from assay.contracts.durability import NO_SETTINGS, Durability
from assay.contracts.storage_facts import StorageFacts
from assay.probe import kept
from assay.probe.measure import Probe, age

DISK = StorageFacts("here", "here", "/srv/data", "ext4", "/dev/sda1", "rw,noatime")
HOUR_NS = 3600 * 1_000_000_000
NOW_NS = 1_700_000_000 * 1_000_000_000


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("ASSAY_CACHE", str(tmp_path))
    monkeypatch.setattr("time.time_ns", lambda: NOW_NS)
    return tmp_path / "measured"


def measured(hours_ago: float = 2) -> Probe:
    begun = NOW_NS - int(hours_ago * HOUR_NS)
    return structs.replace(invented.probe("here", 100.0), begun_unix_ns=begun)


def found(seconds: float = 2.0, **changes: Any) -> Probe | None:
    return kept.find(Probe, *kept.of_probe(structs.replace(DISK, **changes), seconds))


def keep(probe: Probe, storage: StorageFacts = DISK) -> None:
    kept.keep(probe, *kept.of_probe(storage, 2.0))


def test_a_probe_is_found_again_with_its_age_on_the_same_storage_alone(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    keep(measured())
    one = found(directory="/srv/other")
    assert one == structs.replace(measured(), taken_unix_ns=NOW_NS)
    assert (age(one), age(measured())) == ("2 h", "")
    assert kept.in_a_stage(one) == "measured 2 h ago; --again measures anew"
    assert found(seconds=10.0) is None
    for change in (
        {"device": "/dev/sdb1"}, {"file_system": "xfs"}, {"mount_options": "rw,nobarrier"},
        {"facts": {"limits": {"write_iops": 100}}},
    ):  # fmt: skip
        assert found(**change) is None, change
    monkeypatch.setattr(kept, "boot_id", lambda: "another")
    assert found() is None


def test_a_loop_device_is_the_device_of_its_image(tmp_path: Path) -> None:
    image = structs.replace(DISK, device="/dev/loop1", facts={"image_in": str(tmp_path)})
    keep(measured(), image)
    assert found(facts=image.facts, device="/dev/loop2") and not found()


@pytest.mark.parametrize(("hours_ago", "is_found"), [(23.9, True), (24, False), (-1, False)])
def test_a_day_is_the_longest(folder: Path, hours_ago: float, is_found: bool) -> None:
    keep(measured(hours_ago))
    assert (found() is not None) == is_found
    (old,) = folder.iterdir()
    os.utime(old, (0, 0))
    keep(measured(), structs.replace(DISK, file_system="xfs"))
    (new,) = folder.iterdir()
    assert new != old


@pytest.mark.parametrize(
    "content",
    [
        b"", b"\xff", b'{"storage":"here","begun_unix_ns"', b'{"begun_unix_ns":"yesterday"}',
        b'{"storage":"here","begun_unix_ns":1,"new":2}', None,
    ],
)  # fmt: skip
def test_a_torn_or_foreign_file_is_passed_over(folder: Path, content: bytes | None) -> None:
    keep(measured())
    (file,) = folder.iterdir()
    file.unlink()
    file.mkdir() if content is None else file.write_bytes(content)
    assert found() is None
    keep(measured())
    assert (found() is None) == (content is None)


def test_a_cache_that_cannot_be_made_is_no_mistake(folder: Path) -> None:
    folder.write_text("a file where the folder should be")
    keep(measured())
    assert found() is None


def test_several_at_once_leave_a_whole_file(folder: Path) -> None:
    def keep_and_find(number: int) -> bool:
        keep(structs.replace(measured(), seconds=float(number)))
        return found() is not None

    with ThreadPoolExecutor(8) as threads:
        assert all(threads.map(keep_and_find, range(100)))
    assert len([*folder.iterdir()]) == 1


def test_durability_is_that_of_a_version_and_its_settings() -> None:
    known = invented.deployment(invented.plan([invented.SQLITE]).runs[0].cell)
    d3 = Durability("D3", commits=50, begun_unix_ns=NOW_NS - HOUR_NS)
    kept.keep(d3, *kept.of_durability(known, NO_SETTINGS))
    assert kept.find(Durability, *kept.of_durability(known, NO_SETTINGS))
    other = structs.replace(NO_SETTINGS, before_begin=("SET synchronous_commit = off",))
    assert kept.find(Durability, *kept.of_durability(known, other)) is None
    for change in (
        {"version": "99"}, {"settings_asked": {"fsync": "off"}},
        {"durability_lowered_by": ("fsync = off",)},
    ):  # fmt: skip
        changed = kept.of_durability(replace(known, **change), NO_SETTINGS)
        assert kept.find(Durability, *changed) is None, change
