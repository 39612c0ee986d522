"""The kinds of resources that Assay creates outside its own process and must remove: each can be
recorded, read back and removed. Those of block devices are in `block_device`; a new kind is a class
and a line in `ledger.KINDS`."""

from __future__ import annotations

import contextlib
import errno
import fcntl
import os
import shutil
import subprocess
import time
from abc import abstractmethod
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, ClassVar, Self

from msgspec import Struct, to_builtins

from assay.errors import SHARED_MEMORY
from assay.provision.machine import process_table
from assay.provision.machine.mounts import MOUNT_TABLE, every_mount
from assay.provision.machine.process_table import ProcessIdentity
from assay.provision.machine.program import Program


class CannotUndo(Exception):
    """The reason why a resource could not be removed."""


class Undone(Struct, frozen=True):
    """The result of removing one resource."""

    removed: str = ""
    """What was removed, as shown to the user; empty: it did not exist."""
    processes: int = 0
    """How many were ended."""


NOTHING = Undone()


class Resource(Struct, frozen=True):
    """A resource, recorded before it is created. The ledger keeps its fields."""

    kind: ClassVar[str]

    @abstractmethod
    def undo(self, identity: str) -> Undone:
        """Removes it if it exists and carries the mark ``identity``; a missing resource is not an
        error. Bounded in time. Raises `CannotUndo`."""

    def document(self) -> object:
        """Its fields as JSON has them, with its ``kind``."""
        return {"kind": self.kind, **to_builtins(self)}

    @classmethod
    def of_document(cls, document: Any) -> Self:
        """What `document` gave, from a file. Raises `TypeError` where the fields are others."""
        return cls(**{name: value for name, value in document.items() if name != "kind"})

    @abstractmethod
    def __str__(self) -> str:
        """As it is named in a message."""


def retry(attempt: Callable[[], str | None], timeout_s: float) -> None:
    """Retries until ``attempt`` returns None; raises `CannotUndo` with its last reason after
    ``timeout_s``.

    Processes that are just being killed may still write, or keep a file system busy, for some
    100 ms.
    """
    deadline_s = time.monotonic() + timeout_s
    while (reason := attempt()) is not None:
        if time.monotonic() > deadline_s:
            raise CannotUndo(reason)
        time.sleep(0.05)


_IN_USE_TIMEOUT_S = 10.0
"""Of a file system or a control group, whose processes are just being killed."""


MOUNT = Program("mount", "mount")
UMOUNT = Program("umount", "mount")


class Mount(Resource, frozen=True):
    """The name of its mount point, a directory that goes with it, ends in the mark."""

    kind = "mount"
    path: str

    def undo(self, identity: str) -> Undone:
        path = Path(self.path)
        if not path.name.endswith(identity):
            raise CannotUndo("it is not a mount that Assay made")
        was_mounted = is_mounted(path)
        if was_mounted:
            retry(lambda: _unmount(path), _IN_USE_TIMEOUT_S)
        # A process in a mount namespace of its own may hold a copy of the mount, and with it the
        # device; without a mount point the kernel takes it away there, too.
        with contextlib.suppress(OSError):
            path.rmdir()
        return Undone(self.path) if was_mounted else NOTHING

    def __str__(self) -> str:
        return self.path


def is_mounted(path: Path) -> bool:
    """Whether the path is a mount point. The kernel's list is asked: a FUSE mount whose process has
    ended cannot be looked at."""
    return path.parent.resolve() / path.name in _mount_points()


def mounted_within(path: Path) -> list[Path]:
    """The mount points at the path and below it."""
    resolved = path.resolve()
    return [point for point in _mount_points() if point.is_relative_to(resolved)]


def _mount_points() -> list[Path]:
    table = MOUNT_TABLE.read_text(encoding="utf-8", errors="replace")
    return [one.point for one in every_mount(table)]


def _unmount(path: Path) -> str | None:
    if not is_mounted(path):
        return None
    try:
        done = subprocess.run(
            [UMOUNT.path, str(path)], capture_output=True, text=True, check=False, cwd="/"
        )
    except OSError as error:
        return f"umount cannot be run: {error.strerror}"
    if done.returncode != 0:
        return done.stderr.strip() or f"umount ended with status {done.returncode}"
    return None


_TIMEOUT_S = 5.0
_FAILED = (errno.EROFS, errno.EIO)
"""A file system whose disk fails gives errors from then on, or can only be read."""


class _FileSystemFailed(Exception):
    pass


