"""What a storage must be able to do: be made, tell what it is, be taken away."""

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
        """Raises `ArgumentError` for a directory or an option that this kind never takes. Makes
        nothing."""
        ...

    def prepare(self, choice: StorageChoice) -> AbstractContextManager[StorageFacts]:
        """Makes the storage; ``StorageFacts.directory`` exists and the servers' user can enter it.

        At the end whatever was made is taken away, and a directory that was there before is left;
        what a kill must not leave either is noted before it is made (`undone_at_end` of
        `assay.provision.clean_up`).
        Raises `ArgumentError` for a directory or an option that cannot be used.
        """
        ...
