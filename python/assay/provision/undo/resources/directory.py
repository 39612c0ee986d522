"""A directory that Assay makes, with everything in it; one under a name that a person chose, which
goes only if it is empty; and a package for the user's cache while it is being put together."""

from __future__ import annotations

import contextlib
import errno
import fcntl
import os
import shutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from assay.provision.undo.resources.mount import is_mounted, mounted_within
from assay.provision.undo.resources.resource import NOTHING, CannotUndo, Resource, Undone, retry

_TIMEOUT_S = 5.0
_FAILED = (errno.EROFS, errno.EIO)
"""A file system whose disk fails gives errors from then on, or can only be read."""


class _FileSystemFailed(Exception):
    pass


@dataclass(frozen=True)
class Directory(Resource):
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
            retry(lambda: _remove(path), _TIMEOUT_S)
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


def _remove(path: Path) -> str | None:
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


@dataclass(frozen=True)
class UnfinishedPackage(Resource):
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
