"""A segment of shared memory, of System V or of POSIX, which outlives the processes that use it."""

from __future__ import annotations

import subprocess
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Self

from assay.errors import SHARED_MEMORY
from assay.provision.machine import process_table
from assay.provision.machine.program import Program
from assay.provision.undo.resources.resource import NOTHING, CannotUndo, Resource, Undone, retry

_SEGMENTS = Path("/proc/sysvipc/shm")
_TIMEOUT_S = 5.0


IPCRM = Program("ipcrm", "util-linux")


@dataclass(frozen=True)
class SharedMemory(Resource):
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


@dataclass(frozen=True)
class PosixSharedMemory(Resource):
    """A segment that a server of ours maps, identified by its inode: the server chose its name.

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
