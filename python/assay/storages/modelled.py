"""`MODELLED`: a model of another disk, or one that fails on demand, with or without a file system.

A process serves the disk as a file, with the seeks, rotation, flash, queue and cache of its
profile; a loop device makes a block device of the file. What is measured on it is labelled
*modelled*.
"""

from __future__ import annotations

import contextlib
import json
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Final, Literal

from msgspec import Struct, structs
from msgspec.structs import replace

from assay import _engine
from assay.contracts.experiment import StorageChoice
from assay.contracts.plugins import OptionSpec
from assay.contracts.storage_facts import StorageFacts
from assay.contracts.storages.abilities import Account, AccountedSecond, Fault, FreeSpace
from assay.contracts.storages.protocol import SIZE, PreparedStorage, size_bytes, values
from assay.contracts.systems.protocol import ServerDirectory
from assay.errors import ArgumentError, SystemDied
from assay.provision.machine.mounts import facts_of
from assay.provision.undo import ledger
from assay.provision.undo.ledger import HeldEntry, undone_at_end
from assay.provision.undo.resources import Directory, Mount, TaggedProcesses
from assay.storages import block_devices
from assay.storages.block_devices import (
    known_free_space,
    make_folder,
    need_device,
    need_known_free_space,
    need_loop_devices,
    need_mount,
    need_room,
    need_root,
    why_not,
)
from assay.storages.disk_model import Model, ServedDisk, disk_options, model_of, served
from assay.storages.file_systems import (
    FILE_SYSTEM_OPTION,
    MOUNT_OPTIONS,
    make_file_system,
    mount_device,
    need_file_system,
    need_mount_options,
    need_size,
)
from assay.storages.here import default_of_choices, directory_of, usable_directory
from assay.storages.loop import file_systems_not_here
from assay.storages.raw import DiskFacts, raw_facts

_FUSE = Path("/dev/fuse")
_BLOCK_BYTES = 4096
_NO_FS = "none"
_FS: Final = replace(
    FILE_SYSTEM_OPTION,
    levels=(*FILE_SYSTEM_OPTION.levels, _NO_FS),
    help=f"The file system; {_NO_FS}: the raw disk, for systems that keep their data on one.",
)


class _Handle(Struct, frozen=True):
    disk: ServedDisk
    device: Path
    raw_node: Path | None