class Directory(Resource, frozen=True):
    """Its name ends in the mark; that is how we know that it is the one we made."""

    kind = "directory"
    path: str
    on_mount: str = ""
    """Where the file system is mounted that Assay made for it: if that has failed, the directory is
    gone with it."""

    def undo(self, identity: str) -> Undone:
        path = Path(self.path)
        if not path.name.endswith(identity) or path.is_symlink():
            raise CannotUndo("it is not a directory that Assay made")
        try:
            if not _exists(path):
                return NOTHING
            if mounted := mounted_within(path):
                raise CannotUndo(f"a file system is mounted at {mounted[0]}")
            retry(lambda: _remove_directory(path), _TIMEOUT_S)
        except _FileSystemFailed as failed:
            if self.on_mount and is_mounted(Path(self.on_mount)):
                return NOTHING
            raise CannotUndo(str(failed)) from None
        return Undone(self.path)

    def __str__(self) -> str:
        return self.path


def _exists(path: Path) -> bool:
    try:
        return path.exists()
    except OSError as error:
        raise _FileSystemFailed(str(error)) from error


def _remove_directory(path: Path) -> str | None:
    try:
        shutil.rmtree(path)
    except FileNotFoundError:
        # Of a file within: another has removed it between our looking and our removing.
        return f"{path} is being changed" if path.exists() else None
    except OSError as error:
        if error.errno in _FAILED:
            raise _FileSystemFailed(str(error)) from error
        return str(error)
    return None


class EmptyDirectory(Resource, frozen=True):
    """What lies in it is of others, or has an entry of its own; then it stays."""

    kind = "empty directory"
    path: str

    def undo(self, identity: str) -> Undone:  # noqa: ARG002  (it has no mark)
        # Also where another process holds it: the last one removes it.
        with (
            contextlib.suppress(OSError),
            _locked(self.path, fcntl.LOCK_EX | fcntl.LOCK_NB, os.O_NOFOLLOW),
        ):
            Path(self.path).rmdir()
            return Undone(self.path)
        return NOTHING

    @contextlib.contextmanager
    def held(self, make: Callable[[], None]) -> Iterator[None]:
        """Makes the directory by ``make`` where it is missing; in the block no process removes it.
        Raises as ``make`` does."""
        with contextlib.ExitStack() as stack:
            while True:
                make()
                try:
                    lock = stack.enter_context(_locked(self.path, fcntl.LOCK_SH))
                    if os.path.samestat(os.fstat(lock), Path(self.path).stat()):
                        break
                except FileNotFoundError:  # another process has just removed it
                    pass
                except OSError:  # not to be locked here, as where it is another user's
                    break
                stack.close()
            yield

    def __str__(self) -> str:
        return self.path


@contextlib.contextmanager
def _locked(path: str, how: int, flags: int = 0) -> Iterator[int]:
    lock = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC | flags)
    try:
        fcntl.flock(lock, how)
        yield lock
    finally:
        os.close(lock)


class UnfinishedPackage(Resource, frozen=True):
    """A folder whose name ends in the mark. What is whole is moved out of it, or takes a name
    without the mark; from then on it is the user's."""

    kind = "package"
    path: str

    @classmethod
    def within(cls, folder: Path, identity: str) -> UnfinishedPackage:
        """For what will stand in ``folder``: on the same file system, so that it can be renamed."""
        return cls(str(folder / f".incomplete-{identity}"))

    def undo(self, identity: str) -> Undone:
        return Directory(self.path).undo(identity)

    def __str__(self) -> str:
        return self.path


class TaggedProcesses(Resource, frozen=True):
    """Noted before the first one is started: the tag is known then, a process number is not."""

    kind = "process"
    leader: ProcessIdentity | None = None
    """A server's first process, once it runs: one that has overwritten its environment is found by
    its number and start time."""

    def undo(self, identity: str) -> Undone:
        killed = process_table.kill_tagged(identity, self.leader)
        # Where it found none, all processes have just been looked at.
        if killed and (left := process_table.tagged_processes(identity, self.leader)):
            raise CannotUndo(f"{', '.join(str(process.pid) for process in left)} cannot be killed")
        return Undone(processes=killed)

    @classmethod
    def of_document(cls, document: Any) -> Self:
        leader = document["leader"]
        return cls(None if leader is None else ProcessIdentity(**leader))

    def __str__(self) -> str:
        return "processes" if self.leader is None else f"process {self.leader.pid}"


_MEMBERS = "cgroup.procs"


class ControlGroup(Resource, frozen=True):
    """Its name ends in the mark. Its processes are servers started here, which are ended as such:
    they are noted after the group, and so are undone before it."""

    kind = "control group"
    path: str

    def undo(self, identity: str) -> Undone:
        path = Path(self.path)
        if not path.name.endswith(identity) or path.is_symlink():
            raise CannotUndo("it is not a control group that Assay made")
        if not path.exists():
            return NOTHING
        if not (path / _MEMBERS).exists():
            raise CannotUndo("it is not a control group")
        retry(lambda: _remove_group(path), _IN_USE_TIMEOUT_S)
        return Undone(self.path)

    def __str__(self) -> str:
        return self.path


