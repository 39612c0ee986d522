"""A directory that Assay makes, with everything in it."""

from __future__ import annotations

import errno
import shutil
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
