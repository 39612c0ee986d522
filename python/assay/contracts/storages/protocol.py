"""The contract of a storage: it is created, described and removed."""

from __future__ import annotations

from contextlib import AbstractContextManager
from typing import Any, Protocol

from msgspec import Struct

from assay.contracts.experiment import StorageChoice
from assay.contracts.option_spec import OptionSpec
from assay.contracts.storage_facts import StorageFacts


class PreparedStorage(Struct, frozen=True):
    """A storage that was created; it exists until the end of the block that yielded it."""

    facts: StorageFacts
    """What was made, as found."""
    handle: Any = None
    """What the kind needs to find it again, for its abilities (see
    `assay.contracts.storages.abilities`); only the kind itself reads it."""


class Storage(Protocol):
    """A kind of storage under test, found by the entry-point group ``assay.storages``. Optional
    abilities are in `assay.contracts.storages.abilities`."""

    name: str
    """As in ``--storage``."""
    option_specs: tuple[OptionSpec, ...]
    """Its options: ``--storage 'mykind[size=2G]'``."""

    def check(self, choice: StorageChoice) -> None:
        """Raises `ArgumentError` for a directory or an option that this kind never accepts,
        `NotOnThisMachine` where the directory or device is not there or has no room, and
        `StorageUnavailable` where this machine can have no such storage (no root, a missing
        program). Creates nothing and changes nothing."""
        ...

    def prepare(self, choice: StorageChoice) -> AbstractContextManager[PreparedStorage]:
        """Creates the storage; ``facts.directory`` exists and the servers' user can access it.

        At the end everything that was created is removed, and a directory that existed before is
        kept. What must be removed even after a kill is recorded before it is created
        (`undone_at_end` of `assay.provision.undo.clean_up`). Raises as `check` does.
        """
        ...
