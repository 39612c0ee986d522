"""Storages on block devices: refused before anything is changed, made as declared, and removed."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest

from assay import registry
from assay.contracts.experiment import Experiment, StorageChoice, SystemChoice
from assay.contracts.storages.abilities import Inspectable, OwnDevice
from assay.errors import ArgumentError, AssayError, MachineLimit
from assay.experiment.choices.storage_words import (
    refuse_without_room,
    storage_choices,
    without_room,
)
from assay.provision.limits import Parent, parent_groups
from assay.provision.machine.mounts import device_number
from assay.provision.undo import ledger
from assay.provision.undo.ledger import clear_leftovers
from assay.storages import block_devices
from assay.storages.file_systems import FILE_SYSTEMS, known_file_system
from assay.storages.loop import LOOP
from block_devices import HAS_LOOP_DEVICES, done, files_of_loop_devices, loop_device, mounted_at
from programs import need_program

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("_own_state")]
needs_loop_devices = pytest.mark.skipif(not HAS_LOOP_DEVICES, reason="only root makes loop devices")


@pytest.fixture
def folder() -> Iterator[Path]:
    """Pytest's own directories are closed to the servers' user."""
    path = Path(f"/var/tmp/assay-test-{os.getpid()}-block")
    path.mkdir(mode=0o755)
    yield path
    path.rmdir()  # also asserts that everything in it was removed


def choice_of(word: str, *, may_erase: bool = False) -> StorageChoice:
    (choice,) = storage_choices([word], may_erase=may_erase)
    return choice


@pytest.mark.parametrize(
    ("word", "file_system"),
    [
        ("loop", "ext4"), ("loop[fs=btrfs]", "btrfs"), ("throttled[write_iops=10,fs=xfs]", "xfs"),
        ("modelled[fs=xfs]", "xfs"), ("modelled[fs=none]", ""), ("device[fs=xfs]:/dev/sdx", "xfs"),
    ],
)  # fmt: skip
def test_the_file_system_is_known_before_it_is_made(word: str, file_system: str) -> None:
    assert known_file_system(choice_of(word)) == file_system


def without(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, what: str) -> None:
    """This machine, without root, loop devices, a file system or its program."""
    machine = "assay.storages.block_devices"
    if what == "root":
        monkeypatch.setattr(f"{machine}.os.geteuid", lambda: 1000)
        return
    monkeypatch.setattr(f"{machine}.os.geteuid", lambda: 0)
    monkeypatch.setattr(f"{machine}.may_mount", lambda: what != "the right to mount")
    control = tmp_path / "loop-control"
    if what != "loop devices":
        control.touch()
    monkeypatch.setattr(f"{machine}.LOOP_CONTROL", control)
    has = "assay.storages.file_systems.kernel_has"
    monkeypatch.setattr(has, lambda name: name != what)
    programs = tmp_path / "programs"
    programs.mkdir()
    for name in {
        "losetup",
        "mount",
        "umount",
        "wipefs",
        "mkfs.ext4",
        "mkfs.xfs",
        "mkfs.reiserfs",
        "mkfs.jfs",
    } - {what}:
        (programs / name).touch(mode=0o755)
    monkeypatch.setattr("assay.provision.machine.program.SEARCH_PATH", str(programs))


@pytest.mark.parametrize(
    ("lacks", "word", "message", "hint"),
    [
        ("root", "loop", "needs root", "sudo"),
        ("root", "raw[size=64M]", "needs root", "sudo"),
        ("root", "device:/dev/null", "needs root", "sudo"),
        ("the right to mount", "loop", "CAP_SYS_ADMIN", "--privileged"),
        ("loop devices", "loop", "needs loop devices", "modprobe loop"),
        ("reiserfs", "loop[fs=reiserfs]", "kernel has no file system reiserfs", "fs=ext4"),
        ("minix", "loop[fs=minix]", "kernel has no file system minix", "fs=ext4"),
        ("jfs", "throttled[read_iops=9,fs=jfs]", "kernel has no file system jfs", "fs=ext4"),
        ("mkfs.xfs", "loop[fs=xfs]", "the program mkfs.xfs, which is not", "install xfsprogs"),
        ("losetup", "loop", "the program losetup, which is not installed", "install mount"),
        ("mount", "loop", "the program mount, which is not installed", "install mount"),
        ("umount", "tmpfs", "the program umount, which is not installed", "install mount"),
        ("wipefs", "device:/dev/null", "the program wipefs, which is not", "util-linux"),
        ("", "tmpfs[size=900T]", "and this machine's memory has .* free", "smaller size"),
        ("", "loop[fs=xfs,size=64M]", "xfs needs 300M at least", "size=300M"),
        ("", "loop[fs=xfs,size=64M]", "found 64M", "another fs"),
        ("", "loop[size=16M]:/etc/passwd", "/etc/passwd is not a directory", "loop:DIRECTORY"),
        ("", "raw[size=16M]:/etc/passwd", "/etc/passwd is not a directory", "raw:DIRECTORY"),
        ("", "here:/etc/passwd/below", "/etc/passwd is not a directory", "here:DIRECTORY"),
        ("", "loop[size=900T]", "and .* has .* free", "another directory"),
        ("", "raw[size=900T]", "and .* has .* free", "another directory"),
        ("", "throttled", "without a limit", "read_iops=150"),
        ("", "device", "expected a block device", "lsblk"),
        ("", "device:/dev/no-such-device", "No such file", "lsblk"),
        ("", "device:/dev/null", "is not a block device", "lsblk"),
        ("", "raw[size=64M]:/dev/null", "a device has its own size", "leave size out"),
    ],
)
def test_a_storage_that_cannot_be_is_refused_before_anything_is_changed(
    lacks: str, word: str, message: str, hint: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    work = tmp_path / "work"
    work.mkdir()
    monkeypatch.chdir(work)
    choice = choice_of(word)
    without(monkeypatch, tmp_path, lacks)
    monkeypatch.setattr(subprocess, "run", None)  # no program is run
    with pytest.raises(AssayError, match=message) as refused:
        registry.storage(choice.kind).check(choice)
    assert hint in str(refused.value.hint)
    assert refused.value.exit_code in (2, 3)
    assert not list(work.iterdir())
    assert not (tmp_path / "state").exists()


@pytest.mark.parametrize(
    ("lacks", "unavailable"),
    [
        ("root", {"device", "loop", "modelled", "raw", "throttled"}),
        ("the right to mount", {"device", "loop", "modelled", "raw", "throttled"}),
        ("loop devices", {"loop", "modelled", "throttled"}),
    ],
)
def test_the_list_says_which_storages_this_machine_cannot_have(
    lacks: str, unavailable: set[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    without(monkeypatch, tmp_path, lacks)
    kinds = [registry.storage(name) for name in registry.storages()]
    asked = [kind for kind in kinds if isinstance(kind, Inspectable)]
    assert {kind.name for kind in asked if kind.why_unavailable() is not None} == unavailable


def test_a_throttled_storage_says_so_whatever_its_name() -> None:
    assert choice_of("disk=throttled[read_iops=9]").name == "disk (throttled)"
    assert choice_of("throttled[read_iops=9]").name == "throttled[read_iops=9]"


def test_images_that_do_not_fit_together_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        block_devices.os, "statvfs", lambda _path: SimpleNamespace(f_bavail=5 << 30, f_frsize=1)
    )
    systems = (SystemChoice("sqlite"), SystemChoice("null"))
    storages = storage_choices(["loop[size=1G],raw[size=2G]"])
    asked = Experiment("tpcb", ("load",), systems, storages=storages)
    with pytest.raises(ArgumentError, match=r"4 storages may take 6 GiB at the same time"):
        refuse_without_room(asked)
    refuse_without_room(replace(asked, order="sequential"))
    refuse_without_room(replace(asked, systems=systems[:1]))
    # An optional one refuses its own runs alone.
    with_optional = replace(asked, optional=("raw[size=2G]",))
    refuse_without_room(with_optional)
    [(name, error)] = without_room(with_optional).items()
    assert name == "raw[size=2G]"
    assert "4 storages may take 6 GiB" in error.message


def test_an_image_is_laid_out_with_data(tmp_path: Path) -> None:
    block_devices.lay_out_image(tmp_path / "image", (9 << 20) + 512)
    found = (tmp_path / "image").stat()
    assert found.st_size == (9 << 20) + 512
    assert found.st_blocks * 512 >= found.st_size, "no holes"
    assert b"\0" * 64 not in (tmp_path / "image").read_bytes()[: 1 << 20]


@needs_loop_devices
@pytest.mark.parametrize("file_system", ["ext2", "ext3", "ext4", "xfs", "btrfs"])
def test_each_file_system_is_made_on_an_image_and_goes_away(file_system: str, folder: Path) -> None:
    need_program(FILE_SYSTEMS[file_system].make)
    size = {"xfs": "300M", "btrfs": "128M"}.get(file_system, "16M")
    choice = choice_of(f"loop[fs={file_system},size={size},mount=noatime]:{folder}")
    with LOOP.prepare(choice) as made:
        facts = made.facts
        directory = Path(facts.directory)
        assert (facts.file_system, facts.is_own_device) == (file_system, True)
        assert "noatime" in facts.mount_options.split(",")
        assert facts.name == choice.name
        assert directory.is_mount() and directory.stat().st_mode & 0o777 == 0o755
        node = LOOP.device_node(made)
        assert str(node) == facts.device and node.is_block_device()
        assert isinstance(LOOP, OwnDevice)
        (image_file,) = folder.rglob("*.img")
        # mkfs and mount have punched no holes into it.
        assert image_file.stat().st_blocks * 512 >= image_file.stat().st_size
        (directory / "data").write_bytes(b"x" * 4096)
    assert not files_of_loop_devices(folder)
    assert str(directory) not in mounted_at()


def group_parent() -> Parent | None:
    """Where groups that limit devices can be made on this machine."""
    try:
        return parent_groups(["io"])["io"]
    except MachineLimit:
        return None


_KILLED = """
import sys, time
from assay import registry
from assay.experiment.choices.storage_words import storage_choices
from assay.provision import processes
from assay.provision.directory import server_directory
from assay.contracts.storages.abilities import LimitsProcesses, RawDevice

