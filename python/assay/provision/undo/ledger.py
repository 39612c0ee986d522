"""The ledger of resources that Assay creates and must remove, written before they exist: they are
undone at the end, after an error or a signal, and what a killed Assay left behind by the next
one."""

from __future__ import annotations

import contextlib
import datetime
import fcntl
import json
import os
import re
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from assay import env_vars
from assay.errors import ArgumentError, NotRemoved, SystemUnderTestError
from assay.provision.machine.process_table import ProcessIdentity
from assay.provision.machine.signals import after_teardown
from assay.provision.undo.block_device import DeviceNode, LoopDevice
from assay.provision.undo.resources import (
    CannotUndo,
    ControlGroup,
    Directory,
    EmptyDirectory,
    Mount,
    PosixSharedMemory,
    Resource,
    SharedMemory,
    TaggedProcesses,
    UnfinishedPackage,
)
from assay.text.units import counted

VERSION = 2

KINDS: dict[str, type[Resource]] = {
    kind.kind: kind
    for kind in (
        TaggedProcesses, Mount, LoopDevice, DeviceNode, ControlGroup, Directory, EmptyDirectory,
        UnfinishedPackage, SharedMemory, PosixSharedMemory,
    )
}  # fmt: skip
"""What an entry may have."""


class Entry(Struct, frozen=True):
    """Resources that belong to `id`, in the order of creation. Each carries the id as its mark, so
    that nothing else is removed."""

    id: str
    owner_pid: int
    made: str
    resources: tuple[Resource, ...] = ()
    is_left: bool = False
    """Its maker was not killed: it has tried to remove the resources, and could not."""

    def document(self) -> dict[str, object]:
        """As its file has it."""
        return {
            "version": VERSION,
            "id": self.id,
            "owner_pid": self.owner_pid,
            "made": self.made,
            "is_left": self.is_left,
            "resources": [resource.document() for resource in self.resources],
        }


class HeldEntry:
    """An entry of this process: on disk and locked until `remove`."""

    def __init__(self, entry: Entry) -> None:
        self.entry = entry
        self._path = state_directory() / f"{entry.id}.json"
        self._lock = -1
        with after_teardown():
            self._write()
            _held_here[entry.id] = self

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
            del _held_here[self.entry.id]

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


_held_here: dict[str, HeldEntry] = {}


def held_entries(identity: str) -> HeldEntry | None:
    """The entry of this id, if this process holds it."""
    return _held_here.get(identity)


