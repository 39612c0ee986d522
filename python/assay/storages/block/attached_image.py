"""Takes a choice of a storage and a size; yields an image of that size as a loop device, and
removes both at the end."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from pathlib import Path

from msgspec import Struct

from assay.contracts.experiment import StorageChoice
from assay.errors import SystemUnderTestError
from assay.provision.undo import ledger
from assay.provision.undo.clean_up import undone_at_end
from assay.provision.undo.ledger import HeldEntry
from assay.provision.undo.resources import Directory
from assay.storages.block import image, loop
from assay.storages.block.loop import AttachedLoop
from assay.storages.here import directory_of, usable_directory


class AttachedImage(Struct, frozen=True):
    entry: HeldEntry
    """What is made on the device belongs into it as well."""
    folder: Path
    """A directory of its own, which all users may enter; removed with everything in it."""
    loop: AttachedLoop

    @property
    def mount_point(self) -> Path:
        """Where a file system of the device may be mounted."""
        return self.folder / f"mounted-{self.entry.entry.id}"


@contextlib.contextmanager
def attached_image(choice: StorageChoice, size_bytes: int) -> Iterator[AttachedImage]:
    """The image lies in the directory of the choice. Raises `ArgumentError` where there is no room
    for it, before anything is made there."""
    image.need_room(directory_of(choice), size_bytes, choice.name)
    identity = ledger.new_id()
    with usable_directory(choice) as directory, undone_at_end(identity) as entry:
        folder = directory / f"assay-storage-{identity}"
        entry.add(Directory(str(folder)))
        make_folder(folder)
        file = folder / f"image-{identity}.img"
        image.lay_out(file, size_bytes)
        yield AttachedImage(entry, folder, loop.attach(entry, file))


def make_folder(folder: Path) -> None:
    try:
        folder.mkdir()
        folder.chmod(0o755)  # independent of the umask: the servers' user needs access
    except OSError as error:
        raise SystemUnderTestError(
            f"a directory for the storage cannot be made: {error}",
            hint="choose another directory for the storage",
        ) from error
