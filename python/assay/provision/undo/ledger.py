"""The ledger of resources that Assay creates and must remove, written before they exist: one small
file per server or mount.

An entry is held by an exclusive lock for as long as its maker lives; the kernel drops the lock
when the maker dies, however it dies. So *a process that can take the lock knows that the maker is
dead*, with no process number to be mistaken about, from any process namespace, and two Assays
cannot clear the same entry. The file carries the numbers all the same, for people.

An entry is replaced by writing a new file, locking it, and renaming it over the old one: a reader
sees the old or the new one, whole and locked. A signal waits until that is done.

::

    {"version": 2, "id": "9f86d081884c", "owner_pid": 4711, "made": "2026-01-02T03:04:05Z",
     "resources": [{"kind": "directory", "path": "/…/assay-9f86d081884c"},
                   {"kind": "process", "leader": {"pid": 4720, "start_ticks": 88123, "boot": "…"}}]}
"""

from __future__ import annotations

import contextlib
import datetime
import fcntl
import json
import os
import re
import stat
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from assay import env_vars
from assay.contracts.recorded import Document
from assay.errors import ArgumentError, SystemUnderTestError
from assay.provision.machine.signals import after_teardown
from assay.provision.undo.resources import Mount, Resource

VERSION = 2


@dataclass(frozen=True)
class Entry:
    """Resources that belong to `id`, in the order of creation. Each carries the id as its mark, so
    that nothing else is removed."""

    id: str
    owner_pid: int
    made: str
    resources: tuple[Resource, ...] = ()
    is_left: bool = False
    """Its maker was not killed: it has tried to remove the resources, and could not."""

    def document(self) -> Document:
        """As its file has it."""
        return Document(
            version=VERSION,
            id=self.id,
            owner_pid=self.owner_pid,
            made=self.made,
            is_left=self.is_left,
            resources=[resource.document() for resource in self.resources],
        )


class HeldEntry:
    """An entry of this process: on disk and locked until `remove`."""

    def __init__(self, entry: Entry) -> None:
        self.entry = entry
        self._path = state_directory() / f"{entry.id}.json"
        self._lock = -1
        with after_teardown():
            self._write()
            _held[entry.id] = self

    def add(self, resource: Resource) -> None:
        """Records a resource before it is created."""
        self._become(replace(self.entry, resources=(*self.entry.resources, resource)))

    def drop(self, resource: Resource) -> None:
        """Removes a resource that no longer exists."""
        rest = tuple(kept for kept in self.entry.resources if kept != resource)
        self._become(replace(self.entry, resources=rest))

    def leave(self) -> None:
        """Some of its resources cannot be removed: it stays for the next command."""
        self._become(replace(self.entry, is_left=True))

    def remove(self) -> None:
        """Deletes the entry, after its resources have been removed."""
        try:
            with written_to(self._path.parent):
                self._path.unlink(missing_ok=True)
        finally:
            os.close(self._lock)
            del _held[self.entry.id]

    def _become(self, entry: Entry) -> None:
        with after_teardown():
            self.entry = entry
            self._write()

    def _write(self) -> None:
        state_directory()  # it may have been removed since
        fresh = self._path.with_suffix(".new")
        with written_to(fresh.parent), contextlib.ExitStack() as undone:
            lock = os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o600)
            undone.callback(os.close, lock)
            undone.callback(fresh.unlink, missing_ok=True)
            fcntl.flock(lock, fcntl.LOCK_EX)
            rest = json.dumps(self.entry.document()).encode()
            while rest:  # a disk that is nearly full takes a part
                rest = rest[os.write(lock, rest) :]
            os.fsync(lock)
            fresh.rename(self._path)
            undone.pop_all()
        if self._lock >= 0:
            os.close(self._lock)
        self._lock = lock


@contextlib.contextmanager
def written_to(folder: Path) -> Iterator[None]:
    """A block that writes to the state directory; raises `SystemUnderTestError` where it cannot,
    as on a disk that is full or read-only."""
    try:
        yield
    except OSError as error:
        raise SystemUnderTestError(
            f"{folder}: what Assay makes is noted there before it is made, so that it can be "
            f"removed after a crash, and the note cannot be written: {error.strerror}",
            hint="free space there, make it writable, or name another state directory in "
            f"{env_vars.STATE_DIRECTORY.name}",
        ) from error


_held: dict[str, HeldEntry] = {}


def held(identity: str) -> HeldEntry | None:
    """The entry of this id, if this process holds it."""
    return _held.get(identity)


def mount_of(directory: Path) -> Path | None:
    """The mount point above the directory, or at it, of a file system that this process has
    mounted; None: there is none."""
    held_mounts = (
        Path(resource.path)
        for held in [*_held.values()]
        for resource in held.entry.resources
        if isinstance(resource, Mount)
    )
    resolved = directory.resolve()
    above = [point for point in held_mounts if resolved.is_relative_to(point.resolve())]
    return max(above, key=lambda point: len(point.parts), default=None)


def new_entry(identity: str) -> HeldEntry:
    """A new entry; each resource is added to it before it is created."""
    made = datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds")
    return HeldEntry(Entry(id=identity, owner_pid=os.getpid(), made=made))


def new_id() -> str:
    return os.urandom(6).hex()


def is_id(text: str) -> bool:
    return re.fullmatch("[0-9a-f]{12}", text) is not None


def is_path_of_a_run(text: str) -> bool:
    """Whether it has a directory that Assay names by such an id (`assay-9f86d081884c`)."""
    return re.search(r"/assay-(?:[a-z]+-)?[0-9a-f]{12}(?![0-9a-f])", text) is not None


def state_directory() -> Path:
    """The directory of the entries, made where it is missing; no other user may write in it.

    Raises `ArgumentError` if it cannot be made or belongs to another user.
    """
    chosen = _choose_state_directory() / "made"
    try:
        chosen.mkdir(mode=0o700, parents=True, exist_ok=True)
        found = chosen.lstat()
    except OSError as error:
        raise ArgumentError(
            f"the state directory {chosen} cannot be made: {error.strerror}",
            hint=f"name another in {env_vars.STATE_DIRECTORY.name}",
        ) from error
    if found.st_uid != os.geteuid() or stat.S_IMODE(found.st_mode) & 0o022:
        raise ArgumentError(
            f"{chosen}: expected a directory of this user to which no other user may write, "
            f"found owner {found.st_uid}, mode {stat.S_IMODE(found.st_mode):04o}",
            hint=f"name another in {env_vars.STATE_DIRECTORY.name}",
        )
    return chosen


def _choose_state_directory() -> Path:
    if given := env_vars.STATE_DIRECTORY.get():
        return Path(given).absolute()
    if state_home := env_vars.XDG_STATE_HOME.get():
        return Path(state_home).absolute() / "assay"
    home = env_vars.home()
    if home is not None and os.access(home, os.W_OK):
        return home / ".local" / "state" / "assay"
    return Path(f"/var/tmp/assay-{os.geteuid()}")