(choice,) = storage_choices([sys.argv[1]])
kind = registry.storage(choice.kind)
with kind.prepare(choice) as made:
    limits = kind.group_limits(made) if isinstance(kind, LimitsProcesses) else ()
    node = [kind.raw_device(made)] if isinstance(kind, RawDevice) else []
    with server_directory(made.facts, group_limits=limits) as directory:
        with processes.start_server(["sleep", "1000"], directory):
            print(made.facts.directory, *directory.control_groups, *node, flush=True)
            time.sleep(1000)
"""


@needs_loop_devices
@pytest.mark.parametrize(
    "word", ["loop[size=16M]", "throttled[write_iops=99,size=16M]", "raw[size=16M]"]
)
def test_what_a_killed_assay_made_is_removed_at_the_next_start(word: str, folder: Path) -> None:
    parent = group_parent()
    if word.startswith("throttled") and parent is None:
        pytest.skip("this machine has no control groups that limit devices")
    with subprocess.Popen(
        [sys.executable, "-c", _KILLED, f"{word}:{folder}"], stdout=subprocess.PIPE, text=True
    ) as child:
        assert child.stdout is not None
        made = [Path(path) for path in child.stdout.readline().split()]
        assert made and all(path.exists() for path in made)
        assert len(files_of_loop_devices(folder)) == 1
        child.kill()
    with look_alikes(folder, parent) as planted:
        cleared = clear_leftovers()
        assert not any(one.remaining for one in cleared)
        assert not any(path.exists() for path in made)
        assert str(made[0]) not in mounted_at()
        assert all(path.exists() for path in planted)
        assert str(planted[0].parent) in mounted_at()
        assert files_of_loop_devices(folder) == [str(planted[1])]
        assert len(list(folder.iterdir())) == 2
    shutil.rmtree(folder)
    folder.mkdir()


@contextmanager
def look_alikes(folder: Path, parent: Parent | None) -> Iterator[list[Path]]:
    """A file on a mount, the image of its loop device, and a control group, in folders whose names
    look like ours, but for the mark."""
    place = folder / "assay-storage-000000000000"
    image_file = place.with_suffix(".img")
    place.mkdir()
    with image_file.open("wb") as made:
        made.truncate(16 << 20)
    done("mkfs.ext4", "-q", "-F", image_file)
    done("mount", "-o", "loop", image_file, place)
    groups = [] if parent is None else [parent.folder / "assay-000000000000"]
    try:
        (place / "precious").touch()
        for group in groups:
            group.mkdir()
        yield [place / "precious", image_file, *groups]
    finally:
        for group in groups:
            group.rmdir()
        done("umount", place)  # and with it goes the loop device


def write_partition_table(node: Path) -> None:
    """Of one partition: 16 MiB from 1 MiB on, enough for a small file system."""
    with node.open("r+b") as disk:
        disk.seek(446)
        disk.write(bytes.fromhex("00000000830000000008000000800000") + bytes(48) + b"\x55\xaa")


@needs_loop_devices
@pytest.mark.parametrize("kind", ["device", "raw"])
def test_a_device_that_holds_something_is_refused_without_erase(kind: str, tmp_path: Path) -> None:
    with loop_device(tmp_path / "disk") as node:
        choice = choice_of(f"{kind}:{node}")
        storage = registry.storage(kind)

        def refused(expected: str) -> None:
            before = node.read_bytes()
            with pytest.raises(ArgumentError, match=expected) as error, storage.prepare(choice):
                pytest.fail("it would be erased")
            assert "--erase" in str(error.value.hint)
            assert node.read_bytes() == before

        refused("it holds nothing that is recognised")
        write_partition_table(node)
        refused("it holds dos")
        done("wipefs", "--all", node)
        done("mkswap", node)
        refused("it holds swap")
        done("mkfs.ext4", "-q", "-F", "-L", "photos", node)
        refused("it holds ext4 labelled 'photos'")
        link = tmp_path / "by-name"
        link.symlink_to(node)
        choice = choice_of(f"{kind}:{link}")
        refused("it holds ext4 labelled 'photos'")


@needs_loop_devices
@pytest.mark.parametrize("kind", ["device", "raw"])
def test_a_device_in_use_is_refused_even_with_erase(kind: str, tmp_path: Path) -> None:
    storage = registry.storage(kind)
    with loop_device(tmp_path / "disk") as node:
        choice = choice_of(f"{kind}:{node}", may_erase=True)

        def refused(expected: str) -> None:
            with pytest.raises(ArgumentError, match=expected), storage.prepare(choice):
                pytest.fail("it is in use")

        held = os.open(node, os.O_RDONLY | os.O_EXCL)
        try:
            refused("another program or the kernel has it open")
        finally:
            os.close(held)
        done("mkfs.ext4", "-q", "-F", node)
        place = tmp_path / "place"
        place.mkdir()
        done("mount", node, place)
        try:
            (place / "precious").write_text("only copy")
            refused(f"{node} is mounted at {place}")
            assert (place / "precious").read_text() == "only copy"
        finally:
            done("umount", place)


@needs_loop_devices
def test_swap_space_and_a_part_of_an_array_are_refused_even_with_erase(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As the kernel lists them; neither is set up on this machine for the test."""
    with loop_device(tmp_path / "disk") as node:
        choice = choice_of(f"device:{node}", may_erase=True)
        swaps = tmp_path / "swaps"
        swaps.write_text(f"Filename Type Size Used Priority\n{node} partition 32764 0 -2\n")
        monkeypatch.setattr("assay.storages.block_devices._SWAPS", swaps)
        with pytest.raises(ArgumentError, match=f"is in use: {node} is swap space"):
            registry.storage("device").check(choice)
        swaps.write_text("Filename Type Size Used Priority\n")
        devices = tmp_path / "devices"
        (devices / device_number(node) / "holders" / "md0").mkdir(parents=True)
        monkeypatch.setattr("assay.storages.block_devices._SYS_DEVICES", devices)
        with pytest.raises(ArgumentError, match="is in use: it is part of md0"):
            registry.storage("device").check(choice)


