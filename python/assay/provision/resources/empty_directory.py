"""A directory under a name that a person chose: it has no mark, and goes only if it is empty."""

from __future__ import annotations

import contextlib
from dataclasses import dataclass
from pathlib import Path

from assay.provision.resources.resource import NOTHING, Resource, Undone


@dataclass(frozen=True)
class EmptyDirectory(Resource):
    """What lies in it is of others, or has an entry of its own; then it stays."""

    kind = "empty directory"
    path: str

    def undo(self, identity: str) -> Undone:  # noqa: ARG002  (it has no mark)
        path = Path(self.path)
        with contextlib.suppress(OSError):
            if not path.is_symlink():
                path.rmdir()
                return Undone(self.path)
        return NOTHING

    def __str__(self) -> str:
        return self.path
