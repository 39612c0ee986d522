"""Takes the choice of a storage; returns the file system that it will have, before it is made."""

from __future__ import annotations

from assay import registry
from assay.contracts.storages.abilities import FileSystemKnown
from assay.experiment import StorageChoice


def known_file_system(choice: StorageChoice) -> str:
    """By its name in the kernel; empty: not known, or a raw disk."""
    kind = registry.storage(choice.kind)
    return kind.file_system_of(choice) if isinstance(kind, FileSystemKnown) else ""
