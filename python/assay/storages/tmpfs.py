"""`TMPFS`: a file system in memory, to measure a system without waits for a device.

Where it may mount, it mounts a new file system of the given size; other users, and root in a
container without that right, get a directory in /dev/shm, which every Linux mounts as tmpfs.
"""

from __future__ import annotations

import contextlib
import re
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

from assay.errors import ArgumentError, SystemUnderTestError
from assay.experiment.values import StorageChoice
from assay.option_spec import OptionSpec
from assay.provision import ledger
from assay.provision.clean_up import undone_at_end
from assay.provision.mount_right import may_mount
from assay.provision.resources import Directory, Mount
from assay.storages.mounts import facts_of, mount_of
from assay.storages.options import values
from assay.storages.protocol import PreparedStorage

SHARED_MEMORY = Path("/dev/shm")
_SIZE = re.compile(r"[1-9][0-9]*[kKmMgG%]?")


def _refuse_no_size(word: str) -> None:
    if not _SIZE.fullmatch(word):
        raise ArgumentError(f"size: expected a number with k, M, G or %, found {word!r}")


class Tmpfs:
    name = "tmpfs"
    option_specs: tuple[OptionSpec, ...] = (
        OptionSpec(
            name="size",
            default="",
            levels=(),
            help="As tmpfs(5) takes it (2G, 50%); only for users who may mount. "
            "Empty: half the memory.",
            refuse=_refuse_no_size,
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
            raise ArgumentError(
                f"storage {choice.name!r}: only a user who may mount file systems can choose the "
                "size of a tmpfs",
                hint=f"leave it out to use {SHARED_MEMORY}",
            )

    def file_system_of(self, choice: StorageChoice) -> str:
        del choice
        return "tmpfs"

    @contextlib.contextmanager
    def prepare(self, choice: StorageChoice) -> Iterator[PreparedStorage]:
        self.check(choice)
        size = values(self, choice)["size"]
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


def _make(directory: Path, size: str, *, is_own: bool) -> None:
    try:
        directory.mkdir(mode=0o755)
    except OSError as error:
        raise ArgumentError(f"a tmpfs needs a directory: {error}") from error
    if is_own:
        options = f"mode=0755,size={size}" if size else "mode=0755"
        command = ["mount", "-t", "tmpfs", "-o", options, "assay", str(directory)]
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
