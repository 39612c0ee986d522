"""A segment of POSIX shared memory: a file in /dev/shm, which outlives the processes using it."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Self

from assay.errors import SHARED_MEMORY
from assay.provision.undo.resources.resource import NOTHING, CannotUndo, Resource, Undone

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
