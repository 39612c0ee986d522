"""A package for the user's cache while it is being put together: whole, it stays; else it goes."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from assay.provision.undo.resources.directory import Directory
from assay.provision.undo.resources.resource import Resource, Undone


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
