"""`LOOP`: a file system of its own, of any kind, in an image file on a directory.

The image is laid out with data and attached as a loop device with direct I/O: what reaches the
device reaches the disk below, and nothing else uses it.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping
from pathlib import Path

from msgspec.structs import replace

from assay.contracts.experiment import StorageChoice
from assay.contracts.plugins import OptionSpec
from assay.contracts.storage_facts import StorageFacts
from assay.contracts.storages.abilities import FreeSpace
from assay.contracts.storages.protocol import SIZE, PreparedStorage, Storage, size_bytes, values
from assay.provision.machine.mounts import facts_of
from assay.storages.block_devices import (
    AttachedImage,
    attached_image,
    known_free_space,
    need_known_free_space,
    need_loop_devices,
    need_mount,
    why_not,
)
from assay.storages.file_systems import (
    FILE_SYSTEM_OPTION,
    FILE_SYSTEMS,
    MOUNT_OPTIONS,
    make_file_system,
    mount_device,
    need_any_file_system,
    need_file_system,
    need_mount_options,
    need_size,
    why_not_here,
)
from assay.storages.here import default_of_choices


class Loop:
    name = "loop"
    option_specs: tuple[OptionSpec, ...] = (FILE_SYSTEM_OPTION, SIZE, MOUNT_OPTIONS)

    def default_directory(self) -> Path:
        return default_of_choices()

    def check(self, choice: StorageChoice) -> None:
        check_image(self, choice)

    @contextlib.contextmanager
    def prepare(self, choice: StorageChoice) -> Iterator[PreparedStorage]:
        """The directory of the choice, where the image is made, is that of the storage `here`."""
        with file_system_on_image(self, choice) as (image, facts):
            yield PreparedStorage(facts, image.loop.node)

    def device_node(self, prepared: PreparedStorage) -> Path:
        return _node(prepared)

    def file_system_of(self, choice: StorageChoice) -> str:
        return values(self, choice)[FILE_SYSTEM_OPTION.name]

    def size_bytes(self, choice: StorageChoice) -> int:
        return size_bytes(values(self, choice)[SIZE.name])

    def free_space(self, choice: StorageChoice) -> FreeSpace:
        return known_free_space(choice)

    def why_unavailable(self) -> str | None:
        return why_not(need_images_with_file_systems, self.name)

    def unavailable_levels(self) -> Mapping[str, str]:
        return file_systems_not_here()


def check_image(storage: Storage, choice: StorageChoice) -> None:
    """`Storage.check` of a kind that has a file system on an image."""
    given = values(storage, choice)
    need_mount_options(given[MOUNT_OPTIONS.name], choice.name)
    need_images_with_file_systems(f"storage {choice.name!r}")
    need_size(
        need_file_system(given[FILE_SYSTEM_OPTION.name]), size_bytes(given[SIZE.name]), choice.name
    )
    need_known_free_space(choice, size_bytes(given[SIZE.name]))


@contextlib.contextmanager
def file_system_on_image(
    storage: Storage, choice: StorageChoice
) -> Iterator[tuple[AttachedImage, StorageFacts]]:
    """The image with the file system and mount options of the choice on it, mounted."""
    storage.check(choice)
    given = values(storage, choice)
    file_system = need_file_system(given[FILE_SYSTEM_OPTION.name])
    with attached_image(choice, size_bytes(given[SIZE.name])) as image:
        make_file_system(file_system, image.loop.node)
        mount_device(
            image.entry, image.loop.node, file_system, image.mount_point, given[MOUNT_OPTIONS.name]
        )
        facts = facts_of(choice, image.mount_point)
        about = {"image_in": str(image.folder.parent), "has_direct_io": image.loop.has_direct_io}
        yield image, replace(facts, is_own_device=True, facts={**facts.facts, **about})


def need_images_with_file_systems(what: str) -> None:
    """Raises `StorageUnavailable` where no image can be mounted, whatever its file system."""
    need_loop_devices(what)
    need_mount(what)
    need_any_file_system(what)


def file_systems_not_here() -> dict[str, str]:
    reasons = {f"fs={name}": why_not_here(name) for name in FILE_SYSTEMS}
    return {level: reason for level, reason in reasons.items() if reason is not None}


def _node(prepared: PreparedStorage) -> Path:
    node: Path = prepared.handle
    return node


LOOP = Loop()
