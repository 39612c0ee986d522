"""`RAW`: a block device without a file system, for systems that keep their data on one.

``raw:/dev/sdX`` is a device that is erased (only with ``--erase``); ``raw[size=2G]`` is an image as
a loop device. What the system writes besides (its log, its catalogue) is in an ordinary directory.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import TypedDict

from assay.contracts.experiment import StorageChoice
from assay.contracts.plugins import OptionSpec
from assay.contracts.storage_facts import RAW, StorageFacts
from assay.contracts.storages.abilities import FreeSpace
from assay.contracts.storages.protocol import SIZE, PreparedStorage, size_bytes, values
from assay.errors import ArgumentError
from assay.provision.machine.mounts import device_facts, facts_of
from assay.provision.machine.users import server_user
from assay.provision.undo import ledger
from assay.provision.undo.block_device import DeviceNode
from assay.provision.undo.ledger import HeldEntry, undone_at_end
from assay.storages import block_devices
from assay.storages.block_devices import (
    attached_image,
    known_free_space,
    need_known_free_space,
    need_loop_devices,
    need_root,
    why_not,
)
from assay.storages.disk_model import PathCost
from assay.storages.here import usable_directory


class DiskFacts(TypedDict, total=False):
    """What a storage that makes its own device knows of it, for the record."""

    image_in: str
    has_direct_io: bool
    model: Mapping[str, object]
    """With the fields of `assay.storages.disk_model.Model`."""
    path_cost: list[PathCost]


class Raw:
    name = "raw"
    option_specs: tuple[OptionSpec, ...] = (SIZE,)

    def check(self, choice: StorageChoice) -> None:
        given = values(self, choice)
        if (device := _device(choice)) is not None:
            if SIZE.name in choice.options:
                raise ArgumentError(
                    f"storage {choice.name!r}: a device has its own size",
                    hint=f"leave size out, or leave {device} out for an image of that size",
                )
            block_devices.usable_device(choice, device)
            return
        need_loop_devices(f"storage {choice.name!r}")
        need_known_free_space(choice, size_bytes(given[SIZE.name]))

    @contextlib.contextmanager
    def prepare(self, choice: StorageChoice) -> Iterator[PreparedStorage]:
        self.check(choice)
        device = _device(choice)
        if device is None:
            with attached_image(choice, size_bytes(values(self, choice)[SIZE.name])) as image:
                about = DiskFacts(
                    image_in=str(image.folder.parent), has_direct_io=image.loop.has_direct_io
                )
                facts, own_node = raw_facts(
                    choice, image.loop.node, image.folder, image.entry, about
                )
                yield PreparedStorage(facts, own_node)
            return
        node = block_devices.usable_device(choice, device)
        rest = replace(choice, directory=None)
        identity = ledger.new_id()
        with usable_directory(rest) as directory, undone_at_end(identity) as entry:
            block_devices.erase_device(node)
            yield PreparedStorage(*raw_facts(choice, node, directory, entry, DiskFacts()))

    def is_raw(self, choice: StorageChoice) -> bool:
        del choice
        return True

    def raw_device(self, prepared: PreparedStorage) -> Path:
        node: Path = prepared.handle
        return node

    def device_of(self, choice: StorageChoice) -> Path | None:
        return _device(choice)

    def size_bytes(self, choice: StorageChoice) -> int | None:
        return size_bytes(values(self, choice)[SIZE.name]) if _device(choice) is None else None

    def free_space(self, choice: StorageChoice) -> FreeSpace:
        return known_free_space(choice)

    def why_unavailable(self) -> str | None:
        """One on a disk needs no loop devices."""
        return why_not(need_root, self.name)

    def unavailable_levels(self) -> dict[str, str]:
        return {}


def _device(choice: StorageChoice) -> Path | None:
    """The device of the choice; None where it names a directory for an image, or nothing."""
    if choice.directory is None:
        return None
    path = Path(choice.directory)
    is_device = path.is_relative_to("/dev") and not path.is_dir()
    return path if is_device or path.is_block_device() else None


def raw_facts(
    choice: StorageChoice, node: Path, directory: Path, entry: HeldEntry, about: DiskFacts
) -> tuple[StorageFacts, Path]:
    """The device by a node of Assay's own, which the servers' user may use, and what is known of
    it.
    ``directory``: for what the system writes besides."""
    user = server_user()
    own = DeviceNode.marked(entry.entry.id)
    entry.add(own)
    own_node = own.make(node, user.uid, user.gid)
    rest = facts_of(choice, directory)
    facts = StorageFacts(
        name=choice.name,
        kind=choice.kind,
        directory=rest.directory,
        file_system=RAW,
        device=str(node),
        size_bytes=block_devices.device_size_bytes(node),
        free_bytes=rest.free_bytes,
        facts={
            **device_facts(node),
            **about,
            "log_and_catalogue_on": {"file_system": rest.file_system, "device": rest.device},
        },
    )
    return facts, own_node


RAW_STORAGE = Raw()
