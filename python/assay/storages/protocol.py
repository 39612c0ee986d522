"""The contract of a storage: it is created, described and removed."""

from __future__ import annotations

from contextlib import AbstractContextManager
from typing import Protocol

from assay.experiment.values import StorageChoice
from assay.provision.deployment import StorageFacts


class Storage(Protocol):
    """A kind of storage under test, found by the entry-point group ``assay.storages``."""

    name: str
    """As in ``--storage``."""

    def check(self, choice: StorageChoice) -> None:
        """Raises `ArgumentError` for a directory or an option that this kind never accepts. Creates
        nothing."""
        ...

    def prepare(self, choice: StorageChoice) -> AbstractContextManager[StorageFacts]:
        """Creates the storage; ``StorageFacts.directory`` exists and the servers' user can access
        it.

        At the end everything that was created is removed, and a directory that existed before is
        kept. What must be removed even after a kill is recorded before it is created
        (`undone_at_end` of `assay.provision.clean_up`). Raises `ArgumentError` for a directory or
        an option that cannot be used.
        """
        ...
