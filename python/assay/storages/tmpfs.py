"""`TMPFS`: a file system in memory, to measure a system without waits for a device.

Where it may mount, it mounts a new file system of the given size; other users, and root in a
container without that right, get a directory in /dev/shm, which every Linux mounts as tmpfs.
"""

from __future__ import annotations

import contextlib
import re
import subprocess
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path

from assay.contracts.experiment import StorageChoice
from assay.contracts.plugins import OptionSpec
from assay.contracts.storages.abilities import FreeSpace
from assay.contracts.storages.protocol import PreparedStorage, size_bytes, values
from assay.errors import SHARED_MEMORY, ArgumentError, NotOnThisMachine, SystemUnderTestError
from assay.provision.machine.mounts import facts_of, mount_of
from assay.provision.machine.sampling import available_memory_bytes, machine_memory_bytes
from assay.provision.machine.users import may_mount
from assay.provision.undo import ledger
from assay.provision.undo.ledger import undone_at_end
from assay.provision.undo.resources import MOUNT, Directory, Mount
from assay.storages.block_devices import need_mount_programs, why_not
from assay.text.quantities import STORAGE_BYTES, shown
from assay.text.units import binary, option_word

_MEMORY = "this machine's memory"
_SHARE = re.compile(r"0*([1-9][0-9]?|100) *%", re.ASCII)


def _size_bytes(word: str) -> int:
    if share := _SHARE.fullmatch(word):
        return machine_memory_bytes() * int(share[1]) // 100
    try:
        return size_bytes(word)
    except ValueError:
        raise ArgumentError(
            f"size: expected {STORAGE_BYTES.expected}, or a share of the memory from 1% to 100%, "
            f"found {shown(word)}"
        ) from None


def _spelled(word: str) -> str:
    share = _SHARE.fullmatch(word)
    return f"{share[1]}%" if share else option_word(_size_bytes(word))


def _refuse_no_size(word: str) -> None:
    _size_bytes(word)


class Tmpfs:
    name = "tmpfs"
    also_called = ("memory", "ram", "ramdisk", "ramfs", "shm")
    option_specs: tuple[OptionSpec, ...] = (
        OptionSpec(
            name="size",
            default="",
            levels=(),
            help="In bytes, with a unit (2G), or as a share of the memory (50%); only for users "
            "who may mount. Empty: half the memory.",
            refuse=_refuse_no_size,
            spelling=_spelled,
        ),
    )

    def check(self, choice: StorageChoice) -> None:
        size = values(self, choice)["size"]
        if choice.directory is not None:
            raise ArgumentError(
                f"storage {choice.name!r}: a tmpfs chooses its own directory, found "
                f"{choice.directory!r}",
                hint="for a directory on an existing tmpfs, use the kind `here`",
            )
        if size and not may_mount():
            raise NotOnThisMachine(
                f"storage {choice.name!r}: only a user who may mount file systems can choose the "
                "size of a tmpfs",
                hint=f"leave it out to use {SHARED_MEMORY}",
            )
        needed, room = self.size_bytes(choice), self.free_space(choice)
        if needed is not None and needed > room.free_bytes:
            raise NotOnThisMachine(
                f"storage {choice.name!r}: it may take {binary(needed)}, and {room.place} has "
                f"{binary(room.free_bytes)} free",
                hint="choose a smaller size",
            )
        if may_mount():
            need_mount_programs(f"storage {choice.name!r}")

    def size_bytes(self, choice: StorageChoice) -> int | None:
        size = values(self, choice)["size"]
        return _size_bytes(size) if size else None

    def free_space(self, choice: StorageChoice) -> FreeSpace:
        del choice
        return FreeSpace(_MEMORY, available_memory_bytes())

    def why_unavailable(self) -> str | None:
        return why_not(need_mount_programs, self.name) if may_mount() else None

    def unavailable_levels(self) -> Mapping[str, str]:
        return {}

    def file_system_of(self, choice: StorageChoice) -> str:
        del choice
        return "tmpfs"

    @contextlib.contextmanager
    def prepare(self, choice: StorageChoice) -> Iterator[PreparedStorage]:
        self.check(choice)
        size = self.size_bytes(choice)
        identity = ledger.new_id()
        is_own = may_mount()
        parent = Path(tempfile.gettempdir()) if is_own else SHARED_MEMORY
        directory = parent / f"assay-tmpfs-{identity}"
        with undone_at_end(identity) as entry:
            entry.add(Directory(str(directory)))
            if is_own:
                entry.add(Mount(str(directory)))
            _make(directory, size, is_own=is_own)
            yield PreparedStorage(facts_of(choice, directory))


def _make(directory: Path, size: int | None, *, is_own: bool) -> None:
    try:
        directory.mkdir(mode=0o755)
    except OSError as error:
        raise ArgumentError(f"a tmpfs needs a directory: {error}") from error
    if is_own:
        options = f"mode=0755,size={size}" if size else "mode=0755"
        command = [MOUNT.path, "-t", "tmpfs", "-o", options, "assay", str(directory)]
        try:
            mounted = subprocess.run(command, capture_output=True, text=True, check=False)
            failed = mounted.stderr.strip() if mounted.returncode else None
        except OSError as error:
            failed = f"the program mount cannot be run: {error.strerror}"
        if failed is not None:
            raise SystemUnderTestError(
                f"mounting a tmpfs failed: {failed}",
                hint=f"inside a container, use the kind `here` with a directory in {SHARED_MEMORY}",
            )
    found = mount_of(directory.resolve()).file_system
    if found != "tmpfs":
        raise SystemUnderTestError(f"expected a tmpfs at {directory}, found {found}")


TMPFS = Tmpfs()