def _remove_group(path: Path) -> str | None:
    """Groups within it first. Only the kernel can remove the files of a group, with the group."""
    try:
        groups = sorted(path.rglob("*/"), reverse=True)
        for group in (*[path_within for path_within in groups if path_within.is_dir()], path):
            group.rmdir()
    except FileNotFoundError:
        return None if not path.exists() else "it is being changed"
    except OSError as error:
        held = _members(path)
        return f"it still holds process {held[0]}" if held else str(error)
    return None


def _members(path: Path) -> list[str]:
    try:
        return (path / _MEMBERS).read_text().split()
    except OSError:
        return []


_SEGMENTS = Path("/proc/sysvipc/shm")


IPCRM = Program("ipcrm", "util-linux")


class SharedMemory(Resource, frozen=True):
    """A segment has no name that could end in a mark. Ours is the one of the key that a process of
    our user made after the key was noted, and this process is one of Assay's or has ended."""

    kind = "shared memory"
    key: int
    uid: int
    noted_unix_s: int

    @classmethod
    def of_key(cls, key: int, uid: int) -> Self:
        """The segment that a process of this user is about to make."""
        return cls(key, uid, int(time.time()))

    def undo(self, identity: str) -> Undone:
        found = _segment(self.key)
        if found is None:
            return NOTHING
        if found["cuid"] != self.uid or found["ctime"] < self.noted_unix_s:
            raise CannotUndo("it is of another user, or was there before")
        maker = found["cpid"]
        ours = {process.pid for process in process_table.tagged_processes(identity)}
        if maker not in ours and Path(f"/proc/{maker}").exists():
            raise CannotUndo(f"process {maker}, which is not of this run, has made it")
        retry(self._remove, _TIMEOUT_S)
        return Undone(str(self))

    def _remove(self) -> str | None:
        """Removes its key at once; the kernel frees the memory when the last process detaches."""
        done = subprocess.run(
            [IPCRM.path, "--shmem-key", hex(self.key)], capture_output=True, text=True, check=False
        )
        return None if _segment(self.key) is None else done.stderr.strip() or "it is still there"

    def __str__(self) -> str:
        return f"shared memory 0x{self.key:08x}"


def _segment(key: int) -> dict[str, int] | None:
    """The kernel's facts about the segment of this key."""
    try:
        names, *rows = [line.split() for line in _SEGMENTS.read_text().splitlines()]
    except (OSError, ValueError):
        return None
    for row in rows:
        facts = dict(zip(names, map(int, row), strict=True))
        # The kernel shows a key as a signed number; that of a removed segment is 0.
        if facts["key"] & 0xFFFFFFFF == key:
            return facts
    return None


_DELETED = " (deleted)"


class PosixSharedMemory(Resource, frozen=True):
    """A segment that a private server maps, identified by its inode: the server chose its name.

    A server makes further segments while it works (``PROGRAM.NUMBER``) and keeps their numbers, as
    words of 4 bytes, in the first one: they are removed with it.
    """

    kind = "POSIX shared memory"
    path: str
    inode: int

    @classmethod
    def mapped_by(cls, pid: int) -> list[Self]:
        """Those that a process maps now; none where /proc cannot be read."""
        try:
            lines = Path(f"/proc/{pid}/maps").read_text(errors="replace").splitlines()
        except OSError:
            return []
        found = {}
        for line in lines:
            _, _, _, _, inode, *path = line.split(maxsplit=5)
            if path and path[0].startswith(f"{SHARED_MEMORY}/") and _DELETED not in path[0]:
                found[path[0]] = int(inode)
        return [cls(path, inode) for path, inode in found.items()]

    def undo(self, identity: str) -> Undone:  # noqa: ARG002  (the inode identifies it)
        path = Path(self.path)
        if path.parent != SHARED_MEMORY:
            raise CannotUndo("it is not in /dev/shm, so no segment that Assay made")
        try:
            facts = path.lstat()
            if facts.st_ino != self.inode:
                return NOTHING
            numbers = set(memoryview(_whole_words(path.read_bytes())).cast("I"))
            for other in path.parent.glob(f"{path.stem}.*"):
                number = other.suffix[1:]
                if number.isdecimal() and int(number) in numbers and other.owner() == path.owner():
                    other.unlink(missing_ok=True)
            path.unlink(missing_ok=True)
        except FileNotFoundError:
            return NOTHING
        except (OSError, KeyError) as error:
            raise CannotUndo(str(error)) from error
        return Undone(str(self))

    def __str__(self) -> str:
        return f"shared memory {self.path}"


def _whole_words(content: bytes) -> bytes:
    return content[: len(content) // 4 * 4]
