"""A directory under a name that a person chose: it has no mark, and goes only if it is empty and no
process uses it."""

from __future__ import annotations

import contextlib
import fcntl
import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from assay.provision.undo.resources.resource import NOTHING, Resource, Undone


@dataclass(frozen=True)
class EmptyDirectory(Resource):
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
