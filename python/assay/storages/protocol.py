"""What a storage must be able to do: be made, tell what it is, be taken away."""

from __future__ import annotations

from contextlib import AbstractContextManager
from typing import Protocol

from assay.experiment.values import StorageChoice
from assay.provision.deployment import StorageFacts


class Storage(Protocol):
    """A kind of storage under test. Built-in and foreign ones go through the same door."""

    name: str

    def check(self, choice: StorageChoice) -> None:
        """Raises `ArgumentError` for a directory or an option that this kind never takes. Makes
        nothing."""
        ...

    def prepare(self, choice: StorageChoice) -> AbstractContextManager[StorageFacts]:
        """Makes the storage; ``StorageFacts.directory`` exists and the servers' user can enter it.

        At the end whatever was made is taken away, and a directory that was there before is left.
        Raises `ArgumentError` for a directory or an option that cannot be used.
        """
        ...