def mount_of(directory: Path) -> Path | None:
    """The mount point above the directory, or at it, of a file system that this process has
    mounted; None: there is none."""
    held_mounts = (
        Path(resource.path)
        for held in [*_held_here.values()]
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


class Cleared(Struct):
    """The resources of a process's entries that were removed, and those that could not be."""

    entries: tuple[str, ...]
    owner_pid: int
    """Of the process that made them."""
    was_killed: bool = True
    """Else it ended by itself, and could not remove them."""
    processes: int = 0
    removed: list[str] = []
    remaining: list[str] = []
    """Each with the reason."""

    def with_other(self, other: Cleared) -> Cleared:
        """Both, of the same process."""
        return replace(
            self,
            entries=(*self.entries, *other.entries),
            processes=self.processes + other.processes,
            removed=[*self.removed, *other.removed],
            remaining=[*self.remaining, *other.remaining],
        )

    def sentence(self) -> str:
        done = []
        if self.processes:
            done.append(f"ended {counted(self.processes, 'server process', 'server processes')}")
        if self.removed:
            done.append(f"removed {', '.join(self.removed)}")
        if self.remaining:
            done.append(
                f"could not remove {', '.join(self.remaining)}, which may affect the "
                "measurements of this command; the next one tries again"
            )
        else:
            done.append("nothing is left that could affect the measurements of this command")
        how = (
            "was killed and left servers or files behind"
            if self.was_killed
            else "could not remove at its end what it had made"
        )
        return f"process {self.owner_pid} of an earlier assay command {how}: {'; '.join(done)}"


@contextlib.contextmanager
def undone_at_end(identity: str) -> Iterator[HeldEntry]:
    """An entry of the ledger; everything in it is undone at the end of the block. Add each resource
    before it is made.

    Raises `NotRemoved` if a resource cannot be removed; it then stays in the ledger.
    """
    remaining: list[str] = []
    try:
        yield new_entry(identity)
    finally:
        with after_teardown():
            if held := held_entries(identity):
                remaining = undo_entry(held.entry).remaining
                if remaining:
                    with contextlib.suppress(SystemUnderTestError):  # it stays as it was
                        held.leave()
                else:
                    held.remove()
        if remaining:
            raise NotRemoved(
                f"could not remove {', '.join(remaining)}",
                hint="the next assay command tries again",
            )


def undo_entry(entry: Entry) -> Cleared:
    """Removes the resources of an entry, the last created first. A failure does not stop the
    others: each checks what depends on it."""
    outcome = Cleared((entry.id,), entry.owner_pid, not entry.is_left)
    for resource in reversed(entry.resources):
        try:
            done = resource.undo(entry.id)
        except CannotUndo as reason:
            outcome.remaining.append(f"{resource}: {reason}")
            continue
        outcome.processes += done.processes
        if done.removed and done.removed not in outcome.removed:
            outcome.removed.append(done.removed)
    return outcome


def clear_leftovers() -> list[Cleared]:
    """Clears every entry whose maker is dead; the newest first, as servers lie on mounts. What one
    process has left is one result."""
    cleared: dict[tuple[int, bool], Cleared] = {}
    paths = sorted(
        (path for path in state_directory().iterdir() if path.suffix in (".json", ".new")),
        key=_age_key,
        reverse=True,
    )
    for path in paths:
        with _taken(path) as text:
            if text is None:
                continue
            if path.suffix == ".new":  # never became an entry: nothing was made under it
                with written_to(path.parent):
                    path.unlink(missing_ok=True)
                continue
            entry = _parse(text)
            if entry is None:
                continue
            outcome = undo_entry(entry)
            if not outcome.remaining:
                with written_to(path.parent):
                    path.unlink(missing_ok=True)
            maker = outcome.owner_pid, outcome.was_killed
            before = cleared.get(maker)
            cleared[maker] = outcome if before is None else before.with_other(outcome)
    return list(cleared.values())


def _age_key(path: Path) -> int:
    try:
        return path.stat().st_mtime_ns
    except OSError:
        return 0


@contextlib.contextmanager
def _taken(path: Path) -> Iterator[str | None]:
    """The text of an entry whose lock we could take; None where its maker lives or it is gone."""
    try:
        lock = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW)
    except OSError:
        yield None
        return
    try:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            # The maker may have put a new file there between our opening and our locking.
            is_current = os.path.samestat(os.fstat(lock), path.stat())
        except OSError:
            is_current = False
        yield os.read(lock, 1 << 20).decode(errors="replace") if is_current else None
    finally:
        os.close(lock)


def _parse(text: str) -> Entry | None:
    """The entry; None where it is damaged, or of a version or with a kind that is not known here:
    the program that wrote it knows what it means."""
    try:
        document = json.loads(text)
        # What carries the mark is known by its end: an empty or a short one would fit anything.
        if not is_id(document["id"]):
            return None
        return Entry(
            id=str(document["id"]),
            owner_pid=int(document["owner_pid"]),
            made=str(document["made"]),
            resources=_READERS[document["version"]](document),
            is_left=bool(document.get("is_left")),  # which earlier programs did not note
        )
    except (ValueError, KeyError, TypeError):
        return None


def _resources(document: Any) -> tuple[Resource, ...]:
    return tuple(
        KINDS[resource["kind"]].of_document(resource) for resource in document["resources"]
    )


def _resources_of_version_1(document: Any) -> tuple[Resource, ...]:
    """Directories, mounts and one server, which were taken away in the reverse order."""
    leader = document["leader"]
    return (
        *(Directory(str(path)) for path in reversed(document["directories"])),
        *(Mount(str(path)) for path in reversed(document["mounts"])),
        TaggedProcesses(None if leader is None else ProcessIdentity(**leader)),
    )


_READERS = {1: _resources_of_version_1, VERSION: _resources}
