"""Makes the directories a private server may write in; removes them, also after errors and signals.

The data directory lies on the storage under test. Socket, pid file and log lie elsewhere, under a
short path: socket paths end at 107 bytes, and a log must neither fill a small storage nor add its
writes to the measured ones.
"""

from __future__ import annotations

import contextlib
import os
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from assay.contracts.factors import ServerMachine
from assay.contracts.storage_facts import StorageFacts
from assay.contracts.systems.protocol import ServerDirectory
from assay.errors import ArgumentError, AssayError, MachineLimit, SystemUnderTestError
from assay.provision import confinement
from assay.provision import limits as server_group
from assay.provision.limits import ENABLED, parent_groups
from assay.provision.machine.ports import server_address
from assay.provision.machine.users import ServerUser, first_unreachable, server_user
from assay.provision.undo import ledger
from assay.provision.undo.ledger import HeldEntry, undone_at_end
from assay.provision.undo.resources import ControlGroup, Directory, TaggedProcesses
from assay.text import pattern
from assay.text.paths import shown_if_not_utf8
from assay.text.phrases import phrase

if TYPE_CHECKING:
    from assay.contracts.storages.protocol import GroupLimit


WHOLE_MACHINE = ServerMachine()
_PLAIN = pattern(r"[A-Za-z0-9_./-]+")
_LONGEST_RUN_PATH = 70  # leaves 37 bytes for the name of a socket


@contextlib.contextmanager
def server_directory(
    storage: StorageFacts,
    machine: ServerMachine = WHOLE_MACHINE,
    *,
    log_storage: StorageFacts | None = None,
    raw_device: Path | None = None,
    group_limits: tuple[GroupLimit, ...] = (),
) -> Iterator[ServerDirectory]:
    """A `ServerDirectory` on the storage, owned by the servers' user, with control groups that
    have the limits of the storages (``group_limits``) and those of ``machine``. ``log_storage``:
    where its log has a folder of its own.

    At the end every process that still carries the directory's tag is killed and everything below
    is removed. Raises `SystemUnderTestError` if the directory cannot be made, reached or removed.
    """
    on_storages = [storage, *([log_storage] if log_storage else [])]
    for one in on_storages:
        _refuse_other_encodings(one.directory)
    user = server_user()
    identity = ledger.new_id()
    root = Path(storage.directory).resolve() / f"assay-{identity}"
    log = Path(log_storage.directory).resolve() / f"assay-log-{identity}" if log_storage else None
    run = _short_directory() / f"assay-run-{identity}"
    with undone_at_end(identity) as entry:
        for path in (root, run, *([log] if log else [])):
            mounted = "" if path == run else str(ledger.mount_of(path.parent) or "")
            entry.add(Directory(str(path), mounted))
            _make(path, user)
        limits = (*group_limits, *server_group.limits_of_server(machine))
        groups = make_control_groups(entry, limits)
        entry.add(TaggedProcesses())  # behind the groups: undone before them
        directory = ServerDirectory(
            root=root,
            data=root / "data",
            run=run,
            storage=storage,
            log=log,
            log_storage=log_storage,
            raw_device=raw_device,
            address=server_address(),
            control_groups=groups,
            is_confined=confinement.is_begun(),
        )
        directory.plain_root.symlink_to(root)
        with confinement.allowed(root, run, *([log] if log else [])):
            yield directory


def own_folder(directory: ServerDirectory, folder: Path) -> Path:
    """The folder, made where it is missing, and the servers' user's with what is in it."""
    folder.mkdir(mode=0o700, exist_ok=True)
    owner = directory.root.stat()
    for one in (folder, *folder.rglob("*")):
        found = one.lstat()
        if (found.st_uid, found.st_gid) != (owner.st_uid, owner.st_gid):
            os.chown(one, owner.st_uid, owner.st_gid, follow_symlinks=False)
    return folder


def identity_of(directory: ServerDirectory) -> str:
    """The id under which this directory stands in the ledger."""
    return directory.root.name.removeprefix("assay-")


def _refuse_other_encodings(directory: str) -> None:
    if shown := shown_if_not_utf8(directory):
        raise ArgumentError(
            f"the storage's directory {shown} is not in UTF-8, as the engine needs it",
            hint=phrase("choose another: {--storage here:DIRECTORY}"),
        )


def _make(path: Path, user: ServerUser) -> None:
    try:
        path.mkdir(mode=0o700)
        if not user.is_ourselves:
            os.chown(path, user.uid, user.gid)
    except OSError as error:
        raise SystemUnderTestError(
            f"a directory for the server cannot be made: {error}",
            hint="choose another directory for the storage",
        ) from error
    if blocked := first_unreachable(path, user):
        raise _unreachable(blocked, path, user)


def _unreachable(blocked: Path, path: Path, user: ServerUser) -> AssayError:
    return SystemUnderTestError(
        f"the server runs as the user {user.name!r}, who may not enter {blocked} "
        f"on the way to {path}",
        hint=f"choose another directory for the storage, or allow it: chmod o+x {blocked}",
    )


def _short_directory() -> Path:
    chosen = tempfile.gettempdir()
    is_short = len(chosen) + len("/assay-run-123456789abc") <= _LONGEST_RUN_PATH
    return Path(chosen if is_short and _PLAIN.fullmatch(chosen) else "/tmp")


# Takes the limits of a server; makes control groups that have them, which its processes enter
# before their programs begin (see `programs`).
#
# There is a group for each hierarchy of version 1, and a single one for everything in version 2.


def make_control_groups(entry: HeldEntry, limits: Sequence[GroupLimit]) -> tuple[Path, ...]:
    """The folders of the groups, whose names end in the mark of the entry, and which are removed
    with it; none where nothing is limited. Raises `MachineLimit` where they cannot be made."""
    found = parent_groups({limit.controller: None for limit in limits}.keys())
    folders = {
        controller: parent.folder / f"assay-{entry.entry.id}"
        for controller, parent in found.items()
    }
    made = tuple(dict.fromkeys(folders.values()))
    for folder in made:
        entry.add(ControlGroup(str(folder)))
    for parent in dict.fromkeys(found.values()):
        for controller in parent.enable:
            # It stays enabled: whether others came to need it since cannot be known.
            _write(parent.folder / ENABLED, f"+{controller}")
    for folder in made:
        try:
            folder.mkdir()
        except OSError as error:
            raise MachineLimit(
                f"the control group {folder} cannot be made: {error.strerror}",
                hint="control groups need root; a container must be allowed to write them",
            ) from error
    for limit in limits:
        folder = folders[limit.controller]
        for name, line in limit.lines(found[limit.controller].version):
            if name not in limit.optional_files or (folder / name).exists():
                _write(folder / name, line)
    return made


def _write(file: Path, line: str) -> None:
    try:
        file.write_text(line)
    except OSError as error:
        raise MachineLimit(
            f"{line!r} cannot be written to the control group's file {file}: {error.strerror}",
            hint="run assay as root; the kernel may also have been built without this limit",
        ) from error