class Modelled:
    name = "modelled"
    label_note = "modelled"
    option_specs: tuple[OptionSpec, ...] = (*disk_options(), _FS, SIZE, MOUNT_OPTIONS)

    def default_directory(self) -> Path:
        return default_of_choices()

    def check(self, choice: StorageChoice) -> None:
        self._model(choice)
        given = values(self, choice)
        size = size_bytes(given[SIZE.name])
        if self.is_raw(choice) and given[MOUNT_OPTIONS.name]:
            raise ArgumentError(
                f"storage {choice.name!r}: a disk without a file system has no mount options",
                hint="leave mount out, or choose a file system",
            )
        need_mount_options(given[MOUNT_OPTIONS.name], choice.name)
        _need_served_disks(f"storage {choice.name!r}")
        if not self.is_raw(choice):
            need_size(need_file_system(given[FILE_SYSTEM_OPTION.name]), size, choice.name)
        need_known_free_space(choice, size)

    def file_system_of(self, choice: StorageChoice) -> str:
        return "" if self.is_raw(choice) else values(self, choice)[FILE_SYSTEM_OPTION.name]

    def why_unavailable(self) -> str | None:
        return why_not(_need_served_disks, self.name)

    def unavailable_levels(self) -> Mapping[str, str]:
        return file_systems_not_here()

    def size_bytes(self, choice: StorageChoice) -> int:
        return _whole_blocks(size_bytes(values(self, choice)[SIZE.name]))

    def free_space(self, choice: StorageChoice) -> FreeSpace:
        return known_free_space(choice)

    def _model(self, choice: StorageChoice) -> Model:
        given = values(self, choice)
        try:
            return model_of(given, self.size_bytes(choice))
        except ArgumentError as error:
            raise ArgumentError(
                f"storage {choice.name!r}: {error.message}", hint=error.hint
            ) from None

    @contextlib.contextmanager
    def prepare(self, choice: StorageChoice) -> Iterator[PreparedStorage]:
        self.check(choice)
        model, size = self._model(choice), self.size_bytes(choice)
        need_room(directory_of(choice), size, choice.name)
        device_id = ledger.new_id()
        with (
            usable_directory(choice) as base,
            _folders(choice, base) as (directory, mount_point),
            served(model, size, mount_point, f"disk-{device_id}", directory) as disk,
            undone_at_end(device_id) as entry,
        ):
            device = block_devices.attach_loop_device(entry, disk.file)
            path_cost = disk.calibrate(device.node)
            about = DiskFacts(
                image_in=str(base),
                has_direct_io=device.has_direct_io,
                model=structs.asdict(model),
                path_cost=path_cost,
            )
            data = directory.root / f"data-{device_id}"
            with _without_pace(disk):
                facts, raw_node = self._usable(choice, device.node, data, entry, about)
                disk.control.set_pace(True)
                facts = replace(facts, label_notes=(self.label_note,))
                yield PreparedStorage(facts, _Handle(disk, device.node, raw_node))

    def _usable(
        self, choice: StorageChoice, device: Path, data: Path, entry: HeldEntry, about: DiskFacts
    ) -> tuple[StorageFacts, Path | None]:
        """The disk with its file system mounted on ``data``, or raw: then also its node."""
        if self.is_raw(choice):
            make_folder(data)
            return raw_facts(choice, device, data, entry, about)
        given = values(self, choice)
        file_system = need_file_system(given[FILE_SYSTEM_OPTION.name])
        make_file_system(file_system, device)
        mount_device(entry, device, file_system, data, given[MOUNT_OPTIONS.name])
        found = facts_of(choice, data)
        return replace(found, facts={**found.facts, **about}, is_own_device=True), None

    def device_node(self, prepared: PreparedStorage) -> Path:
        return _handle(prepared).device

    def is_raw(self, choice: StorageChoice) -> bool:
        return values(self, choice)[FILE_SYSTEM_OPTION.name] == _NO_FS

    def raw_device(self, prepared: PreparedStorage) -> Path | None:
        return _handle(prepared).raw_node

    def cut_power(
        self,
        prepared: PreparedStorage,
        *,
        keep: Literal["none", "all", "random"] = "none",
        torn: Literal["no", "prefix", "subset"] = "no",
        seed: int = 0,
    ) -> Mapping[str, int]:
        control = _handle(prepared).disk.control
        lost = control.ask("power-cut", keep=keep, torn=torn, seed=seed).lost
        return {
            "lost_writes": len(lost.dropped),
            "torn_writes": len(lost.torn),
            "kept_writes": len(lost.kept),
            "lost_bytes": lost.dropped_bytes,
        }

    def restore_power(self, prepared: PreparedStorage) -> None:
        _handle(prepared).disk.control.ask("power-on")

    def inject(self, prepared: PreparedStorage, faults: tuple[Fault, ...]) -> None:
        rules = [_rule(fault) for fault in faults]
        _handle(prepared).disk.control.ask("errors", rules=rules)

    def fill(self, prepared: PreparedStorage, after_bytes: int = 0) -> None:
        _handle(prepared).disk.control.ask("full", after_bytes=after_bytes)

    def free_again(self, prepared: PreparedStorage) -> None:
        _handle(prepared).disk.control.ask("full", after_bytes=None)

    def account(self, prepared: PreparedStorage) -> Account:
        disk = _handle(prepared).disk
        counters = disk.control.ask("counters").counters
        return Account(**structs.asdict(counters), file=disk.account)

    def seconds(
        self, prepared: PreparedStorage, from_unix_ns: int, to_unix_ns: int
    ) -> tuple[AccountedSecond, ...]:
        disk = _handle(prepared).disk
        with contextlib.suppress(SystemDied):  # then what it wrote is all there will be
            disk.control.ask("account")
        found = json.loads(_engine.disk_model_seconds(disk.account, from_unix_ns, to_unix_ns))
        return tuple(AccountedSecond(**second) for second in found)

    def why_it_died(self, prepared: PreparedStorage) -> str | None:
        disk = _handle(prepared).disk
        return disk.process.died("the modelled disk") or disk.control.why_it_fails()


def _need_served_disks(what: str) -> None:
    need_root(what)
    need_device(what, "FUSE", _FUSE, "fuse")
    need_loop_devices(what)
    need_mount(what)


def _handle(prepared: PreparedStorage) -> _Handle:
    handle: _Handle = prepared.handle
    return handle


def _rule(fault: Fault) -> object:
    """As the program takes it."""
    rule = structs.asdict(fault)
    length = rule.pop("length_bytes")
    first = rule.pop("first_byte")
    if first or length is not None:
        rule["offset"] = first
        rule["length"] = length
    return rule


def _whole_blocks(size: int) -> int:
    return size // _BLOCK_BYTES * _BLOCK_BYTES


@contextlib.contextmanager
def _folders(choice: StorageChoice, base: Path) -> Iterator[tuple[ServerDirectory, Path]]:
    """The folders of the process, the image in ``base``, and the mount point of its file; noted
    in the ledger, with the process."""
    identity = ledger.new_id()
    root = base / f"assay-{identity}"
    run = Path(tempfile.gettempdir()) / f"assay-run-{identity}"
    mount_point = root / f"served-{identity}"
    with undone_at_end(identity) as entry:
        for path in (root, run):
            entry.add(Directory(str(path)))
            make_folder(path)
        mount_point.mkdir()
        entry.add(Mount(str(mount_point)))
        entry.add(TaggedProcesses())
        facts = StorageFacts(choice.name, choice.kind, str(root))
        yield ServerDirectory(root, root / "data", run, facts), mount_point


@contextlib.contextmanager
def _without_pace(disk: ServedDisk) -> Iterator[None]:
    """What begins and ends the block is not measured, and takes the time of this machine: a full
    page cache would take minutes to reach a slow disk. A process that has ended needs none."""
    disk.control.set_pace(False)
    try:
        yield
    finally:
        with contextlib.suppress(SystemDied):
            disk.control.set_pace(False)


MODELLED = Modelled()
