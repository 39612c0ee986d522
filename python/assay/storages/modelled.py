"""`MODELLED`: a file system on a disk of another time, or one that fails on demand.

A process serves the disk as a file, with the seeks, rotation, flash, queue and cache of its
profile; a loop device makes a block device of the file. What is measured on it is labelled
*modelled*.
"""

from __future__ import annotations

import contextlib
import json
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, Literal

from assay import _engine
from assay.errors import ArgumentError, StorageUnavailable, SystemDied
from assay.experiment.values import StorageChoice
from assay.option_spec import OptionSpec
from assay.provision import ledger
from assay.provision.clean_up import undone_at_end
from assay.provision.deployment import StorageFacts
from assay.provision.resources import Directory, Mount, TaggedProcesses
from assay.storages.abilities import Account, AccountedSecond, Fault
from assay.storages.block import loop
from assay.storages.block.attached_image import make_folder
from assay.storages.block.file_systems import FS, MOUNT, make_file_system, need_file_system
from assay.storages.block.machine import need_root
from assay.storages.block.mounted import mount
from assay.storages.disk_model.options import Model, disk_options, model_of
from assay.storages.disk_model.process import ServedDisk, served
from assay.storages.here import usable_directory
from assay.storages.loop import check_image, file_systems_not_here, why_no_images
from assay.storages.mounts import facts_of
from assay.storages.options import SIZE, size_bytes, values
from assay.storages.protocol import PreparedStorage
from assay.systems.protocol import ServerDirectory

_FUSE = Path("/dev/fuse")
_BLOCK_BYTES = 4096


@dataclass(frozen=True)
class _Handle:
    disk: ServedDisk
    device: Path


class Modelled:
    name = "modelled"
    label_note = "modelled"
    option_specs: tuple[OptionSpec, ...] = (FS, SIZE, MOUNT, *disk_options())

    def check(self, choice: StorageChoice) -> None:
        self._model(choice)
        _need_fuse(f"storage {choice.name!r}")
        check_image(self, choice)

    def why_unavailable(self) -> str | None:
        try:
            _need_fuse(self.name)
        except StorageUnavailable as error:
            return f"{error.message}; {error.hint}"
        return why_no_images(self.name)

    def unavailable_levels(self) -> Mapping[str, str]:
        return file_systems_not_here()

    def size_bytes(self, choice: StorageChoice) -> int | None:
        return _whole_blocks(size_bytes(values(self, choice)[SIZE.name]))

    def _model(self, choice: StorageChoice) -> Model:
        given = values(self, choice)
        try:
            return model_of(given)
        except ArgumentError as error:
            raise ArgumentError(
                f"storage {choice.name!r}: {error.message}", hint=error.hint
            ) from None

    @contextlib.contextmanager
    def prepare(self, choice: StorageChoice) -> Iterator[PreparedStorage]:
        self.check(choice)
        model, given = self._model(choice), values(self, choice)
        file_system = need_file_system(given[FS.name])
        size = _whole_blocks(size_bytes(given[SIZE.name]))
        device_id = ledger.new_id()
        with (
            usable_directory(choice) as base,
            _folders(choice, base) as (directory, mount_point),
            served(model, size, mount_point, f"disk-{device_id}", directory) as disk,
            undone_at_end(device_id) as entry,
        ):
            device = loop.attach(entry, disk.file)
            path_cost = disk.calibrate(device.node)
            data = directory.root / f"data-{device_id}"
            with _without_pace(disk):
                make_file_system(file_system, device.node)
                mount(entry, device.node, file_system, data, given[MOUNT.name])
                disk.control.set_pace(True)
                found = facts_of(choice, data)
                about = {
                    "image_in": str(base),
                    "has_direct_io": device.has_direct_io,
                    "model": model.facts(),
                    "path_cost": path_cost,
                }
                facts = replace(
                    found,
                    facts={**found.facts, **about},
                    is_own_device=True,
                    label_notes=(self.label_note,),
                )
                yield PreparedStorage(facts, _Handle(disk, device.node))

    def device_node(self, prepared: PreparedStorage) -> Path:
        return _handle(prepared).device

    def cut_power(
        self,
        prepared: PreparedStorage,
        *,
        keep: Literal["none", "all", "random"] = "none",
        torn: Literal["no", "prefix", "subset"] = "no",
        seed: int = 0,
    ) -> Mapping[str, int]:
        control = _handle(prepared).disk.control
        lost = control.ask("power-cut", keep=keep, torn=torn, seed=seed)["lost"]
        return {
            "lost_writes": len(lost["dropped"]),
            "torn_writes": len(lost["torn"]),
            "kept_writes": len(lost["kept"]),
            "lost_bytes": lost["dropped_bytes"],
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
        counters = disk.control.ask("counters")["counters"]
        names = ("reads", "writes", "flushes", "read_bytes", "written_bytes")
        return Account(**{name: counters[name] for name in names}, file=disk.account)

    def seconds(
        self, prepared: PreparedStorage, from_unix_ns: int, to_unix_ns: int
    ) -> tuple[AccountedSecond, ...]:
        account = _handle(prepared).disk.account
        found = json.loads(_engine.disk_model_seconds(account, from_unix_ns, to_unix_ns))
        return tuple(AccountedSecond(**second) for second in found["seconds"])

    def why_it_died(self, prepared: PreparedStorage) -> str | None:
        return _handle(prepared).disk.process.died("the modelled disk")


def _need_fuse(what: str) -> None:
    need_root(what)
    if not _FUSE.exists():
        raise StorageUnavailable(
            f"{what} needs FUSE, and this machine has no {_FUSE}",
            hint="load the kernel's module: modprobe fuse; a container must be given the device",
        )


def _handle(prepared: PreparedStorage) -> _Handle:
    handle: _Handle = prepared.handle
    return handle


def _rule(fault: Fault) -> dict[str, Any]:
    rule = asdict(fault)
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