@needs_loop_devices
def test_a_device_with_a_mounted_partition_is_refused_even_with_erase(tmp_path: Path) -> None:
    with loop_device(tmp_path / "disk") as node:
        write_partition_table(node)
        subprocess.run(["partx", "--add", node], check=False, capture_output=True)
        partition = Path(f"{node}p1")
        if not partition.is_block_device():
            pytest.skip("partitions of loop devices have no nodes on this machine")
        place = tmp_path / "place"
        place.mkdir()
        try:
            done("mkfs.ext4", "-q", "-F", partition)
            done("mount", partition, place)
            try:
                choice = choice_of(f"device:{node}", may_erase=True)
                with pytest.raises(ArgumentError, match=f"{partition} is mounted at {place}"):
                    registry.storage("device").check(choice)
            finally:
                done("umount", place)
        finally:
            done("partx", "--delete", node)


@needs_loop_devices
def test_a_device_is_erased_used_and_left_unmounted(tmp_path: Path) -> None:
    with loop_device(tmp_path / "disk") as node:
        done("mkfs.ext4", "-q", "-F", "-L", "photos", node)
        device = registry.storage("device")
        with device.prepare(choice_of(f"device[fs=ext2]:{node}", may_erase=True)) as made:
            assert (made.facts.file_system, made.facts.device) == ("ext2", str(node))
            assert made.facts.is_own_device
            directory = made.facts.directory
        assert directory not in mounted_at() and not Path(directory).exists()
        (held,) = json.loads(done("wipefs", "--no-act", "--json", node))["signatures"]
        assert (held["type"], held.get("label")) == ("ext2", None)
    assert not list(ledger.state_directory().iterdir())
