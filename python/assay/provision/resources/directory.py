"""A directory of ours, with everything in it."""

from __future__ import annotations

import shutil
from dataclasses import dataclass
from pathlib import Path

from assay.provision.resources.mount import mounted_within
from assay.provision.resources.resource import NOTHING, CannotUndo, Resource, Undone, retry

_PATIENCE_S = 5.0


@dataclass(frozen=True)
class Directory(Resource):
    """Its name ends in the mark; that is how we know that it is the one we made."""

    kind = "directory"
    path: str

    def undo(self, identity: str) -> Undone:
        path = Path(self.path)
        if not path.name.endswith(identity) or path.is_symlink():
            raise CannotUndo("it is not a directory that Assay made")
        if not path.exists():
            return NOTHING
        if mounted := mounted_within(path):
            raise CannotUndo(f"a file system is mounted at {mounted[0]}")
        retry(lambda: _remove(path), _PATIENCE_S)
        return Undone(self.path)

    def __str__(self) -> str:
        return self.path


def _remove(path: Path) -> str | None:
    try:
        shutil.rmtree(path)
    except FileNotFoundError:
        # Of a file within: another has removed it between our looking and our removing.
        return f"{path} is being changed" if path.exists() else None
    except OSError as error:
        return str(error)
    return None
