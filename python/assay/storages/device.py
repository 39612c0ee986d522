"""`DEVICE`: a file system that is made on a block device, whose contents are destroyed.

Only with ``--erase``, and never on a device that is in use. At the end the file system is unmounted
and stays on the device, empty.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping
from pathlib import Path

from msgspec.structs import replace

from assay.contracts.experiment import StorageChoice
from assay.contracts.plugins import OptionSpec
from assay.contracts.storages.protocol import PreparedStorage, values
from assay.errors import ArgumentError
from assay.provision.machine.mounts import facts_of
from assay.provision.undo import ledger
from assay.provision.undo.ledger import undone_at_end
from assay.provision.undo.resources import Directory
from assay.storages import block_devices
from assay.storages.block_devices import WIPEFS, make_folder, need_mount, need_program, why_not
from assay.storages.file_systems import (
    FILE_SYSTEM_OPTION,
    MOUNT_OPTIONS,
    make_file_system,
    mount_device,
    need_any_file_system,
    need_file_system,
    need_mount_options,
    need_size,
)
from assay.storages.here import FALLBACK
from assay.storages.loop import file_systems_not_here


class Device:
    name = "device"
    option_specs: tuple[OptionSpec, ...] = (FILE_SYSTEM_OPTION, MOUNT_OPTIONS)

    def check(self, choice: StorageChoice) -> None:
        given = values(self, choice)
        need_mount_options(given[MOUNT_OPTIONS.name], choice.name)
        path = self._path(choice)
        _need_tools(f"storage {choice.name!r}")
        node = block_devices.usable_device(choice, path)
        size_bytes = block_devices.device_size_bytes(node)
        need_size(need_file_system(given[FILE_SYSTEM_OPTION.name]), size_bytes, choice.name)

    def file_system_of(self, choice: StorageChoice) -> str:
        return values(self, choice)[FILE_SYSTEM_OPTION.name]

    def _path(self, choice: StorageChoice) -> Path:
        if choice.directory is None:
            raise ArgumentError(
                f"storage {choice.name!r}: expected a block device",
                hint="device[fs=ext4]:/dev/sdX; see `lsblk`",
            )
        return Path(choice.directory)

    @contextlib.contextmanager
    def prepare(self, choice: StorageChoice) -> Iterator[PreparedStorage]:
        self.check(choice)
        given = values(self, choice)
        node = block_devices.usable_device(choice, self._path(choice))
        file_system = need_file_system(given[FILE_SYSTEM_OPTION.name])
        identity = ledger.new_id()
        with undone_at_end(identity) as entry:
            folder = FALLBACK / f"assay-storage-{identity}"
            entry.add(Directory(str(folder)))
            make_folder(folder)
            block_devices.erase_device(node)
            make_file_system(file_system, node)
            point = folder / f"mounted-{identity}"
            mount_device(entry, node, file_system, point, given[MOUNT_OPTIONS.name])
            facts = facts_of(choice, point)
            # The kernel counts the flushes of a partition as its whole device's.
            is_own = not block_devices.is_partition(node)
            yield PreparedStorage(replace(facts, is_own_device=is_own), node)

    def device_of(self, choice: StorageChoice) -> Path:
        return self._path(choice)

    def device_node(self, prepared: PreparedStorage) -> Path:
        node: Path = prepared.handle
        return node

    def why_unavailable(self) -> str | None:
        return why_not(_need_tools, self.name)

    def unavailable_levels(self) -> Mapping[str, str]:
        return file_systems_not_here()


def _need_tools(what: str) -> None:
    need_mount(what)
    need_program(WIPEFS, what)
    need_any_file_system(what)


DEVICE = Device()
